"""Chinese: numbers, money, dates, times and units as they are said."""

from __future__ import annotations

import re

from ttsapp.speech.text.rules import Rule, rule

_DIGITS = "零一二三四五六七八九"
_PLACES = ("", "十", "百", "千")
_SCALES = ("", "万", "亿", "万亿")
_UNITS = {
    "km": "公里",
    "m": "米",
    "cm": "厘米",
    "mm": "毫米",
    "kg": "公斤",
    "g": "克",
    "mg": "毫克",
    "l": "升",
    "L": "升",
    "ml": "毫升",
    "km/h": "公里每小时",
    "m²": "平方米",
    "km²": "平方公里",
    "°C": "摄氏度",
    "℃": "摄氏度",
    "h": "小时",
    "min": "分钟",
    "s": "秒",
    "GB": "吉字节",
    "MB": "兆字节",
}
_MONEY = {"¥": "元", "￥": "元", "$": "美元", "€": "欧元", "£": "英镑", "元": "元", "美元": "美元"}
_WEB = {".": "点", "@": "艾特", "/": "斜杠", "-": "杠", "_": "下划线", ":": "冒号"}


def number(value: int) -> str:
    """15: 十五; 10,005: 一万零五; 2,000: 两千."""
    if value == 0:
        return _DIGITS[0]
    said, has_gap = "", False
    for scale in reversed(range(len(_SCALES))):
        group = value // 10 ** (4 * scale) % 10_000
        if group == 0:
            has_gap = has_gap or bool(said)
            continue
        if said and (has_gap or group < 1000):
            said += _DIGITS[0]
        said, has_gap = said + _group(group, bool(_SCALES[scale])) + _SCALES[scale], False
    return said[1:] if said.startswith("一十") else said


def _group(value: int, is_scaled: bool) -> str:
    if value == 2 and is_scaled:
        return "两"
    said, has_gap = "", False
    for place in reversed(range(4)):
        digit = value // 10**place % 10
        if digit == 0:
            has_gap = bool(said)
            continue
        word = "两" if digit == 2 and place == 3 else _DIGITS[digit]
        said += ("零" if has_gap else "") + word + _PLACES[place]
        has_gap = False
    return said


def digits(text: str) -> str:
    """One by one, as in years; whatever is no digit, left out."""
    return "".join(_DIGITS[int(char)] for char in text if char.isdigit())


def written(text: str) -> str:
    sign, text = ("负", text[1:]) if text[:1] == "-" else ("", text)
    whole, _, decimals = text.replace(",", "").partition(".")
    words = number(int(whole or "0"))
    return f"{sign}{words}点{digits(decimals)}" if decimals else sign + words


def _date(match: re.Match[str]) -> str | None:
    month, day = int(match["m"]), int(match["d"])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return f"{digits(match['y'])}年{number(month)}月{number(day)}日"


def _time(match: re.Match[str]) -> str:
    hour, minute = int(match["h"]), int(match["min"])
    said = ("两" if hour == 2 else number(hour)) + "点"
    if minute == 0:
        return said
    return f"{said}{'零' if minute < 10 else ''}{number(minute)}分"


def _number(match: re.Match[str]) -> str:
    text = match[0]
    is_code = text.isdigit() and (len(text) > 8 or (text[0] == "0" and text != "0"))
    return digits(text) if is_code else written(text)


def _counted(match: re.Match[str]) -> str:
    value = match["v"]
    said = "两" if value == "2" else written(value)
    return said + _UNITS[match["u"]]


def _spelt(match: re.Match[str]) -> str:
    found = re.findall(r"[A-Za-z]+|\d|[^\w\s]|_", re.sub(r"^https?://", "", match[0]).rstrip("/"))
    return " ".join(digits(word) if word.isdigit() else _WEB.get(word, word) for word in found)


_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_EACH = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_SIGNS = "|".join(re.escape(sign) for sign in sorted(_MONEY, key=len, reverse=True))
_START = r"(?<![A-Za-z\d.,])"

RULES: list[Rule] = [
    rule("e-mail", r"[\w.+-]+@(?:[\w-]+\.)+[A-Za-z]{2,}", _spelt),
    rule("web address", r"(?:https?://|www\.)[A-Za-z0-9./_-]*[A-Za-z0-9/]", _spelt),
    rule("date", r"(?<!\d)(?P<y>\d{4})[-/.年](?P<m>\d{1,2})[-/.月](?P<d>\d{1,2})日?(?!\d)", _date),
    rule("year", r"(?<!\d)(?P<y>\d{4})(?=年)", lambda m: digits(m["y"])),
    rule("time", r"(?<![\d:])(?P<h>[01]?\d|2[0-4]):(?P<min>[0-5]\d)(?![\d:])", _time),
    rule("telephone", r"(?<!\d)1[3-9]\d[- ]?\d{4}[- ]?\d{4}(?!\d)", lambda m: digits(m[0])),
    rule("telephone", r"(?<!\d)0\d{2,3}-\d{7,8}(?!\d)", lambda m: digits(m[0])),
    rule(
        "money",
        rf"(?P<s>{_SIGNS})\s?(?P<v>{_NUMBER})(?P<k>[万亿]?)",
        lambda m: written(m["v"]) + m["k"] + _MONEY[m["s"]],
    ),
    rule("percent", rf"(?P<v>-?{_NUMBER})%", lambda m: f"百分之{written(m['v'])}"),
    rule("unit", rf"{_START}(?P<v>-?{_NUMBER})\s?(?P<u>{_EACH})(?![A-Za-z])", _counted),
    rule(
        "fraction",
        r"(?<![\d/])(?P<a>\d{1,3})/(?P<b>\d{1,3})(?![\d/])",
        lambda m: f"{number(int(m['b']))}分之{number(int(m['a']))}",
    ),
    rule(
        "range",
        rf"{_START}(?P<a>{_NUMBER})\s?[-–~]\s?(?P<b>{_NUMBER})(?![\d-])",
        lambda m: f"{written(m['a'])}到{written(m['b'])}",
    ),
    rule(
        "number",
        rf"{_START}2(?=[个只条张本次位名家件台辆种天周年])",
        lambda m: "两",
    ),
    rule("number", rf"{_START}-?{_NUMBER}(?![A-Za-z\d])", _number),
]

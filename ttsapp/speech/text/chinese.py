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
    "m2": "平方米",
    "m³": "立方米",
    "m3": "立方米",
    "km/s": "公里每秒",
    "m/s": "米每秒",
    "W": "瓦",
    "kW": "千瓦",
    "kWh": "千瓦时",
    "V": "伏",
    "mAh": "毫安时",
    "Hz": "赫兹",
    "MHz": "兆赫",
    "GHz": "吉赫",
    "dB": "分贝",
    "TB": "太字节",
    "KB": "千字节",
    "ms": "毫秒",
    "t": "吨",
    "°C": "摄氏度",
    "℃": "摄氏度",
    "h": "小时",
    "min": "分钟",
    "s": "秒",
    "GB": "吉字节",
    "MB": "兆字节",
}
_MONEY = {"¥": "元", "￥": "元", "$": "美元", "€": "欧元", "£": "英镑"}
_RECKONED = {
    "+": "加",
    "-": "减",
    "−": "减",
    "×": "乘",
    "*": "乘",
    "x": "乘",
    "÷": "除以",
    "/": "除以",
}
_RECKONED |= {"=": "等于"}
# Behind one of these 2 is 两; it counts.
_COUNTED = (
    "个|只|条|张|本|位|名|家|件|台|辆|种|天|周(?!年)|周年|年(?!级|代|\\d)|人|元|块|毛|小时|点|倍|斤|公斤|公里|米"
    "|分钟|秒|千|万|亿|份|封|双|对|层|篇|首|句|项|部|片|杯|瓶|碗|口|道|座|栋|套|架|艘|头|匹|群|把|根|支|盒"
    "|箱|包|袋|幅|颗|粒|枚|步|岁|次|场|门|顿|碟|节|晚|星期|季|代(?!表)"
)
# What a number of digits is read one by one behind.
_CODED = (
    "邮编|编号|密码|验证码|QQ号|电话|热线|尾号|学号|卡号|工号|单号|订单号|拨打|致电|航班|车次|房号"
)
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


def _clock(match: re.Match[str]) -> str:
    hour, minute, second = (int(match[part]) for part in ("h", "min", "s"))
    return f"{'两' if hour == 2 else number(hour)}点{number(minute)}分{number(second)}秒"


def _years(match: re.Match[str]) -> str:
    return f"{digits(match['a'])}到{digits(match['b'])}"


def _sum(match: re.Match[str]) -> str:
    """3+5=8, 5-3=2: where an equals sign says that numbers are reckoned with."""
    parts = re.findall(rf"{_NUMBER}|[-+×*x÷/=−]", match[0])
    return "".join(_RECKONED.get(part) or written(part) for part in parts)


def _internet(match: re.Match[str]) -> str:
    return "点".join(digits(part) for part in match[0].split("."))


def _range(match: re.Match[str]) -> str:
    is_counted = match["b"] == "2" and re.match(_COUNTED, match.string[match.end() :])
    return f"{_end(match['a'])}到{'两' if is_counted else _end(match['b'])}"


def _end(text: str) -> str:
    return digits(text) if re.fullmatch(r"(?:1[5-9]|20)\d\d", text) else written(text)


def _number(match: re.Match[str]) -> str:
    text = match[0]
    is_long = len(text) > 8 and not text.endswith("0000")
    is_code = text.isdigit() and (is_long or (text[0] == "0" and text != "0"))
    return digits(text) if is_code else written(text)


def _counted(match: re.Match[str]) -> str:
    value = match["v"]
    said = "两" if value == "2" else written(value)
    return _from(match) + said + _UNITS[match["u"]]


def _from(match: re.Match[str], before: str = "") -> str:
    """The lower end, where a range is measured."""
    return f"{before}{written(match['a'])}到" if match["a"] else ""


def _spelt(match: re.Match[str]) -> str:
    found = re.findall(r"[A-Za-z]+|\d|[^\w\s]|_", re.sub(r"^https?://", "", match[0]).rstrip("/"))
    return " ".join(digits(word) if word.isdigit() else _WEB.get(word, word) for word in found)


_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_EACH = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_SIGNS = "|".join(re.escape(sign) for sign in sorted(_MONEY, key=len, reverse=True))
_RANGE = rf"(?:(?P<a>-?{_NUMBER})%?\s?[-–~]\s?)?"
_START = r"(?<![A-Za-z\d.,])"

RULES: list[Rule] = [
    rule(
        "e-mail",
        r"(?<![A-Za-z0-9_.+-])[A-Za-z0-9_.+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}",
        _spelt,
    ),
    rule("web address", r"(?:https?://|www\.)[A-Za-z0-9./_-]*[A-Za-z0-9/]", _spelt),
    rule("date", r"(?<!\d)(?P<y>\d{4})[-/.年](?P<m>\d{1,2})[-/.月](?P<d>\d{1,2})日?(?!\d)", _date),
    rule("year", r"(?<!\d)(?P<a>\d{4})\s?[-–~至到/]\s?(?P<b>\d{4})(?=年|赛季|学年)", _years),
    rule("year", r"(?<!\d)(?P<y>\d{4})(?=年|财年|学年|届|赛季)", lambda m: digits(m["y"])),
    rule(
        "time",
        r"(?<![\d:])(?P<h>[01]?\d|2[0-4]):(?P<min>[0-5]\d):(?P<s>[0-5]\d)(?![\d:])",
        _clock,
    ),
    rule(
        "range",
        r"(?<=:\d\d)\s?[-–~]\s?(?=(?:上午|下午|晚上|早上|中午|凌晨)?\d{1,2}:\d\d)",
        lambda m: "到",
    ),
    rule(
        "address",
        r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d)",
        _internet,
    ),
    rule("version", r"(?<![\d.])\d+(?:\.\d+){2,}(?!\.?\d)", _internet),
    rule(
        "telephone",
        r"\+(?P<c>\d{1,3})[- ]?(?P<v>\d[\d -]{6,14}\d)(?!\d)",
        lambda m: f"加{digits(m['c'])} {digits(m['v'])}",
    ),
    rule("telephone", r"(?<![\d-])[48]00-\d{3,4}-\d{3,4}(?![\d-])", lambda m: digits(m[0])),
    rule("telephone", r"(?<!\d)1[3-9]\d[- ]?\d{4}[- ]?\d{4}(?!\d)", lambda m: digits(m[0])),
    rule("telephone", r"(?<!\d)0\d{2,3}-\d{7,8}(?!\d)", lambda m: digits(m[0])),
    rule(
        "code",
        rf"(?P<n>(?:{_CODED})(?:是|为|：|:)?\s?)(?P<v>\d{{3,}})(?!\d|\.\d)",
        lambda m: m["n"] + digits(m["v"]),
    ),
    rule("code", r"(?<![\d.])\d{3}(?=室|房间|号房|航班|次列车)", lambda m: digits(m[0])),
    rule("code", r"(?<![\w.,-])\d{4}(?: \d{4}){2,}(?: \d{1,4})?(?!\w)", lambda m: digits(m[0])),
    rule("time", r"(?<![\d:])(?P<h>[01]?\d|2[0-4]):(?P<min>[0-5]\d)(?![\d:])", _time),
    rule(
        "money",
        rf"(?P<s>{_SIGNS})\s?(?P<v>{_NUMBER})(?P<k>[万亿]?)",
        lambda m: written(m["v"]) + m["k"] + _MONEY[m["s"]],
    ),
    rule(
        "percent",
        rf"{_RANGE}(?P<v>-?{_NUMBER})%",
        lambda m: f"{_from(m, '百分之')}百分之{written(m['v'])}",
    ),
    rule("sum", rf"(?<![\w.]){_NUMBER}(?:\s?[-+×*x÷−]\s?{_NUMBER})+\s?=\s?-?(?:{_NUMBER})?", _sum),
    rule("product", r"(?:(?<=\d)|(?<=\d[cm]m)|(?<=\dm)) ?[×x*] ?(?=\d)", lambda m: "乘"),
    rule(
        "ratio",
        r"(?<![\d:])(?P<a>\d{1,3})[:：](?P<b>\d{1,3})(?![\d:])",
        lambda m: f"{number(int(m['a']))}比{number(int(m['b']))}",
    ),
    rule("unit", rf"{_START}{_RANGE}(?P<v>-?{_NUMBER})\s?(?P<u>{_EACH})(?![A-Za-z])", _counted),
    rule(
        "fraction",
        r"(?<![\d/])(?P<a>\d{1,3})/(?P<b>\d{1,3})(?![\d/])",
        lambda m: f"{number(int(m['b']))}分之{number(int(m['a']))}",
    ),
    rule(
        "range",
        rf"{_START}(?P<a>{_NUMBER})\s?[-–~]\s?(?P<b>{_NUMBER})(?![\d-])",
        _range,
    ),
    rule(
        "number",
        rf"(?<!第){_START}2(?={_COUNTED})",
        lambda m: "两",
    ),
    rule("sign", r"(?<![\w.])\+(?=\d)", lambda m: "正"),
    rule("number", rf"{_START}-?{_NUMBER}(?![A-Za-z\d])", _number),
]

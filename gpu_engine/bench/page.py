"""A run as one HTML file: its table, its plots, the machine; nothing is loaded from elsewhere."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;
padding:0 1rem}
table{border-collapse:collapse}
td,th{padding:.3rem .8rem;border-bottom:1px solid #ccc;text-align:right}
img{max-width:100%}dt{font-weight:600}"""


def page(title: str, result: dict[str, Any], columns: Sequence[tuple[str, str]]) -> str:
    """`result` has `machine`, `target` and `rows`; what else it has becomes the summary."""
    rows = result["rows"]
    head = "".join(f"<th>{escape(name)}</th>" for _, name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{_shown(line[key])}</td>" for key, _ in columns) + "</tr>"
        for line in rows
    )
    facts = {key: value for key, value in result.items() if key not in ("rows", "machine")}
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(title)}</title>"
        f"<style>{STYLE}</style><h1>{escape(title)}</h1>{_list(facts)}"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f'<p><img alt="First audio and speed by rate" src="data:image/png;base64,{_plot(rows)}">'
        f"<h2>Machine</h2>{_list(result['machine'])}</html>"
    )


def _plot(rows: list[dict[str, Any]]) -> str:
    # Drawn without a screen, and only here: a machine that is measured need not have it.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    _distributions(left, rows)
    ordered = sorted(rows, key=lambda line: float(line["rate"]))
    rates = [line["rate"] for line in ordered]
    for name in ("ttfa_p50_ms", "ttfa_p95_ms", "ttfa_p99_ms"):
        right.plot(rates, [line[name] for line in ordered], "o-", label=name[5:8])
    right.set(xlabel="requests a second", ylabel="first audible sample, ms")
    right.set_ylim(bottom=0)
    right.grid(alpha=0.3)
    right.legend()
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=110)
    return base64.b64encode(file.getvalue()).decode()


def _distributions(axes: Axes, rows: list[dict[str, Any]]) -> None:
    for line in rows:
        times = sorted(line["raw_first_audible_ms"])
        shares = [(place + 1) / len(times) for place in range(len(times))]
        axes.step(times, shares, where="post", label=f"{line['rate']:g} a second")
    axes.set(xlabel="first audible sample, ms", ylabel="share of streams", ylim=(0, 1.02))
    axes.set_xlim(left=0)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")


def _list(facts: dict[str, Any]) -> str:
    items = (f"<dt>{escape(key)}<dd>{_shown(value)}" for key, value in facts.items())
    return f"<dl>{''.join(items)}</dl>"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return escape(", ".join(f"{key} {each}" for key, each in value.items()))
    return (
        "none"
        if value is None
        else escape(f"{value:g}" if isinstance(value, float) else str(value))
    )

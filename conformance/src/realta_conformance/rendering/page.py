"""Page: a report as one HTML file that needs nothing else.

A heat map of levels, ops and dtypes, a search, and each failing case with its graph, the smallest
operands known to fail, and the line that replays it.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from importlib.resources import files
from typing import Any, Final

from realta_conformance.rendering.badge import certified

__all__ = ["page"]

_COUNTS: Final = ("passed", "failed", "declared", "not-applicable", "limited")
_PLACE: Final = "realta_conformance.rendering"


def page(report: dict[str, Any]) -> str:
    """The page of a report."""
    device = escape(report["device"])
    style, script = (files(_PLACE).joinpath(n).read_text("utf-8") for n in ("page.css", "page.js"))
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{device}: conformance</title><style>{style}</style></head><body>",
        *_head(report),
        *_levels(report["levels"]),
        *_failures(report),
        *_map(report["levels"]),
        f"<script>{script}</script></body></html>\n",
    ]
    return "\n".join(parts)


def _head(report: dict[str, Any]) -> Iterator[str]:
    levels, dtypes = certified(report)
    backend, numerics = report["backend"], report["numerics"]
    origin = f"{backend['distribution'] or backend['name']} {backend['version']}".strip()
    shown = f" for {', '.join(dtypes)}" if dtypes else ""
    yield f"<h1>{escape(report['device'])}</h1>"
    yield (
        f"<p><b>Certified:</b> {escape(', '.join(levels) or 'nothing')} "
        f"@ spec {escape(report['spec'])}{escape(shown)}</p>"
    )
    text = (
        f"{origin} · realta {report['realta']} · suite {report['suite']} · numerics "
        f"{numerics['modes']}, subnormals {numerics['subnormals']} · seed {report['seed']}"
    )
    if report["sample"]:
        text += " · a sample of the cases"
    yield f'<p class="dim">{escape(text)}</p><p class="dim">{escape(backend["fingerprint"])}</p>'
    for text in report["stale"]:
        yield f'<p class="FAILS">Stale expectation: {escape(text)} does not fail any more.</p>'


def _levels(levels: list[dict[str, Any]]) -> Iterator[str]:
    yield '<h2>Levels</h2><div class="scroll"><table class="levels"><thead><tr>'
    yield "<th>level</th><th>verdict</th>"
    yield "".join(f'<th class="num">{name}</th>' for name in (*_COUNTS, "required"))
    yield "<th>promise</th></tr></thead><tbody>"
    for level in levels:
        needs = f" (needs {level['blocked_by']})" if level["blocked_by"] else ""
        numbers = [str(level["counts"].get(name, 0)) for name in _COUNTS]
        numbers.append(f"{level['required_covered']}/{level['required_total']}")
        cells = "".join(f'<td class="num">{number}</td>' for number in numbers)
        yield (
            f"<tr><td><code>{level['name']}</code></td>"
            f'<td class="verdict {level["verdict"]}">{level["verdict"]}{needs}</td>{cells}'
            f'<td class="promise">{escape(level["promise"])}</td></tr>'
        )
    yield "</tbody></table></div>"


def _failures(report: dict[str, Any]) -> Iterator[str]:
    found = [
        problem
        for level in report["levels"]
        for problem in level["not_passed"]
        if problem["outcome"] in ("failed", "declared")
    ]
    yield '<h2>Search</h2><input id="search" type="search" placeholder="op, dtype, check or case"'
    yield ' aria-label="Search ops and cases">'
    yield f"<h2>Failing cases ({len(found)})</h2>"
    if not found:
        yield '<p class="dim">None.</p>'
    for problem in found:
        yield from _failure(problem, report["device"])


def _failure(problem: dict[str, Any], device: str) -> Iterator[str]:
    text = " ".join(problem[k] for k in ("id", "op", "dtype", "check", "outcome")).lower()
    style = "FAILS" if problem["outcome"] == "failed" else "PARTIAL"
    yield (
        f'<details data-text="{escape(text)}"><summary><code>{escape(problem["id"])}</code> '
        f'<span class="{style}">{problem["outcome"]}: {problem["check"]}</span></summary>'
    )
    yield f"<p>{escape(problem['reason'])}</p>"
    if problem.get("about"):
        yield f'<p class="dim">{escape(problem["about"])}</p>'
    for key in ("graph", "operands"):
        if problem.get(key):
            yield f'<p class="dim">{key}</p><pre>{escape(problem[key])}</pre>'
    line = f"realta-conformance replay {problem['id']} --device {device}"
    yield f'<p class="dim">replay</p><pre>{escape(line)}</pre></details>'


def _map(levels: list[dict[str, Any]]) -> Iterator[str]:
    yield "<h2>Ops and dtypes</h2>"
    yield '<p class="legend map"><span style="background:var(--ok-bg)">passed: worst ulp</span>'
    yield '<span style="background:var(--part-bg)">declared or limited</span>'
    yield '<span style="background:var(--bad-bg)">failed</span>'
    yield '<span style="background:var(--none-bg)">not applicable</span></p>'
    for level in levels:
        if level["ops"]:
            yield from _level_map(level)


def _level_map(level: dict[str, Any]) -> Iterator[str]:
    dtypes = sorted({e["dtype"] for e in level["ops"]}, key=lambda d: (d == "", d))
    cells = {(e["op"], e["dtype"]): e for e in level["ops"]}
    ops = sorted({e["op"] for e in level["ops"]})
    yield f'<section class="level"><h3><code>{level["name"]}</code> '
    yield f'<span class="{level["verdict"]}">{level["verdict"]}</span></h3>'
    yield '<div class="scroll"><table class="map"><thead><tr><th></th>'
    yield "".join(f"<th>{dtype or 'any'}</th>" for dtype in dtypes) + "</tr></thead><tbody>"
    for op in ops:
        mine = [d for d in dtypes if (op, d) in cells]
        text = " ".join([level["name"], op, *mine]).lower()
        row = "".join(_cell(cells.get((op, dtype))) for dtype in dtypes)
        yield f'<tr data-text="{escape(text)}"><th><code>{escape(op)}</code></th>{row}</tr>'
    yield "</tbody></table></div></section>"


def _cell(entry: dict[str, Any] | None) -> str:
    if entry is None:
        return '<td class="empty"></td>'
    counts = entry["counts"]
    told = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    if entry["bound_use"]:
        told += f"; {entry['bound_use']:.0%} of the bound used"
    style = "ok" if counts.get("passed") else ""
    if counts.get("declared") or counts.get("limited"):
        style = "part"
    if counts.get("failed"):
        style = "bad"
    shown = f"{entry['max_ulp']:.2g}" if style and entry["max_ulp"] else "·" if style else ""
    if style == "bad":
        shown = f"✗ {counts['failed']}"
    return f'<td class="{style}" title="{escape(told)}">{shown}</td>'

"""Markdown: a report for the summary page of a CI job."""

from __future__ import annotations

from typing import Any, Final

from realta_conformance.rendering.badge import certified

__all__ = ["markdown"]

_MOST: Final = 20
_SIGNS: Final = {"CONFORMS": "✅", "PARTIAL": "🟡", "FAILS": "❌", "BLOCKED": "⏸"}
_COUNTS: Final = ("passed", "failed", "declared", "not-applicable", "limited")


def markdown(report: dict[str, Any]) -> str:
    """A report in GitHub's Markdown: certificate, table of levels, failures with replay lines."""
    levels, dtypes = certified(report)
    shown = f" for {', '.join(dtypes)}" if dtypes else ""
    backend, numerics = report["backend"], report["numerics"]
    origin = (
        f"{backend['distribution'] or backend['name']} {backend['version']}, "
        f"realta {report['realta']}, suite {report['suite']}, seed {report['seed']}; "
        f"numerics {numerics['modes']}, subnormals {numerics['subnormals']}"
    )
    lines = [
        f"## `{report['device']}` @ spec {report['spec']}",
        "",
        f"**Certified:** {', '.join(levels) or 'nothing'}{shown}",
        "",
        origin,
        "",
        f"| level | verdict | {' | '.join(_COUNTS)} | required | promise |",
        f"|---|---|{'--:|' * len(_COUNTS)}--:|---|",
    ]
    for level in report["levels"]:
        counts = " | ".join(str(level["counts"].get(name, 0)) for name in _COUNTS)
        verdict = f"{_SIGNS[level['verdict']]} {level['verdict']}"
        if level["blocked_by"]:
            verdict += f" (needs {level['blocked_by']})"
        covered = f"{level['required_covered']}/{level['required_total']}"
        lines.append(
            f"| `{level['name']}` | {verdict} | {counts} | {covered} | {level['promise']} |"
        )
    failed = [p for v in report["levels"] for p in v["not_passed"] if p["outcome"] == "failed"]
    lines += _failures(report, failed)
    for text in report["stale"]:
        lines += ["", f"Stale expectation: {text} does not fail any more; remove it."]
    return "\n".join(lines) + "\n"


def _failures(report: dict[str, Any], failed: list[dict[str, Any]]) -> list[str]:
    if not failed:
        return []
    lines = ["", f"### {len(failed)} failed", ""]
    for problem in failed[:_MOST]:
        reason = problem["reason"].replace("\n", " ")
        lines.append(f"- `{problem['id']}` ({problem['check']}): {reason}  ")
        lines.append(f"  `realta-conformance replay {problem['id']} --device {report['device']}`")
    if len(failed) > _MOST:
        lines.append(f"- and {len(failed) - _MOST} more; see the JSON report")
    return lines

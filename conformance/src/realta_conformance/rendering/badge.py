"""Badge: what a report certifies, as the JSON that shields.io draws."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["badge", "certified"]

_BASICS: Final = ("manifest", "memory")


def certified(report: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The levels that conform, and the float dtypes for which all of them do."""
    good = [level for level in report["levels"] if level["verdict"] == "CONFORMS"]
    dtypes = [set(level["dtypes"]) for level in good if level["required_total"]]
    common = sorted(set.intersection(*dtypes)) if dtypes else []
    return [level["name"] for level in good], common


def badge(report: dict[str, Any]) -> dict[str, Any]:
    """The badge of a report, of shields' schema 1."""
    levels, dtypes = certified(report)
    verdicts = {level["verdict"] for level in report["levels"]}
    shown = [name for name in levels if name not in _BASICS] or levels
    message = f"{', '.join(shown) or 'nothing'} @ {report['spec']}"
    if dtypes:
        message += f" for {', '.join(dtypes)}"
    color = "red" if verdicts & {"FAILS", "BLOCKED"} else "yellow"
    color = "brightgreen" if verdicts == {"CONFORMS"} else color
    return {"schemaVersion": 1, "label": "realta", "message": message, "color": color}

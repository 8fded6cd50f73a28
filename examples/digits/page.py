"""The demo's page: images, predictions, times, and the graph drawn with its fusion groups; one file."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from realta.fusion import Explanation

__all__ = ["render_page"]

_STYLE = """
:root { color-scheme: light dark; --line: #8886; --good: #2a7; --bad: #c33; --box: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; } td, th { padding: .2rem .8rem; text-align: right; }
th:first-child, td:first-child { text-align: left; } tr + tr { border-top: 1px solid var(--line); }
.digits { display: grid; grid-template-columns: repeat(auto-fill, minmax(2.6rem, 1fr)); gap: .3rem; }
.digits figure { margin: 0; text-align: center; font-size: .8rem; }
.digits img { width: 100%; image-rendering: pixelated; border-radius: .2rem; }
.wrong { color: var(--bad); font-weight: bold; }
.scroll { overflow-x: auto; } pre { overflow-x: auto; font-size: .8rem; }
svg text { font: 12px ui-monospace, monospace; fill: currentColor; }
svg rect { fill: var(--box); stroke: var(--line); } svg path { stroke: currentColor; fill: none; }
"""


def png(pixels: NDArray[Any]) -> str:
    """A greyscale image (uint8, shape (rows, columns)) as a data address."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows, columns = pixels.shape
    header = struct.pack(">IIBBBBB", columns, rows, 8, 0, 0, 0, 0)
    lines = b"".join(b"\0" + row.tobytes() for row in pixels)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines))
    return "data:image/png;base64," + base64.b64encode(data + chunk(b"IEND", b"")).decode()


def _digits(images: NDArray[Any], labels: NDArray[Any], found: NDArray[Any]) -> str:
    grey = np.round((1.0 - images.reshape(-1, 8, 8)) * 255).astype(np.uint8)
    figures = []
    for image, label, guess in zip(grey, labels, found, strict=True):
        mark = ' class="wrong"' if label != guess else ""
        caption = f"{guess}" if label == guess else f"{guess} (is {label})"
        alt = f"the digit {label}"
        figures.append(
            f'<figure><img src="{png(image)}" alt="{alt}"><figcaption{mark}>{caption}'
            "</figcaption></figure>"
        )
    return f'<div class="digits">{"".join(figures)}</div>'


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(v))}</td>" for v in row.values()) + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>'


def fusion_drawing(explanation: Explanation) -> str:
    """The graph as an SVG: one box for each kernel with its ops, arrows for the tensors between them."""
    width, line, gap = 620, 18, 34
    places: dict[str, tuple[int, int]] = {}
    parts, y = [], 10
    for number, kernel in enumerate(explanation.kernels):
        ops = [m for m in kernel.members if m.role == "computed"] or list(kernel.members)
        height = line * (len(ops) + 1) + 14
        for read in kernel.reads:
            if read.name in places:
                x0, y0 = places[read.name]
                bend = 10 + 14 * (number % 4)
                parts.append(
                    f'<path d="M {x0} {y0} C {x0 + bend} {y0 + 20}, {x0 + bend} {y - 14}, {x0} {y - 2}"'
                    ' marker-end="url(#tip)"/>'
                )
        parts.append(f'<rect x="10" y="{y}" width="{width}" height="{height}" rx="8"/>')
        title = f"kernel {number}: {kernel.kind} over {kernel.shape}"
        parts.append(f'<text x="22" y="{y + 20}" font-weight="bold">{escape(title)}</text>')
        for n, member in enumerate(ops):
            text = member.text.replace("@numpy:0", "").replace("@reference:0", "")
            shown = text if len(text) <= 78 else text[:77] + "…"
            parts.append(f'<text x="34" y="{y + 20 + line * (n + 1)}">{escape(shown)}</text>')
        for n, write in enumerate(kernel.writes):
            places[write.name] = (60 + 140 * n, y + height)
        y += height + gap
    marker = (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8"'
        ' orient="auto"><path d="M 0 0 L 8 4 L 0 8" /></marker></defs>'
    )
    return (
        f'<div class="scroll"><svg width="{width + 30}" height="{y}" role="img" '
        f'aria-label="kernels of the network">{marker}{"".join(parts)}</svg></div>'
    )


def render_page(
    images: NDArray[Any],
    labels: NDArray[Any],
    found: NDArray[Any],
    rows: Sequence[Mapping[str, Any]],
    explanations: Mapping[str, Explanation],
) -> str:
    """The whole page.

    Args:
        images: shape (n, 64), values 0 to 1.
        labels: shape (n), the true digits.
        found: shape (n), the predicted digits.
        rows: the table of modes.
        explanations: what runs, by device.
    """
    right = int((labels == found).sum())
    drawings = "".join(
        f"<h3>{escape(device)}</h3>{fusion_drawing(found)}<details><summary>As text</summary>"
        f"<pre>{escape(found.text())}</pre></details>"
        for device, found in explanations.items()
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Realta: handwritten digits</title><style>{_STYLE}</style>"
        f"<h1>Handwritten digits</h1><p>{right} of {len(labels)} test images are classified right "
        f"({right / len(labels):.1%}). Every mode gives the same bits.</p>"
        f"<h2>Modes</h2>{_table(rows)}<h2>What was fused</h2>{drawings}"
        f"<h2>Predictions</h2>{_digits(images, labels, found)}</html>"
    )

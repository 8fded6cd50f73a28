"""The demo's page: what was asked, what each mode cost, what was fused, every image; one file."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

import numpy as np
from drawing import fusion_drawing
from numpy.typing import NDArray
from realta.fusion import Explanation

__all__ = ["render_page"]

_STYLE: Final = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
_ROOT: Final = str(Path(__file__).resolve().parents[2]) + "/"
_MODES: Final = """<p>The same network, called in four ways. <b>Eager</b>: each call runs at once.
<b>Region</b>: the function is one graph, run when it returns. <b>Lazy</b>: nothing runs until the
result is asked for. <b>Compiled</b>: the graph is made ahead of time. All four give the same
bits.</p>"""
_COLUMNS: Final = """<p class="note">Graphs, kernels and bytes are counted in the first call; the
time is the median of the calls after it, on the machine that wrote this page. Peak counts buffers
of the device's pool and what a compiled graph keeps between its kernels; what the kernels of the
reference device allocate on their own is not counted.</p>"""
_LEGEND: Final = """<p>Each coloured box is one kernel and each row in it an op with the type of its
result. Dashed rows are index maps: the kernel reads through them and computes nothing. Pills are
the images and the weights.</p>"""


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
        figures.append(
            f'<figure><img src="{png(image)}" alt="the digit {label}" loading="lazy">'
            f"<figcaption{mark}>{caption}</figcaption></figure>"
        )
    return f'<div class="digits">{"".join(figures)}</div>'


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(v))}</td>" for v in row.values()) + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>'


def _size(count: int) -> str:
    return f"{count / 1e3:.0f} kB" if count >= 1000 else f"{count} B"


def _facts(explanation: Explanation) -> str:
    """A line for each kernel: what it reads and writes, and why it ends where it does."""
    lines = []
    for number, kernel in enumerate(explanation.kernels):
        ops = ", ".join(m.op for m in kernel.members if m.role == "computed")
        text = f"<b>kernel {number}</b> {escape(ops)}"
        text += (
            f"<small>reads {_size(kernel.bytes_read)}, writes {_size(kernel.bytes_written)}</small>"
        )
        for apart in kernel.apart:
            text += f"<small>not one with kernel {apart.kernel}: {escape(apart.reason)}</small>"
        lines.append(f'<li class="{kernel.kind}">{text}</li>')
    return f'<ul class="facts">{"".join(lines)}</ul>'


def _device(device: str, explanation: Explanation) -> str:
    text = explanation.text().replace(_ROOT, "")
    drawing = fusion_drawing(explanation, f"the kernels of the network on {device}")
    whole = f'<div class="fused"><div>{drawing}</div><div>{_facts(explanation)}</div></div>'
    ops = sum(m.role == "computed" for k in explanation.kernels for m in k.members)
    kernels = len(explanation.kernels)
    headline = f"<p>{escape(text.partition(chr(10))[0].partition(': ')[2])}.</p>"
    if kernels >= ops:
        whole = (
            f"<details><summary>Drawing of {kernels} kernels, an op each</summary>{whole}</details>"
        )
    as_text = f"<details><summary>The same as text</summary><pre>{escape(text)}</pre></details>"
    return f"<h3>{escape(device)}</h3>{headline}{whole}{as_text}"


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
    order = np.argsort(labels == found, kind="stable")
    drawings = "".join(_device(device, plan) for device, plan in explanations.items())
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Realta: handwritten digits</title><style>{_STYLE}</style>"
        "<h1>Handwritten digits</h1><p>A network of three linear layers names the digit in each of "
        f"{len(labels)} images of 8 by 8 pixels. It names {right} of them right "
        f"({right / len(labels):.1%}).</p>"
        f"<h2>What each mode costs</h2>{_MODES}{_table(rows)}{_COLUMNS}"
        f"<h2>What was fused</h2>{_LEGEND}{drawings}"
        "<h2>Every image</h2><p>Under each image is what the network says; the wrong ones come "
        f"first.</p>{_digits(images[order], labels[order], found[order])}</html>"
    )

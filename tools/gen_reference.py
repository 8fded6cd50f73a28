"""Generated reference: pages and blocks of docs/ that are written from the code.

    python tools/gen_reference.py [--check]

Writes docs/reference/{api,errors,ops}.md whole, and in other pages the blocks between
``<!-- generated: NAME -->`` and ``<!-- end -->``. With ``--check`` it writes nothing, prints what
is stale, and exits 1 if anything is.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Final

import realta
from realta import F, errors, random
from realta import realization_context as contexts
from realta.errors import RealtaError
from realta.graph import Builder, Graph, print_graph
from realta.ops import OpDef, OpKind, Sample, all_ops, find_op
from realta.ops.tolerances import TOLERANCES, Tolerance, tolerance
from realta.passes import Decompose
from realta.types import DTYPES, FLOATS, INTEGERS, DType, float16, float32, float64, tensor_type

if not __package__:  # run as a program
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.backend_sizes import sizes_block
from tools.required_ops import required_block

ROOT: Final = Path(__file__).resolve().parent.parent
CORE: Final = ROOT / "packages" / "core" / "src" / "realta"
MARK: Final = "<!-- Written by tools/gen_reference.py; do not edit. -->"
BLOCK: Final = re.compile(r"(<!-- generated: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)

# -- ops ------------------------------------------------------------------------------------------

KIND_TITLES: Final = {
    OpKind.CREATION: "Creation",
    OpKind.ELEMENTWISE: "Elementwise",
    OpKind.REDUCE: "Reductions",
    OpKind.SCAN: "Scans",
    OpKind.MOVEMENT: "Movement",
    OpKind.CONTRACTION: "Contractions",
    OpKind.INDEXING: "Indexing",
    OpKind.SORT: "Sorting",
    OpKind.RANDOM: "Random",
    OpKind.CONTROL: "Control",
    OpKind.EFFECT: "Effects",
    OpKind.OPAQUE: "Opaque",
}
OPS_INTRO: Final = """# Ops

{count} ops are registered: {primitives} primitives, which a backend must know, and {composites}
composites, which have a decomposition. A backend may take any composite whole instead.

Each entry is the op's definition: what `realta ops NAME` prints, the laws by which graphs are
simplified, the bound of its error ([numerics](../spec/numerics.md#5a-bounds)), and for composites
the decomposition, written for one of the op's samples. Attributes are always present in a graph; a
default is what a printed graph leaves out.
"""


def own_ops() -> list[OpDef]:
    """The ops that are ours: names of third parties have a dot."""
    return [op for op in all_ops() if "." not in op.name]


def ops_page() -> str:
    """The whole page of ops."""
    ops = own_ops()
    primitives = sum(op.primitive for op in ops)
    counts = {"count": len(ops), "primitives": primitives, "composites": len(ops) - primitives}
    parts = [MARK, OPS_INTRO.format(**counts)]
    for kind, title in KIND_TITLES.items():
        members = [op for op in ops if op.kind is kind]
        if members:
            links = " · ".join(f"[{op.name}](#{op.name})" for op in members)
            parts += [f"## {title}\n", links + "\n", *map(op_entry, members)]
    return "\n".join(parts)


def op_entry(op: OpDef) -> str:
    """One op: signature, meaning, attributes, facts, laws, decomposition."""
    lines = [f"### {op.name}", "", f"`{op.signature()}`", "", op.doc, ""]
    if op.attrs:
        lines += ["| attribute | kind | default | |", "|---|---|---|---|"]
        for name, attr in op.attrs.items():
            default = "" if attr.default is ... else f"`{attr.default!r}`"
            lines.append(f"| `{name}` | {attr.kind} | {default} | {cell(attr.doc)} |")
        lines.append("")
    lines += ["; ".join(op_facts(op)) + ".", ""]
    graph = decomposition(op)
    if graph is not None:
        lines += ["```text", print_graph(graph), "```", ""]
    return "\n".join(lines)


def op_facts(op: OpDef) -> Iterator[str]:
    """Kind, dtypes, level, bound and laws in words."""
    yield "Primitive" if op.primitive else "Composite"
    yield f"dtypes: {dtype_words(op.dtypes)}"
    yield f"level `{op.level}`"
    yield f"error: {bound_words(tolerance(op.tolerance))}" if op.dtypes & FLOATS else "exact"
    if op.widen:
        yield "half precision is computed in float32 and rounded once"
    algebra = op.algebra
    for law in ("commutative", "associative", "idempotent", "involution"):
        if getattr(algebra, law):
            yield law
    units = [
        (words, found)
        for words, found in (
            ("left unit", algebra.left_unit), ("right unit", algebra.right_unit),
            ("zero", algebra.zero),
        )
        if found
    ]  # fmt: skip
    for words, found in units:
        yield f"{words} " + ", ".join(f"{v!r} ({kind})" for kind, v in found.items())


def dtype_words(dtypes: frozenset[DType]) -> str:
    """A set of dtypes, with families by their names."""
    left, words = set(dtypes), []
    for name, family in (("integers", INTEGERS), ("floats", FLOATS)):
        if family <= left:
            words.append(name)
            left -= family
    words += [d.name for d in DTYPES if d in left]
    return ", ".join(words)


def bound_words(row: Tolerance) -> str:
    """A tolerance for float32, float64 and the half types."""
    found = [row.describe(dtype) for dtype in (float32, float64, float16)]
    if len(set(found)) == 1:
        return found[0]
    if row.also:
        return f"{row.also} + {' / '.join(f'{n:g}' for n in row.ulp)} ulp"
    return f"{' / '.join(f'{n:g}' for n in row.ulp)} ulp (float32 / float64 / half)"


def decomposition(op: OpDef) -> Graph | None:
    """A composite on its first sample that has elements, in primitives; None for primitives."""
    if op.primitive or not op.samples:
        return None
    full = [s for s in op.samples if all(0 not in shape for shape in s.shapes)] or op.samples
    sample = min(full, key=sample_weight)
    dtype = float32 if float32 in op.dtypes else next(d for d in DTYPES if d in op.dtypes)
    builder = Builder(op.name.replace(".", "_"))
    operands = []
    for n, shape in enumerate(sample.shapes):
        given = sample.dtypes[n] if n < len(sample.dtypes) else None
        name = op.operands[min(n, len(op.operands) - 1)]
        operands.append(builder.input(tensor_type(given or dtype, shape), name))
    made = getattr(builder, op.name)(*operands, **sample.attrs_for(dtype))
    graph = builder.finish(*(made if isinstance(made, tuple) else (made,)))
    return Decompose(keeps=lambda node: node.op is not op).run(graph)


def sample_weight(sample: Sample) -> tuple[bool, int, int]:
    """Orders samples: those of two axes first, without extents of one, then the smallest."""
    ranks = [len(shape) for shape in sample.shapes]
    sizes = [extent for shape in sample.shapes for extent in shape]
    return (max(ranks, default=0) != 2, sizes.count(1), sum(sizes))


# -- errors ---------------------------------------------------------------------------------------

ERRORS_INTRO: Final = """# Errors

Every error is a `RealtaError` and says what happened, where, and how to mend it; the three parts
are its attributes `what`, `where` and `fix`. Where a standard exception fits, an error is one of
those too, so `except ValueError` catches a `ShapeError`. All errors can be pickled and copied.
"""


def errors_page() -> str:
    """The whole page of errors."""
    tree = (errors.__doc__ or "").partition("::\n\n")[2]
    shown = "\n".join(line.removeprefix("    ") for line in tree.rstrip().splitlines())
    parts = [MARK, ERRORS_INTRO, "```text", shown, "```", ""]
    for name in sorted(errors.__all__, key=lambda n: error_depth(getattr(errors, n))):
        kind = getattr(errors, name)
        bases = [base.__name__ for base in kind.__bases__ if base is not Exception]
        parts += [f"## {name}", ""]
        if bases:
            parts += [f"Is a {' and a '.join(f'`{base}`' for base in bases)}.", ""]
        parts += [prose(kind.__doc__ or ""), ""]
    return "\n".join(parts)


def error_depth(kind: type[RealtaError]) -> list[int]:
    """Sorts an error behind its base, in the order of definition."""
    order = list(errors.__dict__)
    chain = [base.__name__ for base in reversed(kind.__mro__) if issubclass(base, RealtaError)]
    return [order.index(name) for name in chain]


def prose(docstring: str) -> str:
    """A docstring as Markdown: its ``Args:`` become a list, double backquotes single ones."""
    lines = []
    for line in re.sub(r"\n {4}", "\n", docstring.strip()).replace("``", "`").splitlines():
        found = re.match(r" {4}(\w+): (.*)", line)
        if line.strip() in ("Args:", "Attributes:"):
            continue
        if found:
            lines.append(f"- `{found[1]}`: {found[2]}")
        else:
            lines.append("  " + line.strip() if line.startswith("     ") else line.strip())
    return "\n".join(lines)


# -- API ------------------------------------------------------------------------------------------

API_INTRO: Final = """# API

The public names. Functions of tensors are in `F`, which is the module `realta.functional`; most are
methods of `Tensor` too, and operators call them. In every realization context they are the same.
"""
DERIVED_INTRO: Final = """One for each elementwise op, with promotion and broadcasting.
"""
PREFIXES: Final = {
    "realta": "realta.",
    "realta.functional": "F.",
    "realta.random": "realta.random.",
}


def api_page() -> str:
    """The page that mkdocstrings fills: one directive for each public name, by what defines it."""
    sections: dict[str, dict[str, str]] = {}
    derived = []
    for owner in (realta, F, random, contexts):
        for name in owner.__all__:
            found = getattr(owner, name)
            path = static_path(found)
            if path:
                title = first_line(
                    CORE.parent / (path.rpartition(".")[0].replace(".", "/") + ".py")
                )
                entries = sections.setdefault(api_title(owner, title), {})
                entries.setdefault(path, PREFIXES.get(owner.__name__, "") + name)
            elif owner is F and find_op(name) is not None:
                derived.append(f"[`F.{name}`](ops.md#{name})")
    parts = [MARK, API_INTRO]
    for title, paths in sorted(sections.items(), key=lambda entry: entry[0] != "Tensor"):
        parts += [f"## {title}\n", *[directive(path, label) for path, label in paths.items()]]
    parts += ["## Functions of elementwise ops\n", DERIVED_INTRO, " · ".join(derived) + "\n"]
    return "\n".join(parts + api_modules())


def directive(path: str, label: str) -> str:
    """What mkdocstrings replaces by the documentation of a name."""
    options = [f"toc_label: {label}", "heading_level: 3"]
    renamed = label.rpartition(".")[2] != path.rpartition(".")[2]
    head = f"The public name is `{label}`.\n\n" if renamed else ""
    if label == "realta.Tensor":
        options.append("inherited_members: true")
    return f"{head}::: {path}\n    options:\n" + "".join(f"      {option}\n" for option in options)


def api_title(owner: ModuleType, line: str) -> str:
    """The heading of the names that one module defines."""
    title = re.split(r"[:;,]| that | which ", line)[0].rstrip(".")
    return f"F: {title[:1].lower()}{title[1:]}" if owner is F else title


def static_path(found: object) -> str:
    """Where the source defines a function or class by its own name; empty if nothing does."""
    module, name = getattr(found, "__module__", None), getattr(found, "__qualname__", "")
    if not isinstance(module, str) or not module.startswith("realta."):
        return ""
    source = CORE.parent / (module.replace(".", "/") + ".py")
    tree = ast.parse(source.read_text(encoding="utf-8")) if source.exists() else ast.Module([], [])
    defined = {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    return f"{module}.{name}" if name in defined else ""


def api_modules() -> list[str]:
    """The modules among the public names whose members are listed whole."""
    parts = []
    for name in ("nn", "tree", "testing"):
        module = getattr(realta, name)
        parts.append(f"## realta.{name}\n\n{cell(module.__doc__ or '')}\n")
        parts += [
            directive(static_path(getattr(module, member)), f"realta.{name}.{member}")
            for member in module.__all__
        ]
    return parts


# -- blocks ---------------------------------------------------------------------------------------


def cell(text: str) -> str:
    """Text that may stand in a table."""
    return " ".join(text.split()).replace("``", "`").replace("|", "\\|")


def bounds_block() -> str:
    """The table of bounds, with the ops of each row."""
    lines = [
        "| ops | float32 | float64 | float16, bfloat16 | beside the ulps |",
        "|---|---|---|---|---|",
    ]
    for name, row in TOLERANCES.items():
        ops = [op.name for op in own_ops() if op.tolerance == name and op.dtypes & FLOATS]
        if not ops:
            continue
        listed = "all others" if name == "exact" else ", ".join(f"`{op}`" for op in ops)
        counts = " | ".join(f"{n:g}" for n in row.ulp)
        lines.append(f"| {listed} | {counts} | {cell(row.also)} |")
    return "\n".join(lines) + "\n"


def contract_block() -> str:
    """Every class of the contract: its fields and methods, from the source."""
    lines: list[str] = []
    tree = ast.parse((CORE / "runtime" / "contract.py").read_text(encoding="utf-8"))
    tree.body += ast.parse((CORE / "fusion" / "limits.py").read_text(encoding="utf-8")).body
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            lines += contract_class(node)
    return "\n".join(lines) + "\n"


def contract_class(node: ast.ClassDef) -> Iterator[str]:
    """One class: heading, first sentence, a table of fields, a table of methods."""
    doc = ast.get_docstring(node) or ""
    told = dict(re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", doc, re.MULTILINE))
    yield f"### {node.name}\n"
    yield cell(doc.partition("\n\n")[0]) + "\n"
    fields = [s for s in node.body if isinstance(s, ast.AnnAssign)]
    if fields:
        yield "| field | type | default | |\n|---|---|---|---|"
        for field in fields:
            name = ast.unparse(field.target)
            default = f"`{field_default(field.value)}`" if field.value else ""
            kind = cell(ast.unparse(field.annotation))
            yield f"| `{name}` | `{kind}` | {default} | {cell(told.get(name, ''))} |"
        yield ""
    methods = [s for s in node.body if isinstance(s, ast.FunctionDef)]
    if methods:
        yield "| method | |\n|---|---|"
        for method in methods:
            result = ast.unparse(method.returns) if method.returns else ""
            text = f"{method.name}({ast.unparse(method.args)}) -> {result}".replace("self, ", "")
            shown = cell(text.replace("(self)", "()"))
            yield f"| `{shown}` | {cell(ast.get_docstring(method) or '')} |"
        yield ""


def field_default(value: ast.expr) -> str:
    """A default as a person writes it: ``field(default_factory=lambda: EMPTY)`` is ``EMPTY``."""
    text = ast.unparse(value)
    found = re.fullmatch(r"field\(default_factory=(?:lambda: )?(\w+)\)", text)
    if found is None:
        return text
    return found[1] if found[1].isupper() else f"{found[1]}()"


LAYERS: Final = (
    "nn", "compilation", "realization_context", "array_api", "functional", "random", "tensor",
    "context", "plugins", "backend", "runtime", "codegen", "fusion", "passes", "graph", "ops",
    "types", "errors",
)  # fmt: skip
"""Core from top to bottom; what is not named here stands beside the public names."""


def map_block() -> str:
    """Core's folders in data-flow order, each module with the first line of its docstring."""
    top = [p for p in sorted(CORE.glob("*.py")) if p.stem not in (*LAYERS, "__init__")]
    lines = ["### The public names\n", *module_rows([CORE / "__init__.py", *top])]
    for layer in (*LAYERS, "cli"):
        folder = CORE / layer
        files = sorted(folder.glob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]
        if files and all(path.exists() for path in files):
            lines += [f"### {layer}\n", *module_rows(files)]
    return "\n".join(lines)


def module_rows(files: list[Path]) -> Iterator[str]:
    """A table of modules; a package's own line stands above it."""
    rows = []
    for path in files:
        line = first_line(path)
        if path.name == "__init__.py":
            yield f"{cell(line)}\n"
        else:
            rows.append(f"| `{path.relative_to(CORE)}` | {cell(line)} |")
    if rows:
        yield "| module | |\n|---|---|"
        yield from rows
        yield ""


def first_line(path: Path) -> str:
    """The first line of a module's docstring."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    return docstring.splitlines()[0] if docstring else ""


PAGES: Final[dict[str, Callable[[], str]]] = {
    "docs/reference/ops.md": ops_page,
    "docs/reference/errors.md": errors_page,
    "docs/reference/api.md": api_page,
}
BLOCKS: Final[dict[str, Callable[[], str]]] = {
    "bounds": bounds_block,
    "contract": contract_block,
    "map": map_block,
    "required-ops": required_block,
    "backend-sizes": sizes_block,
}


def with_blocks(text: str) -> str:
    """A page with its generated blocks written anew."""

    def write(found: re.Match[str]) -> str:
        return f"{found[1]}\n{BLOCKS[found[2]]()}\n{found[3]}"

    return BLOCK.sub(write, text)


def wanted() -> dict[Path, str]:
    """What each page that is generated, whole or in part, should hold."""
    found = {ROOT / name: write().rstrip("\n") + "\n" for name, write in PAGES.items()}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        if path not in found and BLOCK.search(text):
            found[path] = with_blocks(text)
    return found


def stale() -> list[Path]:
    """The pages that differ from what the code says."""
    return [
        path
        for path, text in wanted().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]


def main(arguments: list[str]) -> int:
    """Writes what is stale, or only names it."""
    old = stale()
    texts = wanted()
    for path in old:
        print(("stale: " if "--check" in arguments else "wrote ") + str(path.relative_to(ROOT)))
        if "--check" not in arguments:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(texts[path], encoding="utf-8")
    if old and "--check" in arguments:
        print("run: python tools/gen_reference.py")
    return 1 if old and "--check" in arguments else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

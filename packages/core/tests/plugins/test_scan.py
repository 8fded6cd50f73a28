import importlib.metadata
import subprocess
import sys

from realta.plugins.scan import EntryPoint, entry_points, forget


def test_it_finds_what_importlib_metadata_finds():
    groups = ("realta.backends.v1", "realta.ops.v1", "realta.passes.v1")
    expected = {
        (point.name, point.value, point.dist.name, point.dist.version)
        for group in groups
        for point in importlib.metadata.entry_points(group=group)
    }
    found = {(e.name, e.value, e.distribution, e.version) for e in entry_points()}
    assert expected <= found
    assert ("reference", "realta.backend.reference:plugin") in {f[:2] for f in found}


def test_all_groups_and_majors_are_read_and_others_are_not(distribution):
    root = distribution("realta-x", "2.1", {"x": ""})
    (root / "realta_x-2.1.dist-info" / "entry_points.txt").write_text(
        "[console_scripts]\nx = y:z\n\n"
        "[realta.backends.v1]\nx=mod_x:plugin\n# w = not.this\n"
        "[realta.backends.v3]\nx = mod_x3 [extra]\n"
        "[realta.ops.v1]\nmore = mod_ops\n[realta.passes.v1]\nstep = mod_pass\n"
        "[realta.other.v1]\nno = no\n"
    )
    forget()
    found = [e for e in entry_points() if e.distribution == "realta-x"]
    assert found == [
        EntryPoint("backends", 1, "x", "mod_x:plugin", "realta-x", "2.1"),
        EntryPoint("backends", 3, "x", "mod_x3", "realta-x", "2.1"),
        EntryPoint("ops", 1, "more", "mod_ops", "realta-x", "2.1"),
        EntryPoint("passes", 1, "step", "mod_pass", "realta-x", "2.1"),
    ]


def test_a_distribution_earlier_on_the_path_hides_a_later_one(distribution):
    distribution("realta-x", "1.0", {"old": ""}, folder="later")
    distribution("realta_X", "2.0", {"new": ""}, folder="earlier")
    found = [(e.name, e.version) for e in entry_points() if e.distribution == "realta-x"]
    assert found == [("new", "2.0")]


def test_egg_links_and_egg_info_are_followed(tmp_path, monkeypatch):
    source, site = tmp_path / "source", tmp_path / "site"
    metadata = source / "realta_egg.egg-info"
    metadata.mkdir(parents=True)
    site.mkdir()
    (metadata / "entry_points.txt").write_text("[realta.backends.v1]\negg = mod_egg\n")
    (site / "realta-egg.egg-link").write_text(f"{source}\n.\n")
    monkeypatch.syspath_prepend(str(site))
    forget()
    assert "egg" in {e.name for e in entry_points()}


def test_what_cannot_be_read_is_passed_over(tmp_path, monkeypatch):
    broken = tmp_path / "bad-1.0.dist-info"
    broken.mkdir()
    (broken / "entry_points.txt").write_bytes(b"[realta.backends.v1]\n\xff\xfe = x\n")
    (tmp_path / "file.zip").write_bytes(b"")
    for entry in (tmp_path, tmp_path / "missing", tmp_path / "file.zip"):
        monkeypatch.syspath_prepend(str(entry))
    forget()
    assert "bad" not in {e.distribution for e in entry_points()}


def test_it_reads_once_per_path(distribution):
    distribution("realta-x", "1.0", {"x": ""})
    assert entry_points() is entry_points()


def test_listing_imports_no_plugin_and_neither_pluggy_nor_importlib_metadata():
    code = (
        "import sys\nfrom realta.plugins.scan import entry_points\n"
        "from realta.plugins import backends\nbackends()\n"
        "bad = {'realta_numpy', 'realta.backend', 'pluggy', 'importlib.metadata'}\n"
        "sys.exit(' '.join(bad & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")

# SPDX-License-Identifier: Apache-2.0
"""Backends of other distributions (the group collet.plugins), and a libcore of another version."""

import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/plugin"
SHOW = """
import collet
import numpy as np
if "example" in {b.name for b in collet.backends()}:
    found = {b.name: b for b in collet.backends()}["example"]
    with collet.using("example"):
        print(found.state, found.path,
              collet.op.example.clamp(np.array([1.0, 5.0]), lower=2, upper=3))
"""


def compiled(target, source, *options):
    compiler = shutil.which("cc")
    if not compiler or "libasan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("no C compiler, or one without the sanitizer")
    subprocess.run([compiler, "-std=gnu11", "-shared", "-fPIC", *options, source, "-o", target],
                   check=True)


def python(text, *folders, **environment):
    path = os.pathsep.join([*map(str, folders), os.environ.get("PYTHONPATH", "")])
    return subprocess.run([sys.executable, *text], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **environment, "PYTHONPATH": path})


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """An installed collet-backend-example, with the files that its pyproject.toml lists; made without pip and build
    tools."""
    work = tmp_path_factory.mktemp("wheel")
    compiled(work / "example.so", EXAMPLE / "plugin.c", "-fvisibility=hidden", "-I",
             ROOT / "include", f'-DCOLLET_MANIFEST_DIRECTORY="{EXAMPLE}"')
    text = (EXAMPLE / "pyproject.toml").read_text()
    group = text.partition('[project.entry-points."collet.plugins"]\n')[2].partition("\n\n")[0]
    info = "collet_backend_example-1.0.0.dist-info"
    name = work / "collet_backend_example-1.0.0-py3-none-any.whl"
    with zipfile.ZipFile(name, "w") as file:
        file.write(work / "example.so", "collet_backend_example/example.so")
        file.writestr(f"{info}/entry_points.txt", "[collet.plugins]\n" + group.replace('"', ""))
        file.writestr(f"{info}/METADATA",
                      "Metadata-Version: 2.1\nName: collet-backend-example\nVersion: 1.0.0\n")
        file.writestr(f"{info}/WHEEL",
                      "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")
    return name


@pytest.fixture
def site(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as file:
        file.extractall(tmp_path)
    return tmp_path


def test_an_installed_backend_is_found(site):
    done = python(["-c", SHOW], site)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"usable {site}/collet_backend_example/example.so [2. 3.]\n"
    done = python(["-m", "collet", "example"], site)
    assert f"{site}/collet_backend_example/example.so" in done.stdout, done.stdout + done.stderr


def test_pip_installs_it(wheel, tmp_path):
    pip = python(["-m", "pip", "install", "--no-deps", "--no-index", "--target", tmp_path / "site",
                  wheel])
    if "No module named pip" in pip.stderr:
        pytest.skip("no pip")
    assert pip.returncode == 0, pip.stderr
    assert python(["-c", SHOW], tmp_path / "site").stdout.startswith("usable ")


def test_the_user_decides(site, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    shutil.copy(site / "collet_backend_example/example.so", own)
    first = python(["-c", SHOW], site, COLLET_PLUGIN_PATH=f"+{own}")  # before the wheel's
    assert f" {own}/example.so " in first.stdout, first.stderr
    (own / "example.so").unlink()
    assert python(["-c", SHOW], site, COLLET_PLUGIN_PATH=str(own)).stdout == ""
    for path, shown in ((f"+{own}", True), (str(own), False)):
        done = python(["-m", "collet", "example"], site, COLLET_PLUGIN_PATH=path)
        assert ("collet_backend_example" in done.stdout) == shown


def test_what_cannot_be_searched_is_warned_of(site):
    shutil.rmtree(site / "collet_backend_example")
    done = python(["-c", SHOW], site)
    assert done.returncode == 0 and done.stdout == ""
    assert f"{site}/collet_backend_example is ignored: it does not exist" in done.stderr
    odd = site / "a:b"
    odd.mkdir()
    shutil.move(site / "collet_backend_example-1.0.0.dist-info", odd)
    text = f"import sys; sys.path.append({str(odd)!r})\n" + SHOW
    done = python(["-c", text])
    assert done.returncode == 0 and "':' separates directories" in done.stderr


LINES = {
    b"no equals sign": "it is 'no equals sign', not name = package.folder",
    b"bad = caf\xe9": r"it is 'bad = caf\xe9', not name",
    b"absolute = /tmp": "it is 'absolute = /tmp', not name",
    b"up = ..": "it is 'up = ..', not name",
    b"object = package:value": "it is 'object = package:value', not name",
    b"empty =": "it is 'empty =', not name",
    b"extras = package [more]": "it is 'extras = package [more]', not name",
    b"nul = a\0b": r"it is 'nul = a\x00b', not name",
}


def test_odd_lines_are_skipped(site):
    good = site / "collet_backend_example-1.0.0.dist-info/entry_points.txt"
    text = good.read_bytes()
    good.write_bytes(b"[other]\nodd \xff\n# \xff\n" + text.replace(
        b"plugins]", b"plugins]\n; comment\n\n" + b"\n".join(LINES)) + b"\n[another\nodd = [\n")
    done = python(["-c", SHOW], site)
    assert done.stdout.startswith("usable "), done.stderr
    for number, why in enumerate(LINES.values(), 7):
        assert f"{good}, line {number} is skipped: " + why in done.stderr
    assert done.stderr.count("is skipped") == len(LINES)
    done = python(["-m", "collet", "example"], site)
    assert done.returncode == 0 and "line 7 is skipped" in done.stderr


@pytest.mark.parametrize("old, new", [
    (b"[collet.plugins]", b"[ collet.plugins\t]"), (b"[collet.plugins]", b"[collet.plugins] ; c]"),
    (b"[collet.plugins]", b"[collet.plugins]# c"), (b"[collet", b"\xef\xbb\xbf[collet"),
    (b"_example\n", b"_example ; c\n"), (b"_example\n", b"_example # c\r\n"), (b"\n", b"\r\n")])
def test_other_ways_to_write_it(site, old, new):
    file = site / "collet_backend_example-1.0.0.dist-info/entry_points.txt"
    text = file.read_bytes().rstrip(b"\n") + b"\n"
    assert old in text
    file.write_bytes(text.replace(old, new))
    done = python(["-c", SHOW], site)
    assert done.stdout.startswith("usable "), done.stderr


def test_a_warning_comes_once(site):
    with open(site / "collet_backend_example-1.0.0.dist-info/entry_points.txt", "a") as file:
        file.write("\nodd\n")
    done = python(["-c", "from collet import _plugins; _plugins.defaults()\n" + SHOW +
                   "collet.configure(num_threads=1)\ncollet.backends()"], site)
    assert done.stdout.startswith("usable ") and done.stderr.count("is skipped") == 1, done.stderr


def test_odd_files_are_skipped(site):
    paths = {}
    for kind in "fifo", "directory", "device", "large", "unreadable":
        folder = site / f"aaa_{kind}-1.dist-info"
        folder.mkdir()
        paths[kind] = folder / "entry_points.txt"
    why = dict.fromkeys(paths, "is not a regular file")
    os.mkfifo(paths["fifo"])
    paths["directory"].mkdir()
    paths["device"].symlink_to("/dev/zero")
    paths["large"].write_bytes(b"[collet.plugins]\na = b\n" + b"#" * (1 << 20))
    why["large"] = f"has {paths['large'].stat().st_size} bytes, more than 1048576"
    paths["unreadable"].symlink_to("entry_points.txt")
    why["unreadable"] = "cannot be read: Too many levels of symbolic links"
    done = python(["-c", SHOW], site)
    assert done.stdout.startswith("usable "), done.stderr
    for kind, path in paths.items():
        assert f"{path} is skipped: it {why[kind]}" in done.stderr, kind


def test_odd_paths_are_no_obstacle(site, tmp_path):
    other = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(other)
    for name in "collet_backend_example", "collet_backend_example-1.0.0.dist-info":
        os.rename(site / name, os.path.join(other, os.fsencode(name)))
    done = python(["-c", "import os, pathlib, sys\nsys.path[:0] = [b'/tmp', 3, pathlib.Path('/tmp'), "
                         f"os.fsdecode({other!r})]\n"
                         "import collet; print([b.path.encode('utf-8', 'surrogateescape')"
                         " for b in collet.backends() if b.name == 'example'], collet.doctor())"])
    assert "\\xff/collet_backend_example/example.so" in done.stdout, done.stderr


def test_import_reads_no_metadata(site):
    done = python(["-c", "import collet, sys; print('collet._plugins' in sys.modules,"
                         " 'importlib.metadata' in sys.modules)"], site)
    assert done.stdout == "False False\n", done.stderr


OPENBLAS = """if True:
    import os, runpy, sys
    import collet
    import numpy as np
    from collet import _core
    library = next(b.capabilities["blas"].get("path") for b in collet.backends() if b.name == "cpu_openmp")
    if not library:
        sys.exit("no OpenBLAS")
    site = sys.argv[1]
    os.makedirs(site + "/scipy_openblas32/lib")
    os.symlink(os.path.realpath(library), site + "/scipy_openblas32/lib/libscipy_openblas.so")
    _core.__file__ = site + "/collet/_core.abi3.so"
    def show(**settings):
        collet.configure(cache=False, **settings)
        blas, = (b.capabilities["blas"] for b in collet.backends() if b.name == "cpu_openmp")
        print(blas.get("path") or blas["reason"], collet.op.matmul(np.ones((64, 64)), np.ones((64, 64)))[0, 0])
    show()
    show(cpu_openmp__openblas="off")
    print("scipy_openblas32" in sys.modules)
    sys.argv[1:] = ["--env"]
    sys.stdout.flush()
    runpy.run_module("collet", run_name="__main__")
"""


def test_openblas_beside_the_package(tmp_path):
    own = tmp_path / "site/scipy_openblas32/lib/libscipy_openblas.so"
    done = python(["-c", OPENBLAS, tmp_path / "site"])
    if "no OpenBLAS" in done.stderr or "not allow" in done.stderr:
        pytest.skip("no OpenBLAS on this system")
    lines = done.stdout.splitlines()
    assert lines[:3] == [f"{own} 64.0", "switched off by the setting cpu_openmp.openblas 64.0", "False"], done.stderr
    assert f"cpu_openmp.openblas {own} (default)" in lines and not done.stderr
    shutil.rmtree(tmp_path / "site")
    file = tmp_path / "collet.conf"
    file.write_text("cpu_openmp.openblas = off\n")
    done = python(["-c", OPENBLAS.replace('if not library', f'library = "{tmp_path}/absent"\n    if not library'),
                   tmp_path / "site"], COLLET_CONFIG=str(file))  # the user's file wins
    assert done.stdout.splitlines()[0].startswith("switched off by the setting"), done.stderr


def test_nothing_of_it_is_imported(site):
    (site / "collet_backend_example/__init__.py").write_text("raise SystemExit('imported')")
    done = python(["-c", SHOW], site)
    assert done.stdout.startswith("usable "), done.stderr


def test_another_libcore_is_refused(tmp_path):
    source = tmp_path / "other.c"
    source.write_text("int collet_version_number(void) { return 99; }\n"
                      "const char *collet_version(void) { return \"0.0.99\"; }\n")
    compiled(tmp_path / "other.so", source)
    libraries = f"{os.environ.get('LD_PRELOAD', '')} {tmp_path}/other.so"
    done = python(["-c", "import collet"], LD_PRELOAD=libraries)
    assert done.returncode == 1
    assert "found libcore 0.0.99: install the package again" in done.stderr

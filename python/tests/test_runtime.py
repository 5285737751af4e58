# SPDX-License-Identifier: Apache-2.0
"""Choice of backend, settings, counters, messages. Tests that change the process run in a separate
process."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import collet
from collet import _doctor, bench, op

TYPES = pathlib.Path(__file__).parents[2] / "include/collet/types.h"


def python(text, **environment):
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_backends():
    found = {b.name: b for b in collet.backends()}
    assert found["cpu_scalar"].state == "usable" and found["cpu_scalar"].devices[0].kind == "cpu"
    assert found["cpu_scalar"].devices[0].choice == "cpu_scalar:0"
    for backend in found.values():
        assert (backend.state == "unavailable") == bool(backend.reason)


def test_choices():
    a = np.ones(3)
    assert collet.get_backend() == "auto"
    with collet.using("cpu_scalar"):
        assert collet.get_backend() == "cpu_scalar"
        op.add(a, a)
        assert collet.last_backend() == "cpu_scalar"
        with collet.using("cpu_openmp:0"):
            op.add(a, a)
            assert collet.last_backend() == "cpu_openmp"
        assert collet.get_backend() == "cpu_scalar"
        with pytest.raises(collet.UnknownBackendError, match="did you mean 'cpu_scalar'"):
            collet.using("cpu_scaler").__enter__()
        assert collet.get_backend() == "cpu_scalar"
    assert collet.get_backend() == "auto"
    for choice in ("", "a" * 300):
        with pytest.raises(collet.InvalidError):
            collet.set_backend(choice)
    with pytest.raises(TypeError):
        collet.set_backend(3)


def test_set_backend_returns_the_name_in_force():
    usable = [backend.name for backend in collet.backends() if backend.state != "unavailable"]
    before = collet.get_backend()
    try:
        assert collet.set_backend("cpu_scalar") == "cpu_scalar" == collet.get_backend()
        assert collet.set_backend("cpu_scalar:0") == "cpu_scalar:0"
        assert collet.set_backend("auto") == usable[0]
        missing = next((b.name for b in collet.backends() if b.state == "unavailable"), None)
        if missing:
            assert collet.set_backend(f"{missing},cpu_scalar") == "cpu_scalar"
            with pytest.raises(RuntimeError, match="cannot be used") as caught:
                collet.set_backend(missing)
            assert isinstance(caught.value, collet.UnavailableError)
    finally:
        collet.set_backend(before)


def test_set_backend_is_for_all_threads_and_using_for_one():
    assert python("""if True:
        import collet, threading
        collet.op.add(1.0, 2.0)
        def ask(result):
            result.append(collet.get_backend())
        def in_thread():
            result = []
            t = threading.Thread(target=ask, args=(result,))
            t.start(); t.join()
            return result[0]
        with collet.using("cpu_openmp"):
            print(collet.get_backend(), in_thread())
            collet.set_backend("cpu_scalar")
            print(collet.get_backend(), in_thread())
        print(collet.get_backend(), in_thread())
        try:
            collet.set_backend("nothing")
        except collet.Error:
            print(collet.get_backend(), in_thread())
    """).split() == ["cpu_openmp", "auto", "cpu_openmp", "cpu_scalar", "cpu_scalar", "cpu_scalar",
                     "cpu_scalar", "cpu_scalar"]


def test_environment():
    assert python("import collet; print(collet.get_backend())", COLLET_BACKEND="cpu_scalar") == \
        "cpu_scalar\n"
    assert python("import collet\ntry: collet.op.add(1.0, 2.0)\n"
                  "except collet.UnknownBackendError as e: print('cpu_scaler' in str(e))",
                  COLLET_BACKEND="cpu_scaler") == "True\n"


def test_settings():
    assert python("""if True:
        import collet
        x = collet.ones(3)
        try:
            collet.configure(num_threads=1)
        except collet.BusyError as e:
            print("1 collet.Array exists;" in str(e))
        y = collet.op.add
        del x
        collet.configure(num_threads=1)
        print(collet.backends()[0].devices[0].compute_units)
        print(float(y(1.0, 2.0)))
        collet.configure(backend="cpu_scalar", timeout=5)
        timeout = [s["value"] for s in collet._core.settings() if s["key"] == "timeout"]
        print(collet.get_backend(), timeout)
        collet.configure()
        print(collet.get_backend())
    """, COLLET_BACKEND="auto").splitlines() == ["True", "1", "3.0", "cpu_scalar ['5']", "auto"]


def test_configure_checks_at_once():
    assert python("""if True:
        import collet
        collet.configure(timeout=5)
        for wrong in {"nosuch": 1}, {"fallback": "maybe"}, {"cpu_openmp__nosuch": 1}:
            try:
                collet.configure(**wrong)
            except collet.InvalidError as e:
                print(*wrong.values(), "settings" in str(e))
        values = lambda: {s["key"]: s["value"] for s in collet._core.settings()}
        print(values()["timeout"])
        for value in True, False:
            collet.configure(fallback=value)
            print(values()["fallback"])
    """, COLLET_FALLBACK="auto").splitlines() == ["1 True", "maybe True", "1 True", "5", "on", "off"]


def test_explanations():
    x = np.ones((64, 64))
    calls = collet.counters()["calls"]
    text = collet.explain(op.matmul, x, x)
    assert text.startswith("matmul (float64 64 x 64 <- float64 64 x 64, float64 64 x 64)\n")
    assert " runs it.\n  Why: " in text and "  How: " in text
    assert collet.counters()["calls"] == calls + 1
    # Every call in the function is explained, with parameters and outputs. For `evaluate` only "a program" is reported.
    out = np.empty(64)
    text = collet.explain(lambda: (op.sum(x, axes=1, out=out), collet.evaluate("x + 2 * x")))
    assert text.startswith("sum (float64 64 <- float64 64 x 64)\n") and "\nevaluate: a program" in text
    assert (out == 64).all()
    with pytest.raises(collet.ShapeError):
        collet.explain(op.matmul, x, x[:3])
    with pytest.raises(RuntimeError, match="observe"):
        collet._core.explanation()
    assert collet.explain(lambda: None) == ""


def test_counters_memory_trim():
    before = collet.counters()
    op.add(np.ones(3), np.ones(3))
    assert collet.counters()["calls"] == before["calls"] + 1
    x = collet.ones(10**6)
    assert collet.memory()["current"] >= 8 * 10**6
    del x
    collet.reset_peak()
    assert collet.memory()["peak"] < 8 * 10**6
    fields = re.search(r"struct collet_memory_stats \{(.*?)\}", TYPES.read_text(), re.DOTALL)[1]
    assert list(collet.memory()) == [*re.findall(r"uint64_t (\w+);", fields), "limit"]
    collet.trim()
    collet.finish()
    with pytest.raises(collet.InvalidError):
        collet.memory("auto")


def test_messages_go_to_logging():
    out = python("""if True:
        import logging, sys
        logging.basicConfig(stream=sys.stdout, format="%(name)s %(levelname)s %(message)s",
                            level=logging.DEBUG)
        import collet
        collet.op.add(1.0, 2.0)
    """)
    assert "collet DEBUG" in out or "collet INFO" in out


def test_first_call_imports_little():
    found = python("import sys, numpy; before = set(sys.modules)\n"
                   "import collet; collet.op.add(numpy.ones(1), numpy.ones(1))\n"
                   "print(*{m.split('.')[0] for m in set(sys.modules) - before})",
                   COLLET_LOG="off")
    assert not {"logging", "glob", "importlib", "json"} & set(found.split()), found


def test_import_takes_milliseconds():
    found = python("import sys; before = set(sys.modules)\nimport collet\nprint(*set(sys.modules) - before)")
    assert not {"typing", "re", "enum", "dataclasses", "inspect", "numpy"} & set(found.split()), found


def test_first_sum_needs_no_numpy():
    out = python("import sys, collet\n"
                 "print(collet.asarray([1.5, 2, 3]).sum(), collet.ones((2, 2)).sum(axis=0).sum())\n"
                 "print('numpy' in sys.modules)")
    assert out.split() == ["6.5", "4.0", "False"]


def test_main_is_backend_info():
    done = subprocess.run([sys.executable, "-m", "collet", "--json"], capture_output=True,
                          text=True)
    assert done.returncode == 0 and '"cpu_scalar"' in done.stdout, done.stderr
    done = subprocess.run([sys.executable, "-m", "collet", "no_such"], capture_output=True,
                          text=True)
    assert done.returncode != 0


def test_doctor():
    text = str(collet.doctor())
    assert "  worker: by name\n" in text or "worker" not in text
    assert collet.__version__ in text
    for backend in collet.backends():
        assert backend.name in text
        assert backend.reason[:20] in text or "name a backend" in backend.reason


def test_doctor_of_the_command_line():
    done = subprocess.run([sys.executable, "-m", "collet", "--doctor"], capture_output=True, text=True, check=False)
    here = subprocess.run([sys.executable, "-c", "import collet; print(collet.doctor())"], capture_output=True,
                          text=True, check=False)
    assert (done.returncode, done.stdout) == (0, here.stdout) and "Python" in done.stdout


def test_doctor_finds_libraries_and_refused_plugins(tmp_path):
    (tmp_path / "broken.so").write_bytes(b"no ELF")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "open/own.so").write_bytes(b"no ELF")
    text = python("""if True:
        import collet
        collet.configure(cpu_openmp__openblas="/no/libopenblas.so.0")
        report = collet.doctor()
        print(report)
        assert all(f.fix for f in report if "openblas" in f.why)
        print(*[f.what for f in report])
    """, COLLET_PLUGIN_PATH=f"+{tmp_path}:{tmp_path}/open")
    assert "the backend broken" in text and "own" in text
    assert f"fix:   chmod o-w {tmp_path}/open (others can then no longer write there)\n" in text
    assert "apt-get install libopenblas0" in text


REMOTE = pathlib.Path(collet.backends()[0].path).parents[2] / "tests/remote/remote.so"


@pytest.mark.parametrize("variables", [{}, {"COLLET_BACKEND": "nosuch"}, {"COLLET_PLUGIN_PATH": "/tmp"}, {"COLLET_PLUGIN_DENY": "cpu_openmp,opencl"},
                                       {"COLLET_CALIBRATION": "on", "COLLET_PLUGIN_PATH": f"+{REMOTE}"}])
def test_doctor_says_what_backend_info_says(variables):
    findings = python("""if True:
        import collet
        for f in collet.doctor():
            print(*f, sep="\\n")
    """, **variables).splitlines()
    done = subprocess.run([sys.executable, "-m", "collet", "--doctor", "--json"], text=True,
                          capture_output=True, env={**os.environ, **variables})
    told = [text for f in json.loads(done.stdout)["findings"] for text in (f["what"], f["why"], f["fix"])]
    assert findings[:len(told)] == told, done.stderr
    assert not [x for x in findings[len(told)::3] if x not in (
        "bfloat16 in NumPy arrays", "the name collet for this package alone")]


@pytest.mark.skipif(not REMOTE.exists(), reason="the backend of tests, remote, was not built")
def test_explanation_of_a_fallback():
    """The device's memory is too small, which is discovered only during the call."""
    assert python("""if True:
        import collet, numpy as np
        for memory in 10000, 100:
            collet.configure(remote__memory=memory, backend="remote", fallback="on", log="off")
            lines = collet.explain(collet.op.add, np.ones(300), np.ones(300)).splitlines()
            print(lines[1])
            print(*[line for line in lines if line.startswith("In fact")])
    """, COLLET_PLUGIN_PATH=f"+{REMOTE}").splitlines() == [
        "remote:0 runs it.", "", "remote:0 runs it.", "In fact cpu_openmp ran it: remote:0 could not."]


def test_calibrates_what_the_package_uses(tmp_path):
    variables = {**os.environ, "COLLET_CACHE_DIR": str(tmp_path), "COLLET_CALIBRATION": "on", "COLLET_MEASURE": "on"}
    tmp_path.chmod(0o700)
    done = subprocess.run([sys.executable, "-m", "collet", "calibrate", "cpu_scalar", "--seconds", "0.1"],
                          text=True, capture_output=True, env=variables)
    assert done.returncode == 0, done.stderr
    used = python("""if True:
        import collet
        print(*(b.calibration for b in collet.backends() if b.calibration))
    """, **variables)
    assert f"cpu_scalar: {used}" in done.stdout


def test_doctor_leaves_a_sticky_directory_as_it_is(tmp_path):
    tmp_path.chmod(0o1777)
    (tmp_path / "own.so").write_bytes(b"no ELF")
    text = python("import collet; print(collet.doctor())", COLLET_PLUGIN_PATH=f"+{tmp_path}")
    assert "fix:   move it to a directory that only you may write to\n" in text
    assert "chmod" not in text


DOCTOR = "import collet; print(collet.doctor())"


def test_doctor_finds_a_wrong_choice_and_path(tmp_path):
    text = python(DOCTOR, COLLET_BACKEND="nosuch")
    assert "missing: the backend that is chosen" in text and "nosuch" in text
    assert "set COLLET_BACKEND" in text and "that is chosen" not in python(DOCTOR)
    text = python(DOCTOR, COLLET_PLUGIN_PATH=str(tmp_path))
    assert f"(COLLET_PLUGIN_PATH) is {tmp_path}, so " in text and "is not searched" in text
    assert "unset COLLET_PLUGIN_PATH" in text and "beside" not in text


def test_doctor_names_each_fix_once(tmp_path):
    tmp_path.chmod(0o777)
    for backend in collet.backends():
        if backend.name.startswith("cpu_"):
            shutil.copy(backend.path, tmp_path)
    text = python(DOCTOR, COLLET_PLUGIN_PATH=str(tmp_path))
    assert "missing: the backends cpu_openmp, cpu_scalar\n" in text
    assert text.count(f"fix:   chmod o-w {tmp_path} ") == 1
    assert _doctor._fix("no device: PoCL has none: set POCL_CACHE_DIR to a directory") == (
        "set POCL_CACHE_DIR to a directory")


def test_paths_are_any_bytes(tmp_path):
    directory = os.path.join(os.fsencode(tmp_path), b"\x1b[2J\xff")
    os.mkdir(directory)
    with open(os.path.join(directory, b"broken.so"), "wb") as file:
        file.write(b"no ELF")
    text = python("""if True:
        import collet, os
        from collet import _core, _doctor
        print(collet.doctor(), _doctor.Report("\\x1b[2J\\udcff", ()))
        path = os.environ["COLLET_PLUGIN_PATH"]
        assert path + "/broken.so" in [r["path"] for r in _core.records()]
        assert path in [s["value"] for s in _core.settings()]
    """, COLLET_PLUGIN_PATH=os.fsdecode(directory))
    assert "\\x1b[2J\\udcff\n" in text and "\x1b" not in text


def test_other_threads_run_while_work_runs():
    a = np.ones((700, 700))
    op.matmul(a, a)
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.wait(0.001):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    with collet.using("cpu_scalar"):
        start = time.perf_counter()
        op.matmul(a, a)
        end = time.perf_counter()
    stop.set()
    thread.join()
    assert sum(start < t < end for t in ticks) > 3


def test_timestamps():
    core = collet._core
    for device in ("host", "cpu_scalar:0", None):
        first = core.timestamp(device)
        time.sleep(0.002)
        last = core.timestamp(device)
        nanoseconds, _ = core.elapsed(first, last)
        assert 2e6 <= nanoseconds < 60e9
        assert core.elapsed(last, first)[0] == -nanoseconds
    with pytest.raises(collet.InvalidError):
        core.elapsed(core.timestamp("host"), core.timestamp("cpu_scalar"))
    with pytest.raises(collet.UnknownBackendError):
        core.timestamp("nowhere")
    with pytest.raises(ValueError):
        core.elapsed(None, None)
    assert "earlier runtime" in python("""if True:
        import collet
        first = collet._core.timestamp(None)
        collet.configure(num_threads=1)
        try:
            collet._core.elapsed(first, collet._core.timestamp(None))
        except collet.InvalidError as error:
            print(error)""")


@pytest.mark.parametrize("function, what", [(collet.set_backend, "choice of backend"),
                                            (collet.memory, "device"), (bench.Timer, "device")])
def test_names_are_texts(function, what):
    with pytest.raises(TypeError, match=f"a {what} is a text like 'opencl:1', not 3"):
        function(3)
    with pytest.raises(collet.InvalidError, match=f"a {what} has a null character"):
        function("cpu_scalar\0x")

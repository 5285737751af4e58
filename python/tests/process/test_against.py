# SPDX-License-Identifier: Apache-2.0
"""docs/benchmarks/against.py with libraries that are correct, are wrong, crash, hang or are missing."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import collet
import pytest

BUILD = pathlib.Path(collet.backends()[0].path).parents[2]
SCRIPT = pathlib.Path(__file__).parents[3] / "docs/benchmarks/against.py"
REFERENCES, PREFIXED = BUILD / "tests/references", BUILD / "tests/libraries/libprefixed.so"
SMALL = ["--shape=23x24x25", "--dtype=f32"]
pytestmark = pytest.mark.skipif(not (REFERENCES.exists() and PREFIXED.exists() and (BUILD / "bin/backend-bench").exists()),
                                reason="the stand-ins for libraries were not built")


def command(*words, libraries=REFERENCES):
    return [sys.executable, SCRIPT, *map(str, words), "--backend=cpu_scalar", "--seconds=0.01", f"--libraries={libraries}",
            f"--build={BUILD}"]


def run(*words, libraries=REFERENCES, threads=1, **variables):
    return subprocess.run(command(*words, f"--threads={threads}", libraries=libraries), text=True, capture_output=True,
                          env={**os.environ, **variables})


def report(*words, status=0, **more):
    done = run(*words, "--json", **more)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


def row_of(found, library="blis"):
    [result] = found["results"]
    return next(r for r in result["libraries"] if r["library"] == library)


def test_a_library_is_measured():
    found = report("matmul", *SMALL)
    [result], blis = found["results"], row_of(found)
    assert (result["backend"], result["dtype"], result["shape"], result["error"]) == ("cpu_scalar", "f32", [23, 24, 25], "")
    assert blis["state"] in ("measured", "slower") and blis["text"] == "version of a test, kernels seven"
    assert blis["ratio"] == pytest.approx(blis["call_seconds"]["median"] / result["call_seconds"]["median"])
    assert blis["gflop_per_s"] == pytest.approx(1e-9 * 2 * 23 * 24 * 25 / blis["call_seconds"]["median"])
    assert result["best"]["library"] == "blis" and result["best"]["ratio_fastest"] > 0


@pytest.mark.parametrize("how, text", [("wrong", "its result differs"), ("crash", "signal 6")])
def test_a_wrong_library_is_not_compared(how, text):
    found = report("matmul", *SMALL, status=1, FAKE_BLIS=how)
    for blis in found["results"][0]["libraries"]:
        if blis["library"] == "blis":
            assert blis["state"] == "failed" and text in blis["text"] and "ratio" not in blis
    assert found["results"][0]["best"] is None


def test_absent_libraries_are_reported(tmp_path):
    found = report("matmul", *SMALL, status=1, libraries=tmp_path)
    assert {r["library"] for r in found["results"][0]["libraries"]} == {"openblas", "blis", "onednn"}
    assert all(r["state"] == "absent" and str(tmp_path) in r["text"] for r in found["results"][0]["libraries"])


def test_more_builds_of_openblas(tmp_path):
    """--openblas adds builds, here one whose symbols have the prefix of PyPI's builds. The stand-in reports the core
    type that the caller selects."""
    found = report("matmul", *SMALL, f"--openblas={PREFIXED},{tmp_path}/libopenblas.so", libraries=tmp_path)
    builds = [r for r in found["results"][0]["libraries"] if r["file"]]
    measured = [r for r in builds if r["file"] == str(PREFIXED)]
    assert measured and len(builds) == 2 * len(measured)
    assert all(f"core {r['setting'] or 'Prescott'}," in r["text"] and r["ratio"] > 0 for r in measured)
    assert all(r["state"] == "absent" for r in builds if r not in measured)


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="levels of x86-64")
def test_the_level_limits_libraries(tmp_path):
    found = report("matmul", *SMALL, status=1, libraries=tmp_path, COLLET_ISA="v2")
    assert [r["setting"] for r in found["results"][0]["libraries"]] == ["Nehalem", "SSE41"]


def test_fft_is_compared_with_one_thread_too(tmp_path):
    """FFTW is measured with one thread too, because threads can cost more than they gain."""
    for threads in range(1, min(2, len(os.sched_getaffinity(0))) + 1):
        found = report("fft", "--shape=64", threads=threads, libraries=tmp_path, status=1)
        assert [r["dtype"] for r in found["results"]] == ["c64", "c128"]  # once for each type
        assert [r["setting"] for r in found["results"][0]["libraries"]] == [None, "1 thread"][:threads]


REAL = [("lu", "14x14", "f64"), ("fft", "6x8", "c64"), ("matmul", "8x9x10", "bf16")]
if os.environ.get("COLLET_TEST_LONG"):
    REAL += [("cholesky", "16", "f64"), ("eigh", "16", "f64"), ("eigh", "5x3", "f64"), ("qr", "18x12", "f64"), ("solve", "14x3", "f64"),
             ("svd", "18x12", "f64"), ("fft", "6x8", "f64"), ("matmul", "8x9x10", "f64"), ("matmul", "8x9x10", "i8")]


@pytest.mark.parametrize("op, shape, dtype", REAL)
def test_real_libraries_compute_the_same(op, shape, dtype):
    """Tests the libraries of this machine. The number of operations equals the number that backend-bench reports."""
    done = run(op, f"--shape={shape}", f"--dtype={dtype}", "--json", libraries="")
    [result] = json.loads(done.stdout)["results"]
    assert not result["error"]
    states = [(r["name"], r["text"]) for r in result["libraries"] if r["state"] == "failed"]
    assert not states
    signature = {"bf16": "f:bb", "i8": "i:aa"}.get(dtype, dtype)
    bench = subprocess.run([BUILD / "bin/backend-bench", op, shape, f"--dtype={signature}", "--backend=cpu_scalar",
                            "--seconds=0.001", "--json"], text=True, capture_output=True, check=True)
    assert json.loads(bench.stdout)["results"][0]["flops"] == pytest.approx(
        1e9 * result["gflop_per_s"] * result["call_seconds"]["median"])
    if not result["best"]:
        pytest.skip(f"no library has {op} of {dtype}")


def test_memory_is_the_reference_of_other_ops():
    found = report("sum", "--shape=64x64", "--axis=1")
    [result] = found["results"]
    assert result["backend"] == "cpu_scalar" and result["gb_per_s"] > 0 and result["memory"] is None  # it fits in a cache


def test_the_command_line():
    for words, text in [(["nonesuch"], "does not compare the op 'nonesuch'"), (["fill"], "does not compare the op 'fill'"),
                        (["--shape=8x8x8"], "needs exactly one op"), (["matmul", "lu", "--shape=8x8"], "needs exactly one op"),
                        (["matmul", "--shape=8x"], "'8x' is not a shape"), (["matmul", "--dtype=f33"], "not f33")]:
        done = run(*words)
        assert done.returncode == 2 and text in done.stderr and not done.stdout


def test_text():
    done = run("matmul", *SMALL)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("matmul f32 23x24x25; ") and "of a test" in done.stdout
    assert "is the fastest library; Collet has" in done.stdout


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_library_that_hangs_ends_with_the_script(tmp_path, end):
    file = tmp_path / "hangs"
    script = subprocess.Popen(command("matmul", *SMALL, "--threads=1"), stdout=subprocess.DEVNULL, start_new_session=True,
                              env={**os.environ, "FAKE_BLIS": "hangs", "HANGS_HERE": str(file)})
    limit = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < limit and script.poll() is None
        time.sleep(0.01)
    script.send_signal(end)
    script.wait()
    limit = time.monotonic() + 10
    while running(script.pid):
        assert time.monotonic() < limit, "the process of the library outlives the script"
        time.sleep(0.01)


def running(group):
    """The processes of a group, except processes that have ended and that init has not yet collected."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, of = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:  # it has ended
            continue
        if int(of) == group and state != "Z":
            found.append(stat)
    return found

# SPDX-License-Identifier: Apache-2.0
"""python -m collet compare, sweep, trajectory, roofline, and docs/benchmarks/ternary.py; figures are not checked."""

import csv
import io
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
from collet.bench import _studies

QUICK = ["--seconds=0.02", "--backend=cpu_scalar,cpu_openmp"]


def run(*words):
    return subprocess.run([sys.executable, "-m", "collet", *words], text=True, capture_output=True)


def report(*words, status=0):
    done = run(*words, "--json")
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout), done.stderr


def refused(*words, status=2):
    done = run(*words)
    assert done.returncode == status and not done.stdout
    return done.stderr


def test_compare():
    found, _ = report("compare", "add", "1000", "--dtype=f32,f64", *QUICK)
    rows = found["results"]
    assert [(r["backend"], r["signature"], r["shape"]) for r in rows] == [
        (backend, signature, "1000") for signature in ("f:ff", "d:dd") for backend in ("cpu_scalar", "cpu_openmp")]
    for r in rows:
        assert r["min"] <= r["median"] <= r["p95"] <= r["p99"] <= r["max"] and r["low"] <= r["high"]
        assert r["calls_per_second"] * r["median"] == pytest.approx(1)
        assert r["rate"] == pytest.approx(1e-9 * 3000 * (4 if r["signature"] == "f:ff" else 8) / r["median"])
        assert r["peak_bytes"] > 1 << 20
    assert [r["speedup"] for r in rows][::2] == [1, 1]
    assert found["host"]["threads"] >= 1 and found["mode"] == "compare"


def test_csv_and_text():
    done = run("compare", "add", "1000", "--csv", *QUICK)
    rows = list(csv.reader(io.StringIO(done.stdout, newline="")))
    assert done.returncode == 0 and done.stdout.startswith("backend,op,signature,shape,median,")
    assert [len(r) for r in rows] == [19, 19, 19] and rows[2][:4] == ["cpu_openmp", "add", "f:ff", "1000"]
    text = run("trajectory", "add", "1000", *QUICK).stdout.splitlines()
    assert text[0].split() == "backend calls median p99 max drift jitter arrays resident time memory".split()
    assert text[1].startswith("cpu_scalar ") and text[1].endswith("no leak  ")


def test_regressions(tmp_path):
    found, _ = report("compare", "add", "1000", *QUICK)
    file = tmp_path / "before.json"

    def write(factor):
        rows = [r | {key: r[key] * factor for key in ("median", "low", "high")} for r in found["results"]]
        file.write_text(json.dumps(found | {"results": rows}))
        return f"--against={file}"
    again, errors = report("compare", "add", "1000", write(0.001), *QUICK, status=1)
    assert "2 rows are slower than in " in errors
    assert all(r["verdict"] == "slower" and r["change"] > 100 for r in again["results"])
    done = run("compare", "add", "1000", write(1000), *QUICK)
    assert done.returncode == 0 and "faster" in done.stdout
    assert {r["verdict"] for r in report("compare", "add", "999", write(1), *QUICK)[0]["results"]} == {"new"}
    assert "it is not a report of 'python -m collet sweep --json'" in refused("sweep", "add", "1000", write(1))
    assert "--against /nowhere/x: No such file" in refused("compare", "add", "--against=/nowhere/x", status=1)
    found["host"]["cpu"] = "another"
    assert "on another processor, 'another'" in report("compare", "add", "1000", write(1000), *QUICK)[1]


def test_sweep():
    found, _ = report("sweep", "matmul", "16x32x16", *QUICK)
    rows = found["results"]
    sizes = [r["size"] for r in rows]
    assert sizes == sorted(sizes) and sizes[-1] == 16 * 32 * 16 and len(rows) >= 8
    assert sum(r["to_fastest"] == 1 for r in rows) * 2 == len(rows)
    assert isinstance(found["crossovers"], list)
    assert {r["signature"] for r in report("sweep", "add", "10", "--dtype=f32,f64", *QUICK)[0]["results"]} == {"f:ff", "d:dd"}


def test_sizes_and_crossings():
    assert _studies.extents_of("2Kx3") == [2048, 3] and _studies.extents_of("2x") is None
    shapes = _studies.sizes("1000x1K", [1000, 1024])
    products = [math.prod(_studies.extents_of(s)) for s in shapes]
    assert shapes[-1] == "1000x1K" and len(shapes) == 11 and products == sorted(products) and products[0] < 20
    assert _studies.sizes("3", [3]) == ["3"]
    # At 100 elements b takes twice as long as a, at 10,000 elements an eighth of a's time. On a logarithmic scale the
    # times are equal after a quarter of the interval.
    assert _studies.crossing(100, 10000, {"a": 1, "b": 2}, {"a": 8, "b": 1}, "a", "b") == pytest.approx(100 * 100 ** 0.25)


def test_trajectory():
    found, _ = report("trajectory", "add", "1000", *QUICK)
    for row in found["results"]:
        assert row["calls"] >= 10 and row["jitter"] >= 0 and row["array_bytes"] == 0
        assert row["leak"] == "no leak" and row["steady"] in ("steady", "drifts")


@pytest.mark.skipif("COLLET_TEST_LONG" not in os.environ, reason="its buffers are much larger than the last cache")
def test_roofline():
    found, _ = report("roofline", "add", "matmul", "--shape=64x64x64", "--seconds=0.01", "--backend=cpu_openmp")
    (add, matmul), [roofs] = found["results"], found["roofs"]
    assert add["intensity"] is None and add["bound"] == "memory" and add["roof"] == roofs["gb_per_s"]
    # 2 x 64^3 operations on 3 x 64^2 elements of 4 bytes
    assert matmul["intensity"] == pytest.approx(64 / 6)
    assert matmul["roof"] == min(roofs["gflop_per_s"], matmul["intensity"] * roofs["gb_per_s"])


def test_wrong_commands():
    assert "OP" in refused("compare")
    assert "'ad'" in refused("sweep", "ad", *QUICK) and "'ad'" in refused("roofline", "ad", *QUICK)
    assert "is not a shape" in refused("sweep", "add", "10x", *QUICK)
    assert "not allowed with" in refused("compare", "add", "--csv", "--json")


def test_edited_reports(tmp_path):
    good = {"mode": "compare", "host": {"cpu": "any"}, "results": [
        {"backend": "cpu_scalar", "op": "add", "signature": "f:ff", "shape": "10", "median": 1, "low": 1, "high": 1}]}
    row = good["results"][0]
    edited = [good | {"results": [{k: v for k, v in row.items() if k != key}]} for key in row]
    edited += [good | {"results": [row | {"median": value}]} for value in (None, "1", 0, [])]
    edited += [good | {"results": value} for value in (None, 3, [3])] + [[], 3, good | {"host": None}]
    for k, report in enumerate(edited):
        file = tmp_path / f"{k}.json"
        file.write_text(json.dumps(report))
        assert "it is not a report of 'python -m collet compare --json'" in refused("compare", "add", "10", f"--against={file}", *QUICK)


def test_nothing_to_measure():
    assert "'0' is not a shape" in refused("sweep", "add", "0", *QUICK)
    assert _studies.sizes("3x0", [3, 0]) == ["3x0"]


@pytest.mark.parametrize("words", [["--doctor"], ["compare", "--help"], ["sweep", "add", "20", "--csv", *QUICK],
                                   ["trajectory", "add", "10", "--json", *QUICK]])
def test_output_that_cannot_be_written(words):
    command = [sys.executable, "-m", "collet", *words]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.endswith("python -m collet: standard output: No space left on device\n")
    closed = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *command], stderr=subprocess.PIPE, text=True)
    assert (closed.returncode, closed.stderr) == (1, "python -m collet: standard output is closed\n")
    reader, writer = os.pipe()
    os.close(reader)
    unread = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert unread.returncode == -signal.SIGPIPE and "Traceback" not in unread.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_measurement(number):
    command = [sys.executable, "-m", "collet", "trajectory", "add", "1000", "--seconds=60", "--backend=cpu_scalar"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        children = pathlib.Path(f"/proc/{program.pid}/task/{program.pid}/children")
        while not children.read_text():
            time.sleep(0.01)
        child = int(children.read_text())
        program.send_signal(number)
        assert program.wait() == 128 + number and b"Traceback" not in program.stderr.read()
    assert not pathlib.Path(f"/proc/{child}").exists()


def test_unavailable_and_unknown_backends():
    assert "did you mean 'cpu_scalar'" in refused("compare", "add", "10", "--backend=cpu_scalra")
    for words in (["compare", "add", "10"], ["sweep", "add", "10"], ["roofline", "add"]):
        assert "device 9 is out of range" in refused(*words, "--seconds=0.02", "--backend=cpu_scalar:9", status=77)


def test_verdicts():
    flat, rising, noisy = [1, 1.01, 0.99, 1, 1.02, 0.98], [1, 2, 3, 4, 5, 6], [1, 3, 1, 3, 1, 3]
    assert _studies.drift(rising) == pytest.approx(5 / 3.5) and abs(_studies.drift(flat)) < 0.05
    assert _studies.drifts(rising) and not _studies.drifts(flat) and not _studies.drifts(noisy)
    assert _studies.leaks(rising, 0) and not _studies.leaks(rising, 6) and not _studies.leaks(noisy, 0)
    assert not _studies.leaks([9, 9, 9, 9, 9], 0)  # memory that grows once, as a cache does


def test_roofs():
    assert _studies.roof_of(None, 300, 40) == 40  # without operations the bandwidth is the roof
    assert _studies.roof_of(2, 300, 40) == 80  # below the ridge point, which is at 7.5
    assert _studies.roof_of(10, 300, 40) == _studies.roof_of(7.5, 300, 40) == 300
    assert _studies.roof_of(2, None, 40) is None


def test_texts():
    assert [_studies.time_text(s) for s in (5e-9, 2.5e-6, 0.25, 3)] == ["5.0 ns", "2.50 us", "250.000 ms", "3.000 s"]
    assert [_studies.bytes_text(n) for n in (0, -3, 1536, 5 << 30)] == ["0 B", "-3 B", "1.5 KiB", "5 GiB"]


def test_ternary():
    def start(*words):
        script = pathlib.Path(__file__).parents[3] / "docs/benchmarks/ternary.py"
        return subprocess.run([sys.executable, script, *words], text=True, capture_output=True)
    done = start("network", "--seconds=0.01", "--json", "--backend=cpu_scalar")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["cases"]
    assert [(c["kind"], c["backend"]) for c in found] == [(k, "cpu_scalar") for k in ("ternary", "int8", "f32")]
    assert all(0 < c["milliseconds"]["median"] <= c["milliseconds"]["p99"] for c in found)
    assert "no case is called 'netwrok'" in start("netwrok").stderr
    assert start("8192 x 8192", "--seconds=0.01").stdout.count("matvec 8192 x 8192") == 2

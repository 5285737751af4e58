# SPDX-License-Identifier: Apache-2.0
"""collet.bench, on every backend that this machine has."""

import json
import os
import threading
import time
import warnings

import numpy as np
import pytest

import collet
from collet import bench, op

DEVICES = ["host"] + [d.choice for b in collet.backends() if b.state != "unavailable"
                      for d in b.devices]
X = np.linspace(0, 1, 64 * 64).reshape(64, 64)


@pytest.fixture(params=DEVICES, name="device")
def fixture_device(request):
    return request.param


def test_statistics():
    times = [float(t) for t in range(1, 101)]
    r = bench.BenchmarkResult("n", 100, times, 1.0, 1.5, 2.0, "host")
    assert (r.mean_ms, r.median_ms, r.min_ms, r.max_ms) == (50.5, 50.5, 1, 100)
    assert r.std_ms == pytest.approx(np.std(times))
    assert r.p95_ms == pytest.approx(95.05) and r.p99_ms == pytest.approx(99.01)
    assert r.memory_delta_gb == 0.5 and r.total_time_s == pytest.approx(5.05)
    assert r.calls_per_second == pytest.approx(100 / 5.05)
    made = json.loads(json.dumps(r.to_dict()))
    assert made["latency_ms"]["p99"] == r.p99_ms and made["memory_gb"]["delta"] == 0.5
    assert "p95 95.05" in r.summary() and "100 calls on host" in r.summary()


def test_calls_are_counted_and_measured(device):
    seen = []

    def work(a, b=0):
        seen.append((b, collet.get_backend()))
        time.sleep(0.002)
        return op.add(a, X)

    r = bench.benchmark_function(work, X, b=7, n_warmup=2, n_calls=5, device=device, name="work")
    before = collet.get_backend()
    assert seen == [(7, before if device == "host" else device)] * 7
    assert r.n_calls == len(r.times_ms) == 5 and r.device == device and r.name == "work"
    assert r.clock in ("host", "device") and (device != "host" or r.clock == "host")
    assert 0 <= r.min_ms <= r.median_ms <= r.p95_ms <= r.p99_ms <= r.max_ms
    # A busy device may execute the timestamp before a call only after the call has begun.
    assert (r.max_ms if r.clock == "device" else r.min_ms) > 1.5


def test_device_without_a_choice_is_that_in_force():
    with collet.using("cpu_scalar"):
        r = bench.benchmark_function(lambda: None, n_calls=3)
    assert r.device == "cpu_scalar:0"
    assert bench.Timer("cpu_scalar").device == "cpu_scalar:0"
    with pytest.raises(collet.UnknownBackendError):
        bench.benchmark_function(lambda: None, device="no_such")
    with pytest.raises(collet.InvalidError, match="n_calls is 0"):
        bench.benchmark_function(lambda: None, n_calls=0)
    with pytest.raises(ZeroDivisionError):
        bench.benchmark_function(lambda: 1 / 0, device="cpu_scalar")
    assert collet.get_backend() == "auto"


def test_a_timer_waits_for_the_device(device):
    timer = bench.Timer(device)
    with pytest.raises(collet.InvalidError, match="before Timer.start"):
        timer.stop()
    with timer:
        time.sleep(0.05)  # on a busy machine opencl's first timestamp is late
    assert 4 < timer.elapsed_ms < 5000 and timer.clock in ("host", "device")


def test_memory_and_leaks(device):
    if device == "host":
        pytest.skip("arrays in the host's memory are NumPy's")
    with collet.using(device):
        made = op.add(collet.asarray(X), collet.asarray(X))
        collet.finish()
        before = bench.memory_info(device)
        assert before["total"] > 0 and before["resident"] > 0
        assert all(v >= 0 for v in before.values())
        kept = [op.add(made, made) for _ in range(100)]  # 3 MB
        collet.finish()
        after = bench.memory_info(device)
        assert after["allocated"] - before["allocated"] >= 100 * X.nbytes / 2**30
        assert after["peak"] >= after["allocated"]
        with pytest.warns(RuntimeWarning, match=f"device {device} grew by 3"):
            assert not bench.check_memory_leak(before["allocated"], 1.0, device)
        kept.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert bench.check_memory_leak(before["allocated"], 1.0, device)


def test_trajectories():
    frames = [X + i for i in range(20)]
    r = bench.benchmark_md_trajectory(op.neg, frames, n_warmup=3, device="cpu_scalar")
    assert r.n_calls == 20
    kept, device = [], DEVICES[-1]

    def leak(x):
        kept.append(bytearray(os.urandom(1 << 20)))

    with pytest.warns(RuntimeWarning, match="memory of the process grew"):
        bench.benchmark_md_trajectory(leak, frames, n_warmup=0, device=device, leak_tolerance_mb=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bench.benchmark_md_trajectory(leak, frames, device=device, check_memory_leak=False)
    with pytest.raises(collet.InvalidError, match="number of inputs is 0"):
        bench.benchmark_md_trajectory(leak, [])


def test_comparison(capsys):
    found = bench.compare_implementations({"numpy": np.add, "collet": op.add}, X, X, n_calls=4,
                                          device="cpu_scalar")
    assert list(found) == ["numpy", "collet"] and found["collet"].name == "collet"
    bench.print_comparison_table(found)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and lines[1].startswith("numpy ") and lines[1].endswith(" 1.00x")


def test_devices_as_json(tmp_path, device):
    info = {} if device == "host" else bench.device_info(device)
    assert device == "host" or (info["choice"] == device and info["name"])
    specs = bench.gpu_specs(tmp_path / "specs.json")
    assert json.loads((tmp_path / "specs.json").read_text()) == json.loads(json.dumps(specs))
    assert [d["choice"] for d in specs["collet"]["devices"]] == DEVICES[1:]
    with pytest.raises(collet.NotFoundError):
        bench.device_info("host")


@pytest.mark.skipif("worker" not in [b.name for b in collet.backends()], reason="no worker")
def test_a_device_that_has_a_name():
    info = bench.device_info("worker:cpu_scalar")
    assert info["choice"] == "worker:cpu_scalar" and info["backend"] == "worker"
    assert json.dumps(info) and bench.memory_info("worker:cpu_scalar")["allocated"] == 0
    assert not [f for f in collet.doctor() if "worker" in f.what]


def test_trace(tmp_path, device):
    path = tmp_path / "trace.json"
    with collet.using("auto" if device == "host" else device):
        a = collet.asarray(X)
        with pytest.raises(collet.ShapeError), bench.profile_trace(path, device):
            b = a @ a + a
            collet.finish()
            threading.Thread(target=op.neg, args=(b,)).start()  # a call of another thread, which is not recorded
            op.add(b, collet.asarray(X[:2]))
    trace = json.loads(path.read_text())
    bars = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    for row in ("host", device) if device != "host" else ():
        names = [e["name"] for e in bars if e["cat"] == row]
        assert names == ["matmul", "add"]
        assert all(e["dur"] >= 0 for e in bars)
    starts = [e["ts"] for e in bars if e["tid"] == 0]
    assert starts == sorted(starts) and all(t >= 0 for t in starts)

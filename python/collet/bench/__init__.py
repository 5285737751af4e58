# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_bench.py
"""Measures times and memory of any Python callable, and describes devices.

    from collet import bench
    result = bench.benchmark_function(collet.op.matmul, a, b, device="opencl:0")
    print(result.summary())

`device` is a choice of one device ("cuda:0", "cpu_openmp"): measured calls compute on that device, and a
time is the difference of two timestamps of the device around the work. "host" and None do not change the
choice of backend; None measures on the first usable device of that choice. Sizes are in GB of 2**30 bytes.
Names and fields are the same as in MLFF-Distiller's benchmark utilities.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import json
import os
import platform
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import collet
from collet import _core
from collet._listing import own

_GB = 1 << 30


def _resolve(device: str | None) -> str:
    """The name of one device that can be used: "opencl:0"."""
    if device is not None:
        _core.timestamp(device)  # opens the device, or raises
        return device if device == "host" or ":" in device else device + ":0"
    choices = collet.get_backend().split(",")
    if choices == ["auto"]:
        choices = [b.name for b in collet.backends() if b.state != "unavailable"]
    for last, choice in enumerate(choices, 1 - len(choices)):
        try:
            return _resolve(choice.strip())
        except collet.UnavailableError:
            if last == 0:
                raise


def _resident():
    """Resident bytes of this process, including NumPy and all other libraries."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# ---- Devices


def device_info(device: str | None = None) -> dict[str, Any]:
    """A description of a device, as a dict that JSON can store. Unknown values are 0, "" or None.

    >>> bench.device_info("cpu_scalar:0")["backend"]
    'cpu_scalar'"""
    name = _resolve(device)
    for backend in collet.backends():
        details = backend.capabilities.get("devices", [])
        for index, found in enumerate(backend.devices):
            if found.choice == name:
                more = details[index] if index < len(details) else {}
                return {"backend": backend.name, "index": index, **found._asdict(),
                        "total_memory_gb": found.memory_bytes / _GB,
                        "multi_processor_count": found.compute_units,
                        "l2_cache_size": found.cache_bytes,
                        "compute_capability": more.get("compute_capability"), "details": more}
    backend, _, _ = name.partition(":")
    if name == "host":
        raise collet.NotFoundError("device_info: 'host' is not a device of a backend")
    # The description of a device that has a name instead of a number (worker:cuda). Everything else is
    # unknown.
    return {"backend": backend, "index": None,
            **collet.Device(name, name, "unknown", "", "", False, 0, 0, 0, 0, 0)._asdict(),
            "total_memory_gb": 0.0, "multi_processor_count": 0, "l2_cache_size": 0,
            "compute_capability": None, "details": {}}


def memory_info(device: str | None = None) -> dict[str, float]:
    """Memory of a device in GB: allocated by arrays, reserved from the system, free (reserved, not
    allocated), total, available (0: not known), peak of allocated; utilization (allocated of total)
    in per cent; and resident, the memory of this process on the host.

    >>> bench.memory_info("host")["allocated"] >= 0
    True"""
    m = collet.memory(_resolve(device))
    return {"allocated": m["current"] / _GB, "reserved": m["held"] / _GB,
            "free": max(0, m["held"] - m["current"]) / _GB, "total": m["total"] / _GB,
            "available": m["available"] / _GB, "peak": m["peak"] / _GB,
            "utilization": 100 * m["current"] / m["total"] if m["total"] else 0.0,
            "resident": _resident() / _GB}


def gpu_specs(path: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """The system and all usable devices of all backends, as a dict; written to `path` as JSON
    too.

    >>> "devices" in bench.gpu_specs()["collet"]
    True"""
    devices = []
    for backend in collet.backends():
        for found in backend.devices if backend.state != "unavailable" else ():
            with contextlib.suppress(collet.UnavailableError):
                devices.append(device_info(found.choice))
    specs = {"system": {"platform": platform.platform(),
                        "python_version": platform.python_version(),
                        "architecture": platform.machine()},
             "collet": {"version": collet.__version__, "device_count": len(devices),
                        "devices": devices}}
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(specs, file, indent=2)
    return specs


# ---- Times


class Timer:
    """The time between start and stop on a device, in ms; stop waits for the work in between, and for Arrays
    that were not computed yet. `clock` is then "device" or "host": the clock that measured the time.
    In a `with` statement the time becomes `elapsed_ms`.

    >>> with bench.Timer("cpu_scalar:0") as timer:
    ...     y = collet.sum(collet.ones(9))
    >>> timer.elapsed_ms > 0
    True"""

    def __init__(self, device: str | None = None) -> None:
        self.device = _resolve(device)
        self.clock: str | None = None
        self.elapsed_ms: float | None = None
        self._first: Any = None

    def start(self) -> None:
        """Starts the measurement.

        >>> timer = bench.Timer("cpu_scalar:0")
        >>> timer.start()
        >>> timer.stop() >= 0
        True"""
        _core.flush()
        self._first = _core.timestamp(self.device)

    def stop(self) -> float:
        """Stops the measurement, and returns the time in ms.

        >>> timer = bench.Timer("cpu_scalar:0")
        >>> timer.start()
        >>> timer.stop() >= 0
        True"""
        if self._first is None:
            raise collet.InvalidError("Timer.stop before Timer.start")
        _core.flush()
        nanoseconds, own = _core.elapsed(self._first, _core.timestamp(self.device))
        self.clock = "device" if own else "host"
        self.elapsed_ms = nanoseconds / 1e6
        return self.elapsed_ms

    def __enter__(self) -> Timer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


@dataclass
class BenchmarkResult:
    """Times of calls and memory of a device; the statistics are computed from times_ms."""

    name: str
    n_calls: int
    times_ms: list[float]
    memory_before_gb: float
    memory_after_gb: float
    peak_memory_gb: float
    device: str
    clock: str = "host"              # The clock: "host" or "device".
    resident_before_gb: float = 0.0  # Memory of this process on the host.
    resident_after_gb: float = 0.0
    mean_ms: float = field(init=False)
    std_ms: float = field(init=False)
    median_ms: float = field(init=False)
    min_ms: float = field(init=False)
    max_ms: float = field(init=False)
    p95_ms: float = field(init=False)
    p99_ms: float = field(init=False)

    def __post_init__(self) -> None:
        import numpy as np
        times = np.asarray(self.times_ms, dtype=float)
        for name, value in (("mean", times.mean()), ("std", times.std()), ("min", times.min()),
                            ("max", times.max()), ("median", np.median(times)),
                            ("p95", np.percentile(times, 95)), ("p99", np.percentile(times, 99))):
            setattr(self, name + "_ms", float(value))

    @property
    def memory_delta_gb(self) -> float:
        return self.memory_after_gb - self.memory_before_gb

    @property
    def resident_delta_gb(self) -> float:
        return self.resident_after_gb - self.resident_before_gb

    @property
    def total_time_s(self) -> float:
        return sum(self.times_ms) / 1000

    @property
    def calls_per_second(self) -> float:
        return self.n_calls / self.total_time_s if self.total_time_s > 0 else 0.0

    def summary(self) -> str:
        """A text of several lines."""
        return "\n".join([
            f"{self.name}: {self.n_calls} calls on {self.device}, clock of the {self.clock}",
            f"  ms a call   mean {self.mean_ms:.4f} (std {self.std_ms:.4f})  median "
            f"{self.median_ms:.4f}  min {self.min_ms:.4f}  max {self.max_ms:.4f}",
            f"              p95 {self.p95_ms:.4f}  p99 {self.p99_ms:.4f}",
            f"  calls/s     {self.calls_per_second:,.1f}",
            f"  memory, GB  before {self.memory_before_gb:.4f}  after {self.memory_after_gb:.4f}  "
            f"peak {self.peak_memory_gb:.4f}  of the process {self.resident_delta_gb:+.4f}"])

    def to_dict(self) -> dict[str, Any]:
        """The statistics as a dict that JSON can store, without the single times."""
        return {"name": self.name, "n_calls": self.n_calls, "device": self.device,
                "clock": self.clock,
                "latency_ms": {n: getattr(self, n + "_ms")
                               for n in ("mean", "std", "median", "min", "max", "p95", "p99")},
                "throughput": {"calls_per_second": self.calls_per_second,
                               "total_time_s": self.total_time_s},
                "memory_gb": {"before": self.memory_before_gb, "after": self.memory_after_gb,
                              "delta": self.memory_delta_gb, "peak": self.peak_memory_gb,
                              "resident_delta": self.resident_delta_gb}}


def _measure(func, warmup, calls, device, name):
    """Calls func for each pair of positional and keyword arguments of `warmup`, then of `calls`."""
    timer = Timer(device)
    choice = contextlib.nullcontext() if device in (None, "host") else collet.using(timer.device)
    times = []
    with choice:
        for args, kwargs in warmup:
            func(*args, **kwargs)
        collet.finish()
        gc.collect()
        collet.reset_peak(timer.device)
        before = memory_info(timer.device)
        for args, kwargs in calls:
            timer.start()
            result = func(*args, **kwargs)
            times.append(timer.stop())
            del result  # freed outside of the time
        collet.finish()
        gc.collect()
        after = memory_info(timer.device)
    return BenchmarkResult(name, len(times), times, before["allocated"], after["allocated"],
                           after["peak"], timer.device, timer.clock, before["resident"],
                           after["resident"])


def _count(what, value, minimum):
    if value < minimum:
        raise collet.InvalidError(f"{what} is {value}; it must be at least {minimum}")


def benchmark_function(func: Callable[..., Any], *args: Any, n_warmup: int = 10,
                       n_calls: int = 100, device: str | None = None, name: str = "Function",
                       **kwargs: Any) -> BenchmarkResult:
    """Measures n_calls calls func(*args, **kwargs), after n_warmup calls that are not measured. Returns a
    BenchmarkResult. Exceptions of func are passed to the caller.

    >>> bench.benchmark_function(np.sqrt, np.ones(9), n_calls=5, device="cpu_scalar:0").n_calls
    5"""
    _count("n_warmup", n_warmup, 0)
    _count("n_calls", n_calls, 1)
    call = (args, kwargs)
    return _measure(func, itertools.repeat(call, n_warmup), itertools.repeat(call, n_calls),
                    device, name)


def benchmark_md_trajectory(model_func: Callable[[Any], Any], inputs: Sequence[Any],
                            n_warmup: int = 10, device: str | None = None,
                            name: str = "MD Trajectory", check_memory_leak: bool = True,
                            leak_tolerance_mb: float = 10.0) -> BenchmarkResult:
    """Measures model_func(x) for each x of the sequence `inputs`, after one unmeasured call for each of the first
    n_warmup inputs. With check_memory_leak: issues a RuntimeWarning if the memory of the device or of the process
    grew by more than leak_tolerance_mb. Memory of results that are kept is included.

    >>> frames = [np.ones(9)] * 5
    >>> bench.benchmark_md_trajectory(np.sqrt, frames, device="cpu_scalar:0").n_calls
    5"""
    _count("n_warmup", n_warmup, 0)
    _count("the number of inputs", len(inputs), 1)
    calls = [((x,), {}) for x in inputs]
    result = _measure(model_func, calls[:n_warmup], calls, device, name)
    if check_memory_leak:
        for what, grown in (("device", result.memory_delta_gb),
                            ("process", result.resident_delta_gb)):
            _warn_if_grown(f"{name}, {result.n_calls} calls", what, grown, leak_tolerance_mb)
    return result


def _warn_if_grown(where, what, grown_gb, tolerance_mb):
    if grown_gb * 1024 <= tolerance_mb:
        return False
    warnings.warn(f"{where}: the memory of the {what} grew by {grown_gb * 1024:.2f} MB, more than "
                  f"{tolerance_mb:g} MB: a leak?", RuntimeWarning, stacklevel=3)
    return True


def check_memory_leak(initial_allocated: float, tolerance_mb: float = 10.0,
                      device: str | None = None) -> bool:
    """True if the memory allocated on the device has grown by at most tolerance_mb (MB) since an earlier
    memory_info(device)["allocated"], which is initial_allocated (GB). Otherwise False, with a RuntimeWarning.

    >>> before = bench.memory_info("host")["allocated"]
    >>> bench.check_memory_leak(before, device="host")
    True"""
    collet.finish()
    gc.collect()
    name = _resolve(device)
    grown = memory_info(name)["allocated"] - initial_allocated
    return not _warn_if_grown("check_memory_leak", f"device {name}", grown, tolerance_mb)


def compare_implementations(implementations: dict[str, Callable[..., Any]], *args: Any,
                            n_warmup: int = 10, n_calls: int = 100, device: str | None = None,
                            **kwargs: Any) -> dict[str, BenchmarkResult]:
    """Calls benchmark_function for each callable of a dict, with the same arguments. Returns a dict of
    BenchmarkResults.

    >>> found = bench.compare_implementations({"a": np.sqrt, "b": np.cbrt}, np.ones(9), device="cpu_scalar:0")
    >>> list(found)
    ['a', 'b']"""
    return {name: benchmark_function(func, *args, n_warmup=n_warmup, n_calls=n_calls, device=device,
                                     name=name, **kwargs)
            for name, func in implementations.items()}


def print_comparison_table(results: dict[str, BenchmarkResult]) -> None:
    """Prints the results of compare_implementations. The last column is relative to the first
    implementation.

    >>> found = bench.compare_implementations({"a": np.sqrt}, np.ones(9), device="cpu_scalar:0")
    >>> bench.print_comparison_table(found)
    Implementation ... Speedup
    a ... 1.00x"""
    base = next(iter(results.values())).mean_ms if results else 0.0
    print(f"{'Implementation':<30} {'Mean (ms)':>12} {'Std (ms)':>12} {'P95 (ms)':>12} "
          f"{'Calls/s':>12} {'Memory (GB)':>12} {'Speedup':>9}")
    for name, r in results.items():
        print(f"{name:<30} {r.mean_ms:12.4f} {r.std_ms:12.4f} {r.p95_ms:12.4f} "
              f"{r.calls_per_second:12.1f} {r.peak_memory_gb:12.4f} "
              f"{base / r.mean_ms if r.mean_ms else 0:8.2f}x")


# ---- Traces


class profile_trace:
    """Records the ops that the calling thread runs, as a Chrome trace (chrome://tracing, Perfetto):

    with bench.profile_trace("trace.json", device="opencl:0"):
        ...

    Each call of an op has two bars: the time inside the call, in the row of the host, and the time from the
    end of the device's earlier work to the end of the call's work, in the row of the device. The file is written at the
    end, even after an exception. Lazy Arrays are computed at the end. A bar "evaluate" is an expression, from
    collet.evaluate or from operators.
    """

    def __init__(self, path: str | os.PathLike[str], device: str | None = None) -> None:
        self.path = os.fspath(path)
        self.device = _resolve(device)
        self.events: list[Any] = []  # (op, backend, timestamps before, after)

    def _take(self):
        return _core.timestamp("host"), _core.timestamp(self.device)

    def _observe(self, name: str, begins: bool) -> None:
        if begins:
            self._open = self._take()
        else:
            self.events.append((name, collet.last_backend(), self._open, self._take()))

    def __enter__(self) -> profile_trace:
        _core.flush()
        self._start = self._take()
        self._before = _core.observe(self._observe)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            _core.flush()
        finally:
            _core.observe(self._before)
        process, thread = os.getpid(), threading.get_native_id()
        rows = ((0, thread, "host"), (1, 0, self.device))
        trace: list[dict[str, Any]] = [
            {"ph": "M", "name": "thread_name", "pid": process, "tid": tid, "args": {"name": name}}
            for _, tid, name in rows]
        for name, backend, first, last in self.events:
            for k, tid, row in rows:
                trace.append({"ph": "X", "name": name, "cat": row, "pid": process, "tid": tid,
                              "ts": _core.elapsed(self._start[k], first[k])[0] / 1e3,
                              "dur": _core.elapsed(first[k], last[k])[0] / 1e3,
                              "args": {"backend": backend}})
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": trace, "displayTimeUnit": "ms",
                       "otherData": {"device": self.device, "collet": collet.__version__}}, file)


def __dir__() -> list[str]:
    return own(globals())

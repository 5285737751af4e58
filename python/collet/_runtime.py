# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_runtime.py
"""Backends, their choice, and counters of the library: a thin layer on collet._core."""

from __future__ import annotations

from collections import namedtuple

from . import _core, _fallback

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_STATES = ("usable", "unavailable", "unproven")
_KINDS = ("unknown", "cpu", "gpu", "other")

# Named tuples: a dataclass would take a third of the time that `import collet` takes.
Device = namedtuple("Device", "choice name kind vendor driver own_memory memory_bytes "
                              "largest_array cache_bytes compute_units clock_mhz")
Device.__doc__ = """A device of a backend: `choice` is for set_backend, using and memory, `kind` is
"cpu", "gpu", "other" or "unknown". Unknown values are 0 or ""."""


class Backend(namedtuple("Backend", "name state reason version priority kernel_count path devices "
                                    "capabilities calibration")):
    """A backend that was found: `state` is "usable", "unavailable" (see `reason`) or "unproven": such a backend is
    tried at its first use. `capabilities` is the plugin's own description,
    `calibration` the file of `backend-bench calibrate` that is in use, "" for none.

    >>> collet.backends()[0].state
    'usable'"""

    __slots__ = ()

    def __repr__(self) -> str:
        return (f"Backend({self.name}: {self.state}" + (f", {self.reason}" if self.reason else "") +
                "".join(f", {d.choice} {d.name}" for d in self.devices) + ")")


def _device(row):
    shared = {k: row[k] for k in Device._fields if k not in ("kind", "own_memory")}
    return Device(kind=_KINDS[row["kind"]], own_memory=row["memory"] == 2, **shared)


def backends() -> list[Backend]:
    """The backends in the order in which "auto" prefers them; unusable ones come last.

    >>> "cpu_scalar" in [backend.name for backend in collet.backends()]
    True"""
    import json
    found = []
    for row in _core.backends():
        shared = {k: row[k] for k in ("name", "reason", "version", "priority", "kernel_count",
                                      "path", "calibration")}
        found.append(Backend(state=_STATES[row["state"]],
                             devices=tuple(_device(d) for d in row["devices"]),
                             capabilities=json.loads(row["capabilities"] or "{}"), **shared))
    return found


def set_backend(choice: str) -> str:
    """Chooses the backend of all threads: "auto", a name ("opencl"), a name with a device
    ("opencl:1"), or names in order of preference, separated by commas.

    Returns the first of the names that can be used; for "auto", the backend that it prefers for calls without other
    information. Raises UnknownBackendError or UnavailableError; the message lists the available names. After an error
    the previous choice stays in force.

    >>> collet.set_backend("cpu_scalar")
    'cpu_scalar'
    >>> collet.get_backend()
    'cpu_scalar'
    >>> name = collet.set_backend("auto")
    >>> name in [backend.name for backend in collet.backends()]
    True"""
    _core.set_backend(choice)
    usable = [backend.name for backend in backends() if backend.state != "unavailable"]
    parts = usable if choice == "auto" else [part.strip() for part in choice.split(",")]
    return next((part for part in parts if part.partition(":")[0] in usable or part == "auto"), choice)


def get_backend() -> str:
    """The current choice of backend in this context.

    >>> with collet.using("cpu_scalar"):
    ...     print(collet.get_backend())
    cpu_scalar"""
    return _core.get_backend()


class using:
    """Chooses a backend for the calling context (contextvars). set_backend chooses for all contexts:

    with collet.using("opencl:1"): ...

    The choice does not hold in other threads and asyncio tasks. Exception: tasks and asyncio.to_thread
    calls that are created inside, because they copy the context. While a generator is suspended inside
    the block, the choice holds for its caller too, because they share a context.

    >>> with collet.using("cpu_scalar"):
    ...     print(float(collet.sum(collet.ones(3))))
    3.0"""

    def __init__(self, choice: str) -> None:
        self._choice = choice
        self._opened: list[object] = []

    def __enter__(self) -> using:
        from . import _uses
        _uses.enter(self._choice, self._opened)
        return self

    def __exit__(self, *_: object) -> None:
        from . import _uses
        _uses.leave(self._opened)


class eager:
    """Makes elementwise functions and operators of Arrays eager in this thread. By default they are lazy:

    with collet.eager(): ...

    >>> with collet.eager():
    ...     y = collet.ones(3) * 2
    """

    def __enter__(self) -> eager:
        _core.eager(1)
        return self

    def __exit__(self, *_: object) -> None:
        _core.eager(-1)


def last_backend() -> str:
    """The backend that computed the last op of this thread; "" before the first.

    >>> with collet.using("cpu_scalar"):
    ...     x = collet.op.exp(np.ones(2))
    ... 
    >>> collet.last_backend()
    'cpu_scalar'"""
    return _core.last_backend()


def set_num_threads(count: int) -> None:
    """Limits the CPU threads of each call that starts from now on to `count`; 0: no limit. Processor affinity,
    the quota of a cgroup and the setting num_threads still apply. The threads of OpenCL's drivers are not limited.

    >>> collet.set_num_threads(2)
    >>> collet.set_num_threads(0)"""
    _core.set_num_threads(count)


def get_num_threads() -> int:
    """The number of CPU threads that a call may use at most: the smallest of set_num_threads, the setting
    num_threads and the processor affinity. A backend may use fewer (backend-info cpu_openmp says why).

    >>> collet.set_num_threads(1)
    >>> collet.get_num_threads()
    1
    >>> collet.set_num_threads(0)"""
    allowed, limit = _allowed_threads(), _core.thread_limit()
    return min(allowed, limit) if limit else allowed


def _allowed_threads() -> int:
    from os import sched_getaffinity
    processors = len(sched_getaffinity(0))
    setting = next(int(row["value"]) for row in _core.settings() if row["key"] == "num_threads")
    return min(processors, setting) if setting else processors


def register_threadpoolctl() -> None:
    """Makes threadpoolctl list and limit Collet's threads, as `user_api="collet"`. The first call of collet does so if
    threadpoolctl was imported before; call this function if threadpoolctl is imported later. ImportError if
    threadpoolctl is absent or older than 3.3.

    >>> collet.register_threadpoolctl()  # doctest: +SKIP"""
    from . import _threadpool
    _threadpool.register()


def configure(**settings: object) -> None:
    """Sets settings of libcore (docs/settings.md). They override the environment and the configuration
    file, and replace the settings of earlier calls. Write two underscores for a dot in a key. True
    and False mean "on" and "off". A call without arguments discards the settings of earlier calls.

    Restarts the library; raises BusyError while an Array exists or another thread computes. An unknown key or
    an invalid value raises here, and the earlier settings stay. The name of a backend is checked only at its first use.

    `numpy_fallback` is a setting of this package; it does not restart the library. It controls calls of NumPy's
    functions with Arrays if collet lacks the function or one of its arguments. "on", the default: NumPy computes in the
    host's memory, and Arrays on devices are refused. "copy": they are copied. "warn": NumPy computes, with a
    RuntimeWarning. "off": TypeError.

    >>> collet.configure(fallback=True)
    >>> collet.configure()"""
    alone = settings.keys() == {"numpy_fallback"}
    chosen = _fallback.known(settings.pop("numpy_fallback", None if settings else "on"))
    if settings or not alone:
        words = {k: "off" if v is False else "on" if v is True else v for k, v in settings.items()}
        _core.set_settings([f"{k.replace('__', '.')}={v}" for k, v in words.items()])
    if chosen is not None:
        _fallback.set_mode(chosen)


def counters() -> dict[str, int]:
    """Calls, fallbacks, temporaries and copied bytes of this thread. If NumPy's own function computed Arrays because
    collet lacks the function, the call is counted by name: "numpy.correlate".

    >>> "host" in str(collet.counters()) or bool(collet.counters())
    True"""
    return {**_core.counters(), **_fallback.counts()}


def explain(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> str:
    """Calls the function and describes each call of a kernel in it: which backend ran the kernel, why, by which
    library, and the measured times. A last line follows if a different backend ran the call than was predicted, for
    instance because the predicted backend had too little memory.

    >>> print(collet.explain(collet.op.matmul, np.ones((4, 4)), np.ones((4, 4))).splitlines()[0])
    matmul (float64 4 x 4 <- float64 4 x 4, float64 4 x 4)

    Lazy elementwise functions are explained only if `function` computes them: pass a function that
    reads the result."""
    texts: list[str] = []

    def note(name: str, begins: bool) -> None:
        if begins:
            texts.append(_core.explanation())
            return
        ran = _core.last_backend()
        expected = texts[-1].partition(" runs it.\n")
        device = expected[0].rpartition("\n")[2]
        if expected[1] and device != ran and not device.startswith(ran + ":"):
            texts[-1] += f"In fact {ran} ran it: {device} could not.\n"

    before = _core.observe(note)
    try:
        function(*arguments, **keywords)
    finally:
        _core.observe(before)
    return "".join(texts)


def memory(space: str = "host") -> dict[str, Any]:
    """Bytes in "host" or on a device ("opencl:0"): current, held, peak, total, available.

    In "host" `total` is the memory that this process may use, and `limit` names the limit: a control group
    (container, batch system), `ulimit -v`, or "" for none.

    >>> sorted(collet.memory("host"))
    ['available', 'current', 'held', 'limit', 'peak', 'total']"""
    return _core.memory(space)


def reset_peak(space: str = "host") -> None:
    """Resets the peak of `space`: from now on it is the largest use after this call.

    >>> collet.reset_peak()"""
    _core.reset_peak(space)


def trim() -> None:
    """Frees memory kept for later calls: scratch memory, pools, plans, compiled programs.

    >>> collet.trim()"""
    _core.trim()


def finish() -> None:
    """Computes all lazy Arrays of this thread. Waits for all work of this thread, and for calls that Ctrl-C
    interrupted. Raises the first error of this thread's work.

    >>> collet.finish()"""
    _core.flush()
    _core.finish()

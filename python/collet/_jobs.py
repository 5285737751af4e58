# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/clients/test_scatter_clients.py
"""Tasks on other processes and machines: `client=` is a Client of dask.distributed, or an executor of
concurrent.futures. Code outside of this module treats both in the same way."""

from __future__ import annotations

import concurrent.futures
import contextlib
import contextvars
import os
import pickle
import socket
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from . import _core
from ._core import CancelledError, FailedError, ForkedError, UnavailableError

_ATTEMPTS = 3  # Attempts for a task whose arguments were lost with a worker. Dask itself repeats other tasks.
_SMALL = 1 << 20  # Bytes that may pass through Dask's scheduler.
_FEW = 4  # Tasks at a time for a client that does not report its number of workers.

_kept: contextvars.ContextVar[list[str]] = contextvars.ContextVar("collet._jobs.kept")
_stop: contextvars.ContextVar[threading.Event] = contextvars.ContextVar("collet._jobs.stop")


class Task(NamedTuple):
    """The call function(*arguments), or function(shared.value, *arguments). Messages contain `name`."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    shared: Shared | None = None


class Shared:
    """An argument that several tasks share. It is sent once where the client supports that."""

    def __init__(self, value: object) -> None:
        self.value = value
        self.sent: Any = None


class Outcome(NamedTuple):
    """The value or the error of a task, and the texts of its warnings."""

    task: Task
    value: Any
    error: Exception | None
    warnings: list[str]


# ---- In a task ------------------------------------------------------------------------------------


def keep(text: str) -> bool:
    """Keeps a warning for the process that requested the result. False if this is not a task on a worker."""
    texts = _kept.get(None)
    if texts is not None:
        texts.append(text)
    return texts is not None


def check() -> None:
    """Raises CancelledError if the task runs in the caller's process and was cancelled."""
    event = _stop.get(None)
    if event and event.is_set():
        raise CancelledError("the iterator over the results was closed")


def _call(function: Callable[..., Any], arguments: tuple[Any, ...],
          stop: threading.Event | None = None) -> tuple[Any, list[str]]:
    texts: list[str] = []

    def call() -> Any:
        _kept.set(texts)
        if stop:
            _stop.set(stop)
            check()
        return function(*arguments)

    return contextvars.copy_context().run(call), texts


class _Caller(NamedTuple):
    """The settings of the process that requests the results, for a worker."""

    version: str
    host: str
    process: int
    backend: str  # With "auto" the worker chooses.
    threads: int  # Threads of each worker; 0: not known.


_limit_lock = threading.Lock()
_limited = (0, 0)  # the process that was limited, and its number of threads


def _limit_threads(caller: _Caller) -> None:
    """Limits the process to its share of the processors, unless its own settings give a number of
    threads."""
    global _limited
    count = caller.threads
    distributed = sys.modules.get("distributed")
    if distributed:
        with contextlib.suppress(ValueError):  # no worker of Dask
            count = distributed.get_worker().state.nthreads
    with _limit_lock:
        own = os.getpid(), count
        if not count or _limited == own or (caller.host, caller.process) == (_host(), own[0]):
            return
        found = next(row for row in _core.settings() if row["key"] == "num_threads")
        if (found["source"] == "default" and not _core.thread_limit()) or _limited[0] == own[0]:
            _core.set_num_threads(count)
        _limited = own


def _host() -> str:
    return socket.gethostname()


def perform(caller: tuple[Any, ...], call: bytes, shared: bytes | None) -> tuple[Any, ...]:
    """Runs the task on a worker. Returns (value, texts of warnings), or ((), reason) if the worker cannot run it.
    The parameters of this function never change, because both sides may have different versions."""
    if caller[0] != _core.version:
        return (), (f"{_host()} ({sys.executable}) has collet {_core.version}, this process "
                    f"{caller[0]}: install the same version on both sides")
    own = _Caller(*caller)
    _limit_threads(own)
    function, arguments = pickle.loads(call)
    if shared is not None:
        arguments = (pickle.loads(shared), *arguments)
    if own.backend == "auto":
        return _call(function, arguments)
    from ._runtime import using
    with using(own.backend):
        return _call(function, arguments)


# ---- Clients --------------------------------------------------------------------------------------


def _packed(value: object) -> bytes:
    """Pickles functions of scripts and lambdas too, if cloudpickle is installed. Dask installs it."""
    try:
        import cloudpickle  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return pickle.dumps(value)
    packed: bytes = cloudpickle.dumps(value)
    return packed


def _caller(threads: int = 0) -> tuple[Any, ...]:
    return tuple(_Caller(_core.version, _host(), os.getpid(), _core.get_backend(), threads))


def _entry(caller: tuple[Any, ...], call: Any, shared: Any) -> tuple[Any, ...]:
    """Packs a call so that every worker can unpickle it. If Dask unpickled the function itself and a worker lacked
    its module, Dask would wait for ever."""
    return (eval, "__import__('collet._jobs')._jobs.perform(caller, call, shared)",
            {"caller": caller, "call": call, "shared": shared})


class _Lazy:
    """A future whose result() makes the call."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self.result = function

    def done(self) -> bool:
        return True

    def cancel(self) -> None:
        pass

    def add_done_callback(self, function: Callable[[Any], Any]) -> None:
        function(self)


def _arguments(task: Task) -> tuple[Any, ...]:
    return task.arguments if task.shared is None else (task.shared.value, *task.arguments)


class _Here:
    """Runs tasks in this process, one after the other. Base class of the other clients."""

    window_per_slot = 1

    def slots(self) -> int:
        return 1

    def submit(self, task: Task, stop: threading.Event) -> Any:
        del stop
        return _Lazy(lambda: _call(task.function, _arguments(task)))

    def is_lost(self, error: BaseException) -> bool:
        """Whether the task failed because its arguments are no longer on any worker."""
        del error
        return False


class _Executor(_Here):
    """An executor of concurrent.futures."""

    window_per_slot = 2

    def __init__(self, executor: concurrent.futures.Executor) -> None:
        self._executor = executor

    def slots(self) -> int:
        for name in ("_max_workers", "num_workers"):  # executors of concurrent.futures and loky; of mpi4py
            found = getattr(self._executor, name, None)
            if isinstance(found, int) and found > 0:
                return found
        return _FEW

    def submit(self, task: Task, stop: threading.Event) -> Any:
        if isinstance(self._executor, concurrent.futures.ThreadPoolExecutor):
            return self._executor.submit(contextvars.copy_context().run, _call, task.function,
                                         _arguments(task), stop)
        threads = 0
        if isinstance(self._executor, concurrent.futures.ProcessPoolExecutor):
            threads = max(1, len(os.sched_getaffinity(0)) // self.slots())
        shared = task.shared
        if shared and shared.sent is None:
            shared.sent = _packed(shared.value)
        return self._executor.submit(*_entry(_caller(threads), _packed(task[1:3]),
                                             shared.sent if shared else None))


class _Dask(_Here):
    """A Client of dask.distributed. If a worker ends, the scheduler runs its tasks again on other workers."""

    window_per_slot = 2

    def __init__(self, client: Any) -> None:
        if client.asynchronous:
            raise TypeError("client is an asynchronous Client of dask.distributed: make one without "
                            "asynchronous=True")
        if client.status == "closed":
            raise _core.InvalidError("client is a closed Client of dask.distributed: make a new Client")
        self._client = client
        self._slots, self._asked = 0, -1.0

    def slots(self) -> int:
        if self._asked < 0 or time.monotonic() - self._asked > 2:  # asked again after 2 s: workers come and go
            self._slots = sum(self._client.nthreads().values())
            self._asked = time.monotonic()
        return self._slots or _FEW

    def submit(self, task: Task, stop: threading.Event) -> Any:
        call: Any = _packed(task[1:3])
        if len(call) > _SMALL:
            call = self._sent(call)
        shared = task.shared
        if shared and (shared.sent is None or shared.sent.status in ("cancelled", "lost")):
            shared.sent = self._sent(_packed(shared.value), broadcast=True)
        return self._client.submit(*_entry(_caller(), call, shared.sent if shared else None),
                                   key=f"collet{task.function.__name__}-{uuid.uuid4()}")

    def _sent(self, data: bytes, **options: Any) -> Any:
        """Sends bytes to the memory of a worker, or of all workers."""
        for left in range(_ATTEMPTS - 1, -1, -1):
            try:
                return self._client.scatter(data, hash=False, **options)
            except OSError:  # the worker ended meanwhile
                if not left:
                    raise
                time.sleep(1)

    def is_lost(self, error: BaseException) -> bool:
        return isinstance(error, concurrent.futures.CancelledError) or \
            type(error).__name__ == "FutureCancelledError"


def _service(client: Any) -> Any:
    if client is None:
        return _Here()
    distributed = sys.modules.get("distributed")
    if distributed and isinstance(client, distributed.Client):
        return _Dask(client)
    if isinstance(client, concurrent.futures.Executor):
        return _Executor(client)
    raise TypeError(f"client is {client!r}, not a Client of dask.distributed, an executor of "
                    "concurrent.futures, or None")


def slots(client: Any) -> int:
    """How many tasks run at a time."""
    count: int = _service(client).slots()
    return count


# ---- Results in order -----------------------------------------------------------------------------


class _Pending:
    def __init__(self, task: Task, future: Any) -> None:
        self.task, self.future, self.attempts = task, future, 1


class Run(Iterator[Outcome]):
    """Yields the outcomes of tasks, in order. window: the largest number of submitted tasks whose outcomes have not
    been taken; None: two for each worker. Calls `report` with the number of completed tasks about 20 times a second.

    Raises an error that would affect every other task too: UnavailableError if a worker lacks this version of collet,
    FailedError if the pool is broken, and ForkedError. An exception ends the iteration and cancels tasks that have
    not begun."""

    def __init__(self, client: Any, tasks: Iterable[Task], window: int | None = None) -> None:
        if window is not None and window < 1:
            raise _core.InvalidError(f"window is {window}; it must be at least 1")
        self._service = _service(client)
        self._tasks: Iterator[Task] = iter(tasks)
        self._window = window
        self.report: Callable[[int], object] | None = None
        self._pending: deque[_Pending] = deque()
        self._taken = 0
        self._wake, self._stop = threading.Event(), threading.Event()

    def __next__(self) -> Outcome:
        try:
            self._fill()
            if not self._pending:
                self.close()
                raise StopIteration
            outcome = self._outcome(self._wait())
            self._taken += 1
            self._pending.popleft()
            self._tell()
            return outcome
        except StopIteration:
            raise
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Cancels the tasks that have not begun, and the tasks that run in this process."""
        self._stop.set()
        self._tasks = iter(())
        while self._pending:
            with contextlib.suppress(NotImplementedError):  # futures of Parsl
                self._pending.pop().future.cancel()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_pending"):
            self.close()

    def _submit(self, task: Task) -> Any:
        try:
            future = self._service.submit(task, self._stop)
        except concurrent.futures.BrokenExecutor as error:
            raise self._broken() from error
        future.add_done_callback(lambda _: self._wake.set())
        return future

    def _fill(self) -> None:
        window = self._window or self._service.window_per_slot * self._service.slots()
        while len(self._pending) < window:
            task = next(self._tasks, None)
            if task is None:
                return
            self._pending.append(_Pending(task, self._submit(task)))

    def _tell(self) -> None:
        if self.report:
            self.report(self._taken + sum(p.future.done() for p in self._pending))

    def _wait(self) -> _Pending:
        """Waits for the first task."""
        first = self._pending[0]
        while not first.future.done():
            self._wake.wait(0.05)
            self._wake.clear()
            self._tell()
        return first

    def _outcome(self, first: _Pending) -> Outcome:
        while True:
            try:
                found = first.future.result()
                break
            except Exception as error:
                if not self._service.is_lost(error) or first.attempts == _ATTEMPTS:
                    return Outcome(first.task, None, self._explained(first.task, error), [])
                first.attempts += 1
                first.future = self._submit(first.task)
                self._wait()
        value, texts = found
        if isinstance(texts, str):
            raise UnavailableError(f"{first.task.name}: the worker {texts}")
        return Outcome(first.task, value, None, texts)

    def _broken(self) -> FailedError:
        names = ", ".join(p.task.name for p in self._pending)
        return FailedError(f"{names or 'client'}: a process of the pool has ended, perhaps killed for lack of memory, "
                           "and the pool with it: make another executor, with fewer workers if memory "
                           "was the reason, and repeat what is missing. A script needs `if __name__ == "
                           "\"__main__\":` around what it does")

    def _explained(self, task: Task, error: Exception) -> Exception:
        """Makes the error that is reported for a task from the exception of its future."""
        if isinstance(error, concurrent.futures.BrokenExecutor):
            raise self._broken() from error
        if isinstance(error, ForkedError):
            raise error
        if isinstance(error, ImportError) and (error.name or "").partition(".")[0] == "collet":
            raise UnavailableError(
                f"{task.name}: a worker cannot import {error.name}: install collet-runtime "
                f"{_core.version} there") from error
        if type(error).__name__ == "KilledWorker":
            return _caused(FailedError(
                f"{task.name}: workers that computed it ended {self._deaths(error)}times, perhaps "
                "killed for lack of memory: see the logs of the workers"), error)
        if self._service.is_lost(error):
            return _caused(FailedError(f"{task.name}: was cancelled on the cluster, or lost with "
                                       f"its workers {_ATTEMPTS} times"), error)
        return error

    @staticmethod
    def _deaths(error: Any) -> str:
        count = getattr(error, "allowed_failures", None)
        return f"{count + 1} " if isinstance(count, int) else "several "


def _caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error

# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_scatter.py, python/tests/test_ternary.py, python/tests/md/test_md_extract.py
"""Runs calls in a separate thread, so that Ctrl-C interrupts the caller, and chooses the devices that share
the work."""

from __future__ import annotations

import contextvars
import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ._core import InvalidError


class Job:
    """A call of function(*arguments) in another thread. It runs in a copy of the caller's context, so it uses the
    caller's choice of backend. This class cannot stop the call; the object that computes may have a method
    for that."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self._done = threading.Event()
        self._result: Any = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=contextvars.copy_context().run,
                                        args=(self._run, function, arguments), name="collet.job")

    def _run(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        try:
            self._result = function(*arguments)
        except BaseException as error:
            self._error = error
        finally:
            self._done.set()

    def wait(self, report: Callable[[], object] | None = None) -> Any:
        """Waits for the result of this call, or of an interrupted call. While waiting, calls report() 20
        times a second."""
        if self._thread.ident is None:
            self._thread.start()
        while not self._done.wait(0.05):
            if report:
                report()
        if self._error:
            raise self._error
        return self._result


def check_devices(devices: Sequence[str] | None) -> list[str]:
    """The choices of devices as a list; [] for None."""
    if devices is None:
        return []
    if isinstance(devices, str) or not devices or len(set(devices)) != len(devices):
        raise InvalidError(f"devices are {devices!r}, not a list of one or more different devices")
    return list(devices)


def warn_of_devices(shares: Iterable[tuple[str, int, float, str | None]], told: set[str],
                    stacklevel: int) -> None:
    """Issues a RuntimeWarning for each device that failed and is not in `told` yet."""
    for device, _, _, error in shares:
        if error is not None and device not in told:
            told.add(device)
            warnings.warn(f"the device {device} failed; the other devices compute its part: {error}", RuntimeWarning,
                          stacklevel=stacklevel + 1)

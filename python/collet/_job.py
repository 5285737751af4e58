# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_scatter.py, python/tests/md/test_md_extract.py
"""Calls in a separate thread, so that Ctrl-C interrupts the caller."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any


class Job:
    """A call of function(*arguments), in a copy of the caller's context, which has its choice of
    backend. It cannot be stopped from here, but its object may be told to stop."""

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
        """The result, of this call or of one that was interrupted; meanwhile report() is called, 20
        times a second."""
        if self._thread.ident is None:
            self._thread.start()
        while not self._done.wait(0.05):
            if report:
                report()
        if self._error:
            raise self._error
        return self._result

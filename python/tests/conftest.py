# SPDX-License-Identifier: Apache-2.0
"""Fixtures of all tests. Also gives SIGINT its default handler: a shell starts background jobs with SIGINT ignored, and
then tests of Ctrl-C would fail."""

import signal

import numpy as np
import pytest

import collet

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def all_wait():
    """Makes small Arrays lazy too."""
    before = collet._core.wait_from(0)
    yield
    collet._core.wait_from(before)


@pytest.fixture
def on_alarm():
    """A function that installs a handler of SIGALRM. At the end of the test a handler that still runs may start the
    timer again, and a signal may be pending in another thread. So SIGALRM is ignored and the timer stopped before
    the default action, which kills the process, is restored."""
    before = signal.getsignal(signal.SIGALRM)
    yield lambda handler: signal.signal(signal.SIGALRM, handler)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def numpy_2():
    """Makes NumPy 1 promote dtypes by NumPy 2's rules, which Collet follows with any NumPy."""
    before = getattr(np, "_get_promotion_state", lambda: None)()
    if before:
        np._set_promotion_state("weak")
    yield
    if before:
        np._set_promotion_state(before)

# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_runtime.py
"""python -m collet runs backend-info, with its options. Texts that it prints name this command instead of
backend-info. --doctor alone runs collet.doctor(), which also examines the Python package. python -m collet calibrate
runs backend-bench calibrate, for the libraries that this package uses; compare, sweep, trajectory and roofline run
bench/_studies.py."""

import os
import signal
import sys

from . import _plugins


def end(number, frame):
    """Raises an exception; _studies then ends the program that it has started."""
    sys.exit(128 + number)


def guarded(function):
    """Calls the function. Signals and a standard output that cannot be written end the program as they end programs in C:
    with one line at most. Returns the exit status."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        if sys.stdout is None:
            sys.exit("python -m collet: standard output is closed")
        try:
            return function()
        finally:
            sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python still writes output when it ends
        sys.exit(f"python -m collet: {error.filename or 'standard output'}: {error.strerror}")


def main():
    if sys.argv[1:] == ["--doctor"]:
        from ._doctor import examine
        return guarded(lambda: print(examine()))
    if sys.argv[1:2] and sys.argv[1] in ("compare", "sweep", "trajectory", "roofline"):
        from .bench._studies import main as study
        return guarded(lambda: study(sys.argv[1:]))
    command = _plugins.tool("backend-bench" if sys.argv[1:2] == ["calibrate"] else "backend-info")
    if sys.argv[1:2] != ["calibrate"]:
        command = [*command, "--called", "python -m collet"]
    try:
        os.execv(command[0], [*command, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"python -m collet: {command[0]}: {error.strerror}")


sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/compat/test_compat_mlff.py
"""python -m collet.compat.NAME: an unchanged program, with a drop-in installed."""

import os
import runpy
import sys


def run(usage, install, first=1):
    """Calls install() and runs a program, as Python itself would. The process's arguments from index `first` on are
    "-m MODULE ARGUMENT..." or "FILE ARGUMENT..."."""
    arguments = sys.argv[first:]
    if not arguments or arguments == ["-m"]:
        sys.exit(f"usage: {usage} (-m MODULE | FILE) [ARGUMENT...]")
    install()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")

# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/compat/test_compat_mlff.py
"""python -m collet.compat.NAME: a program that is not changed runs on a drop-in."""

import os
import runpy
import sys


def run(name, install):
    """Calls install() and runs the program that the arguments of the process name."""
    arguments = sys.argv[1:]
    if not arguments or arguments == ["-m"]:
        sys.exit(f"usage: python -m collet.compat.{name} (-m MODULE | FILE) [ARGUMENT...]")
    install()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")

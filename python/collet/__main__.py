# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_runtime.py
"""python -m collet: backend-info, with its options; texts name this command instead. --doctor alone runs collet.doctor(), which also
examines the Python package. python -m collet calibrate: backend-bench calibrate, for the libraries that
this package uses; compare, sweep, trajectory, roofline: bench/_studies.py."""

import os
import sys

from . import _plugins


def main():
    if sys.argv[1:] == ["--doctor"]:
        from ._doctor import examine
        print(examine())
        return
    if sys.argv[1:2] and sys.argv[1] in ("compare", "sweep", "trajectory", "roofline"):
        from .bench._studies import main as study
        sys.exit(study(sys.argv[1:]))
    command = _plugins.tool("backend-bench" if sys.argv[1:2] == ["calibrate"] else "backend-info")
    if sys.argv[1:2] != ["calibrate"]:
        command = [*command, "--called", "python -m collet"]
    try:
        os.execv(command[0], [*command, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"python -m collet: {command[0]}: {error.strerror}")


main()

# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_runtime.py
"""python -m collet: backend-info, with its options; --doctor alone is collet.doctor(), which also knows what concerns
Python. python -m collet calibrate: backend-bench calibrate, for the
libraries that this package uses."""

import os
import sys

from . import _core, _plugins


def main():
    if sys.argv[1:] == ["--doctor"]:
        from ._doctor import examine
        print(examine())
        return
    tool = "backend-bench" if sys.argv[1:2] == ["calibrate"] else "backend-info"
    program = os.path.join(os.path.dirname(_core.directory()), "bin", tool)
    try:
        os.execv(program, [program, *(f"--default={d}" for d in _plugins.defaults()), *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"python -m collet: {program}: {error.strerror}")


main()

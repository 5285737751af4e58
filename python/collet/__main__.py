# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_runtime.py
"""python -m collet: backend-info, with its options."""

import os
import sys

from . import _core, _plugins


def main():
    program = os.path.join(os.path.dirname(_core.directory()), "bin", "backend-info")
    try:
        os.execv(program, [program, *(f"--default={d}" for d in _plugins.defaults()), *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"python -m collet: {program}: {error.strerror}")


main()

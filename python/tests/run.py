# SPDX-License-Identifier: Apache-2.0
"""run.py FILE...: pytest for ctest, where 77 means skipped."""

import sys

if __name__ == "__main__":  # child processes of tests import this file, and must not run the tests
    try:
        import numpy  # noqa: F401
        import pytest
    except ImportError as error:
        print(f"skipped: {error} ({sys.executable})")
        sys.exit(77)
    code = pytest.main(["-q", "-ra", "-p", "no:cacheprovider", *sys.argv[1:]])
    sys.exit(77 if code == pytest.ExitCode.NO_TESTS_COLLECTED else code)  # modules are skipped

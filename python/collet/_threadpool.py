# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_threads.py
"""Collet's number of threads for threadpoolctl, which scikit-learn, joblib and others use.

threadpoolctl finds libraries by the names of their files. It limits libgomp too, but that limit does not apply to
Collet's calls, because these are not OpenMP regions."""

import threadpoolctl

from . import _core
from ._runtime import _allowed_threads, get_num_threads, set_num_threads

_registered = False


def register() -> None:
    """Registers Collet with threadpoolctl. Raises ImportError if threadpoolctl is older than 3.3: older versions
    accept only their own libraries."""
    global _registered
    if not hasattr(threadpoolctl, "LibController"):
        raise ImportError("Collet's threads need threadpoolctl 3.3 or later: pip install -U threadpoolctl")
    if _registered:
        return

    class Controller(threadpoolctl.LibController):
        user_api = internal_api = "collet"
        filename_prefixes = ("libcollet-core",)
        check_symbols = ("collet_set_thread_limit",)

        def get_num_threads(self):
            return get_num_threads()

        def set_num_threads(self, num_threads):
            """Sets the limit; the number of all processors removes it. threadpoolctl restores this number if there
            was no limit before."""
            set_num_threads(num_threads if num_threads < _allowed_threads() else 0)

        def get_version(self):
            return _core.version

    threadpoolctl.register(Controller)
    _registered = True

# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_threads.py
"""Collet's number of threads for threadpoolctl, which scikit-learn, joblib and others use.

threadpoolctl finds libraries by the names of their files. libgomp is among them, but Collet's calls are not OpenMP
regions, so its limit does not apply to them."""

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
            """Sets the limit. threadpoolctl restores the number that it read before: if that is the number of all
            processors, removes the limit."""
            set_num_threads(num_threads if num_threads < _allowed_threads() else 0)

        def get_version(self):
            return _core.version

    threadpoolctl.register(Controller)
    _registered = True

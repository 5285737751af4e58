# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/op/test_numpy_fallback.py
"""The setting numpy_fallback, and how often NumPy's own functions computed Arrays."""

from __future__ import annotations

import threading

MODES = ("on", "copy", "warn", "off")

_mode = "on"
_calls = threading.local()


def mode() -> str:
    return _mode


def known(value: object) -> str | None:
    """Returns a mode in the form in which it is stored: True and False become "on" and "off". Raises ValueError for
    an unknown mode."""
    word = {True: "on", False: "off"}[value] if isinstance(value, bool) else value
    if word is not None and word not in MODES:
        raise ValueError(f"numpy_fallback is {value!r}; it is one of {', '.join(map(repr, MODES))}")
    return word  # type: ignore[return-value]


def set_mode(word: str) -> None:
    global _mode
    _mode = word


def count(name: str) -> None:
    """Counts a call of NumPy's function by this thread."""
    counts = _calls.__dict__
    counts[name] = counts.get(name, 0) + 1


def counts() -> dict[str, int]:
    """The calls of this thread, by the names of the functions."""
    return dict(_calls.__dict__)

# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_vmap.py
"""collet.vmap."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TypeVar

import numpy as np

from .. import _core
from .. import _hook as hook
from .. import functions as f
from .._array.creation import asarray, shared
from .._array.operands import axis_of
from .._standard.array import Array
from . import batching_rules, tape, traced  # noqa: F401 (the rules, and the members of arrays)
from .tape import Batched, Traced
from .trees import leaves, mapped, node

__all__ = ["vmap"]

P = ParamSpec("P")
R = TypeVar("R")


def _axes(axes: Any, tree: Any, name: str, where: str) -> Iterator[Any]:
    """Yields the axis of each leaf of `tree`. axes: an int or None for all leaves, or a tree of ints and None. An int
    or None in the place of a subtree holds for all leaves of the subtree."""
    if axes is None or hasattr(axes, "__index__"):
        yield from (axes for _ in leaves(tree))
        return
    inner, given = node(tree), node(axes)
    if inner is None or given is None or len(inner.children) != len(given.children):
        raise TypeError(f"vmap: {name} has {axes!r} for {where}, {type(tree).__name__}"
                        f"{f' of {len(inner.children)}' if inner else ''}: give an int, None, or the same structure")
    if isinstance(tree, dict):
        if not isinstance(axes, dict) or axes.keys() != tree.keys():
            raise TypeError(f"vmap: {name} has {axes!r} for {where}, a dict with the keys {', '.join(map(repr, tree))}")
        given = given._replace(children=[axes[key] for key in tree])
    for part, child in zip(given.children, inner.children):
        yield from _axes(part, child, name, where)


class _Run:
    """One call of a function. Each argument with an axis becomes a Batched array, which looks like one row."""

    def __init__(self, arguments: tuple[Any, ...], keywords: dict[str, Any], in_axes: Any) -> None:
        self.of_trace, self.size, self.first = next(tape.numbers), -1, ""
        if isinstance(in_axes, (list, tuple)) and len(in_axes) != len(arguments):
            raise TypeError(f"vmap: in_axes has {len(in_axes)} parts, and there are {len(arguments)} positional arguments")
        each = in_axes if isinstance(in_axes, (list, tuple)) else [in_axes] * len(arguments)
        self.arguments = [self._split(tree, axes, f"argument {i}") for i, (tree, axes) in enumerate(zip(arguments, each))]
        self.keywords = {name: self._split(tree, 0, f"argument {name}") for name, tree in keywords.items()}
        if self.size < 0:
            raise ValueError("vmap: no argument has rows: in_axes is None for all arrays")

    def _split(self, tree: Any, axes: Any, where: str) -> Any:
        chosen = _axes(axes, tree, "in_axes", where)
        return mapped(lambda leaf: self._rows(leaf, next(chosen), where), tree)

    def _rows(self, leaf: Any, axis: Any, where: str) -> Any:
        if isinstance(leaf, (np.ndarray, np.generic)):
            leaf = shared(leaf)
        if axis is None or type(leaf) in (str, bytes):
            return leaf
        if not isinstance(leaf, (Array, Traced)) or tape.is_number(leaf):
            raise TypeError(f"vmap: {where} has {leaf!r}, which has no rows: set its axis in in_axes to None")
        if not leaf.ndim:
            raise _core.ShapeError(f"vmap: {where} has an array without axes: set its axis in in_axes to None")
        place = axis_of(axis, leaf.ndim)
        rows = leaf.shape[place]
        if self.size not in (-1, rows):
            raise _core.ShapeError(f"vmap: {where} has {rows} rows along axis {place}, but {self.first} has {self.size}")
        if self.size < 0:
            self.size, self.first = rows, where
        return Batched(f.moveaxis(leaf, place, 0), self.of_trace)

    def joined(self, result: Any, out_axes: Any) -> Any:
        chosen = _axes(out_axes, result, "out_axes", "the result")
        return mapped(lambda leaf: self._join(leaf, next(chosen)), result)

    def _join(self, leaf: Any, axis: Any) -> Any:
        rows = type(leaf) is Batched and leaf.of_trace == self.of_trace
        if axis is None:
            if rows:
                raise ValueError("vmap: out_axes is None for a result that differs from row to row")
            return leaf
        if type(leaf) in (bool, int, float, complex) or isinstance(leaf, (np.ndarray, np.generic)):
            leaf = asarray(leaf)
        if not isinstance(leaf, (Array, Traced)):
            raise TypeError(f"vmap: the function returned {type(leaf).__name__}, not an array: leave it out, or set its "
                            "axis in out_axes to None")
        whole = leaf.value if rows else f.broadcast_to(leaf, (self.size, *leaf.shape))
        return f.moveaxis(whole, 0, axis_of(axis, whole.ndim))


def vmap(fun: Callable[P, R], in_axes: Any = 0, out_axes: Any = 0, *, randomness: str = "error"
         ) -> Callable[P, R]:
    """A function that computes `fun` for all rows of its arguments at once, as in JAX: `fun` sees one row. in_axes: the
    axis of the arguments that counts the rows. It is an int for all arguments, or a tuple with an entry for each
    argument: an int, None if all rows share the argument, or a tree with an axis for each array. out_axes: the axis
    that counts the rows in the results. In arguments by name, axis 0 counts the rows.

    randomness: whether a random.Generator gives the rows "different" numbers or the "same"; "error": using one raises.

    docs/python/transforms.md lists the functions that are called once for each row, and the functions that raise
    UnsupportedError.

    >>> collet.vmap(lambda x, y: x @ y, in_axes=(0, None))(collet.ones((3, 2)), collet.ones(2))
    collet.Array([2., 2., 2.], dtype=float64, shape=(3,), device='host')"""
    if randomness not in ("error", "same", "different"):
        raise ValueError(f"vmap: randomness is {randomness!r}; it can be 'error', 'same' or 'different'")

    @functools.wraps(fun)
    def batched(*arguments: P.args, **keywords: P.kwargs) -> Any:
        run = _Run(arguments, keywords, in_axes)
        hook.start(tape)
        try:
            with tape.level(run.of_trace, "vmap", run.size, randomness):
                return run.joined(fun(*run.arguments, **run.keywords), out_axes)
        finally:
            hook.stop()

    return batched

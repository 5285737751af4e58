# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/generator/test_random_generator.py
"""Random orders and samples of elements. A random order is the order of random 64-bit keys."""

from __future__ import annotations

import math
import operator

from .. import _hook
from ._source import Source, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._source import Array, Size


_SORTED = 10_000  # choice(replace=False) from at most so many parts sorts all parts by random keys


class Order(Source):
    """The methods that shuffle and choose."""

    def _order(self, n: int) -> Any:
        from ..functions import argsort
        return argsort(self._bits((n,)))

    def permutation(self, x: Any, axis: int = 0) -> Array:
        """The integers 0 to x - 1 in a random order; or an array x, with its parts along an axis in a random order.

        >>> sorted(collet.random.default_rng(7).permutation(5).tolist())
        [0, 1, 2, 3, 4]"""
        if _is_number(x):
            return self._order(operator.index(x))  # type: ignore[no-any-return]
        return _shuffled(_array(x), axis, self._order)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Puts the parts of x along an axis into a random order, in place. x: an Array, a NumPy array or a list.

        >>> x = list("abc")
        >>> collet.random.default_rng(7).shuffle(x)
        >>> sorted(x)
        ['a', 'b', 'c']"""
        if hasattr(x, "shape"):
            x[...] = _shuffled(x, axis, self._order)
        elif hasattr(x, "__setitem__") and axis == 0:
            x[:] = [x[i] for i in self._order(len(x)).tolist()]
        else:
            raise TypeError(f"shuffle: x is {type(x).__name__}, which is not written in place; use permutation")

    def permuted(self, x: Any, *, axis: int | None = None, out: Any = None) -> Array:
        """The elements of x in a random order; with axis, each line along the axis has a separate random order.

        >>> sorted(collet.random.default_rng(7).permuted([[1, 2], [3, 4]]).reshape(-1).tolist())
        [1, 2, 3, 4]"""
        from ..functions import argsort, take, take_along_axis
        x = _array(x)
        if axis is None:
            made = take(x.reshape(-1), self._order(x.size)).reshape(x.shape)
        else:
            made = take_along_axis(x, argsort(self._bits(x.shape), axis=axis), axis=axis)
        if out is None:
            return made  # type: ignore[no-any-return]
        out[...] = made
        return out  # type: ignore[no-any-return]

    def choice(self, a: Any, size: Size = None, replace: bool = True, p: Any = None, axis: int = 0,
               shuffle: bool = True) -> Array:
        """A sample of the integers 0 to a - 1, or of the parts of an array a along an axis. replace=False: no part twice. p:
        the probability of each part. shuffle has no effect: every sample has a random order.

        >>> rng = collet.random.default_rng(7)
        >>> len(set(rng.choice(10, 4, replace=False).tolist()))
        4"""
        whole = None if _is_number(a) else _array(a)
        n = operator.index(a) if whole is None else whole.shape[axis]
        shape = shape_of(size)
        count = math.prod(shape)
        if n < 0 or (n == 0 and count):
            raise ValueError(f"choice: a has {n} parts; it needs at least one")
        if not replace and count > n:
            raise ValueError(f"choice: size is {size}, but a has only {n} parts; replace=True repeats parts")
        if p is not None:
            index = self._weighted(_probabilities(p, n, 0 if replace else count), count, replace)
        elif replace:
            index = self._integers((count,), "int64", 0, max(n - 1, 0))
        else:
            index = self._distinct(n, count) if n > _SORTED and count <= n // 50 else self._order(n)[:count]
        if whole is None:
            return index.reshape(shape)  # type: ignore[no-any-return]
        from ..functions import take
        made = take(whole, index, axis=axis)
        at = axis % whole.ndim
        rest = whole.shape[:at], whole.shape[at + 1:]
        return made.reshape((*rest[0], *shape, *rest[1]))  # type: ignore[no-any-return]

    def _distinct(self, n: int, count: int) -> Any:
        """`count` different integers below n; count is at most n / 50. Draws integers until enough are different."""
        import numpy as np

        from .._array.creation import asarray

        def row() -> Any:
            found = np.empty(0, "int64")
            while found.size < count:
                more = self._next_integers((count - found.size,), "int64", 0, n - 1).to_numpy()
                found = np.concatenate([found, more])
                found = found[np.sort(np.unique(found, return_index=True)[1])]
            return found

        return _hook.drawn(lambda shape: asarray(np.array([row() for _ in range(math.prod(shape[:-1]))]).reshape(shape)), (count,))

    def _weighted(self, p: Any, count: int, replace: bool) -> Any:
        """Indices with the probabilities p, a NumPy array. Without replacement: the indices of the smallest E / p, with exponential
        numbers E (P. Efraimidis and P. Spirakis 2006)."""
        import numpy as np

        from .._array.creation import asarray
        from ..functions import argsort, searchsorted
        if replace:
            sums = np.cumsum(p)
            return searchsorted(asarray(sums / sums[-1]), self._standard("uniform", (count,)), side="right")
        with np.errstate(divide="ignore"):
            keys = self._standard("exponential", p.shape) * asarray(1 / p)
        return argsort(keys)[:count]


def _is_number(x: Any) -> bool:
    return hasattr(x, "__index__") and not getattr(x, "ndim", 0)


def _array(x: Any) -> Any:
    from .._array.creation import asarray
    return x if hasattr(x, "shape") else asarray(x)


def _shuffled(x: Any, axis: int, order: Any) -> Any:
    from .._array.creation import asarray
    from ..functions import take
    return take(asarray(x), order(x.shape[axis]), axis=axis)


def _probabilities(p: Any, n: int, distinct: int) -> Any:
    """p as a NumPy array with at least `distinct` elements above 0."""
    import numpy as np
    found = np.asarray(p, "float64")
    if found.shape != (n,):
        raise ValueError(f"choice: p has the shape {found.shape}, but a has {n} parts; give one probability for each")
    if not (found >= 0).all():
        raise ValueError(f"choice: p has the element {found[~(found >= 0)][0]}; probabilities are at least 0")
    if abs(math.fsum(found) - 1) > 1e-8:
        raise ValueError(f"choice: p has the sum {math.fsum(found)}; divide it by its sum, so that it is 1")
    if np.count_nonzero(found) < distinct:
        raise ValueError(f"choice: {distinct} different parts are to be chosen, but p is above 0 for only "
                         f"{np.count_nonzero(found)}; choose fewer")
    return found

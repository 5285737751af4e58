# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_random.py
"""Random numbers that are the same on every backend and machine, with any number of threads. A 64-bit seed
chooses a sequence (Philox4x32-10), and an offset chooses a position in it. uniform and normal take both as
arguments; a Generator keeps its own position and has numpy.random's names. Uniform numbers have the same bits
everywhere; normal numbers differ by at most 4 ulp. size is an int or ints; without size the result is one
number, an array without axes. dtype is float32 or float64. Results are Arrays. If `out` is given, a NumPy array
or an Array, the numbers are written there; its shape and dtype replace size and dtype.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Sequence

from . import _core, op
from . import _hook as hook
from ._listing import own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    import numpy.typing as npt
    Size: TypeAlias = int | Sequence[int] | None

_MASK = 2**64 - 1


def _fill(function: Any, size: Size, dtype: npt.DTypeLike, out: Any, seed: int, offset: int) -> Any:
    if out is None:
        shape = () if size is None else (size,) if hasattr(size, "__index__") else tuple(size)
        out = _core.empty(shape, dtype)
    return function(out=out, seed=seed, offset=offset)


def _scaled(values: Any, factor: float, summand: float) -> Any:
    """Computes factor * values + summand in place."""
    if factor != 1:
        op.mul(values, float(factor), out=values)
    return op.add(values, float(summand), out=values) if summand != 0 else values


def _number(value: Any, name: str) -> Any:
    if type(value) in (int, float):
        return value
    if isinstance(value, (tuple, list)):
        size = "" if name in ("seed", "block") else f"; for an array of this size write size={value!r}"
        raise TypeError(f"{name} is {value!r}; it must be a number{size}")
    from ._host import number  # importing NumPy takes longer than everything else here
    return number(value, name)


def uniform(low: float = 0.0, high: float = 1.0, size: Size = None, *, seed: int, offset: int = 0,
            dtype: npt.DTypeLike = "float64", out: Any = None) -> Any:
    """Uniform numbers in [low, high), from the seed's sequence, beginning at position `offset`. Scaled
    numbers may round to high. DtypeError if out or dtype is neither float32 nor float64.

    >>> collet.random.uniform(size=3, seed=7)
    collet.Array([0.75015222, 0.08565787, 0.79528404], dtype=float64, shape=(3,), device='host')
    >>> collet.random.uniform(size=2, seed=7, offset=1)
    collet.Array([0.08565787, 0.79528404], dtype=float64, shape=(2,), device='host')"""
    low, high = _number(low, "low"), _number(high, "high")
    return _scaled(_fill(op.uniform, size, dtype, out, seed, offset), high - low, low)


def normal(loc: float = 0.0, scale: float = 1.0, size: Size = None, *, seed: int, offset: int = 0,
           dtype: npt.DTypeLike = "float64", out: Any = None) -> Any:
    """Normal numbers of mean loc and standard deviation scale, from the seed's sequence, beginning at position
    `offset`.

    >>> collet.random.normal(10, 2, size=2, seed=7)
    collet.Array([11.30213046, 10.77736048], dtype=float64, shape=(2,), device='host')"""
    loc, scale = _number(loc, "loc"), _number(scale, "scale")
    return _scaled(_fill(op.normal, size, dtype, out, seed, offset), scale, loc)


class Generator:
    """A source of random numbers, with a seed from 0 to 2**64 - 1, by default from the system.

    Every call begins at a block of 128 random bits that no call used before. Generators with different
    seeds are independent: give each process its own seed. The state is `seed` and `block`, the next block.
    Only one thread at a time may use a Generator.

    >>> rng = collet.random.Generator(7, 0)
    >>> first = rng.random(3)
    >>> again = collet.random.Generator(7, 0)
    >>> bool((again.random(3) == first).all())
    True"""

    def __init__(self, seed: int | None = None, block: int = 0) -> None:
        if seed is None:
            seed = int.from_bytes(os.urandom(8), "little")
        self.seed = operator.index(_number(seed, "seed"))
        self.block = operator.index(_number(block, "block"))
        if not 0 <= self.seed <= _MASK:
            raise ValueError(f"the seed is {seed}; it can be 0 to 2**64 - 1")

    def __repr__(self) -> str:
        return f"Generator(seed={self.seed}, block={self.block})"

    def _draw(self, function: Any, low: float, high: float, size: Size, dtype: npt.DTypeLike, out: Any) -> Any:
        return hook.drawn(lambda size: self._next(function, low, high, size, dtype, out), size)

    def _next(self, function: Any, low: float, high: float, size: Size, dtype: npt.DTypeLike, out: Any) -> Any:
        name = _core.dtype_name(dtype if out is None else out.dtype)
        per_block = 4 if name == "float32" else 2
        result = function(low, high, size, seed=self.seed, offset=self.block * per_block & _MASK,
                          dtype=dtype, out=out)
        self.block += -(-math.prod(result.shape) // per_block)
        return result

    def random(self, size: Size = None, dtype: npt.DTypeLike = "float64", out: Any = None) -> Any:
        """Numbers in [0, 1).

        >>> collet.random.default_rng(7).random(2)
        collet.Array([0.75015222, 0.08565787], dtype=float64, shape=(2,), device='host')"""
        return self._draw(uniform, 0.0, 1.0, size, dtype, out)

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Size = None,
                dtype: npt.DTypeLike = "float64", out: Any = None) -> Any:
        """Numbers in [low, high).

        >>> collet.random.default_rng(7).uniform(-1, 1, size=2)
        collet.Array([ 0.50030444, -0.82868427], dtype=float64, shape=(2,), device='host')"""
        return self._draw(uniform, low, high, size, dtype, out)

    def standard_normal(self, size: Size = None, dtype: npt.DTypeLike = "float64", out: Any = None) -> Any:
        """Normal numbers of mean 0 and standard deviation 1.

        >>> collet.random.default_rng(7).standard_normal(2)
        collet.Array([0.65106523, 0.38868024], dtype=float64, shape=(2,), device='host')"""
        return self._draw(normal, 0.0, 1.0, size, dtype, out)

    def normal(self, loc: float = 0.0, scale: float = 1.0, size: Size = None,
               dtype: npt.DTypeLike = "float64", out: Any = None) -> Any:
        """Normal numbers of mean loc and standard deviation scale.

        >>> collet.random.default_rng(7).normal(10, 2, size=2)
        collet.Array([11.30213046, 10.77736048], dtype=float64, shape=(2,), device='host')"""
        return self._draw(normal, loc, scale, size, dtype, out)


def default_rng(seed: int | Generator | None = None) -> Generator:
    """Returns a Generator with this seed. If the argument is a Generator, returns it.

    >>> rng = collet.random.default_rng(7)
    >>> rng.random(2)
    collet.Array([0.75015222, 0.08565787], dtype=float64, shape=(2,), device='host')
    >>> rng
    Generator(seed=7, block=1)"""
    return seed if isinstance(seed, Generator) else Generator(seed)


hook.hook(globals(), __name__, "random.")


def __dir__() -> list[str]:
    return own(globals())

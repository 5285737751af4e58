# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/generator/test_random.py
"""Random numbers that are the same on every backend and machine, with any number of threads. A 64-bit seed
chooses a sequence (Philox4x32-10), and an offset chooses a position in it. uniform and normal take both as
arguments; a Generator keeps its own position and has the methods of numpy.random.Generator, but gives different
numbers. Uniform numbers and integers of all distributions have the same bits everywhere; other real numbers differ by
a few ulp. size is an int or ints; without size the result has the axes of the parameters. dtype is float32 or
float64. Results are Arrays. If `out` is given, a NumPy array or an Array, the numbers are written there; its shape
and dtype replace size and dtype.
"""

from __future__ import annotations

from .. import _hook, op
from .._listing import own
from ._continuous import Continuous
from ._discrete import Discrete
from ._source import check_range as _check_range
from ._source import fill as _fill
from ._source import number as _number
from ._source import shape_of as _shape_of
from ._vectors import Vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    from ._source import Array, Seed, Size


def _scaled(values: Any, factor: float, summand: float) -> Any:
    """Computes factor * values + summand in place."""
    if factor != 1:
        op.mul(values, float(factor), out=values)
    return op.add(values, float(summand), out=values) if summand != 0 else values


def uniform(low: float = 0.0, high: float = 1.0, size: Size = None, *, seed: int, offset: int = 0,
            dtype: npt.DTypeLike = "float64", out: Any = None) -> Array:
    """Uniform numbers in [low, high), from the seed's sequence, beginning at position `offset`. Scaled
    numbers may round to high. Raises DtypeError if out or dtype is neither float32 nor float64.

    >>> collet.random.uniform(size=3, seed=7)
    collet.Array([0.75015222, 0.08565787, 0.79528404], dtype=float64, shape=(3,), device='host')
    >>> collet.random.uniform(size=2, seed=7, offset=1)
    collet.Array([0.08565787, 0.79528404], dtype=float64, shape=(2,), device='host')"""
    low, high = _number(low, "low"), _number(high, "high")
    _check_range("uniform", low, high)
    return _scaled(_fill(op.uniform, _shape_of(size), dtype, out, seed=seed, offset=offset), high - low, low)


def normal(loc: float = 0.0, scale: float = 1.0, size: Size = None, *, seed: int, offset: int = 0,
           dtype: npt.DTypeLike = "float64", out: Any = None) -> Array:
    """Normal numbers of mean loc and standard deviation scale, from the seed's sequence, beginning at position
    `offset`.

    >>> collet.random.normal(10, 2, size=2, seed=7)
    collet.Array([11.30213046, 10.77736048], dtype=float64, shape=(2,), device='host')"""
    loc, scale = _number(loc, "loc"), _number(scale, "scale")
    if not scale >= 0:
        raise ValueError(f"normal: scale is {scale}; it must be at least 0")
    return _scaled(_fill(op.normal, _shape_of(size), dtype, out, seed=seed, offset=offset), scale, loc)


class Generator(Continuous, Discrete, Vectors):
    """A source of random numbers, with a seed from 0 to 2**64 - 1, by default from the system. It has the methods of
    numpy.random.Generator. NumPy's hash makes a seed of a sequence of integers or a numpy.random.SeedSequence.

    Every call begins at a block of 128 random bits that no call used before. Generators with different
    seeds are independent: give each process its own seed. The state is `seed` and `block`, the next block.
    Only one thread at a time may use a Generator.

    >>> rng = collet.random.Generator(7, 0)
    >>> first = rng.random(3)
    >>> again = collet.random.Generator(7, 0)
    >>> bool((again.random(3) == first).all())
    True"""


def default_rng(seed: Seed | Generator = None) -> Generator:
    """Returns a Generator with this seed. If the argument is a Generator, returns it.

    >>> rng = collet.random.default_rng(7)
    >>> rng.random(2)
    collet.Array([0.75015222, 0.08565787], dtype=float64, shape=(2,), device='host')
    >>> rng
    Generator(seed=7, block=1)"""
    return seed if isinstance(seed, Generator) else Generator(seed)


_hook.hook(globals(), __name__, "random.")


def __dir__() -> list[str]:
    return own(globals())

# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/generator/test_random.py, python/tests/generator/test_random_generator.py
"""The state of a Generator, and the parameters and numbers of its methods."""

from __future__ import annotations

import math
import operator
import os

from .. import _core, _hook, op

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Self, TypeAlias

    import numpy as np
    import numpy.typing as npt

    from .._standard.array import Array as Array
    Size: TypeAlias = int | Sequence[int] | None
    Real: TypeAlias = float | npt.ArrayLike | Array
    Seed: TypeAlias = int | Sequence[int] | npt.NDArray[Any] | np.random.SeedSequence | None

MASK = 2**64 - 1
TINY = 2.2e-307  # the logarithm of a gamma number of a smaller shape may be -inf

# What a parameter must be: the words of messages, and the condition, for numbers and arrays.
CONDITIONS: dict[str, Callable[[Any], Any]] = {
    "at least 0": lambda x: x >= 0,
    "above 0": lambda x: x > 0,
    "above 1": lambda x: x > 1,
    "from 0 to 1": lambda x: (x >= 0) & (x <= 1),
    "above 0 and at most 1": lambda x: (x > 0) & (x <= 1),
    "at least 0 and below 1": lambda x: (x >= 0) & (x < 1),
    "finite and at least 0": lambda x: (x >= 0) & (x < math.inf),
    "from 0 to 2**63": lambda x: (x >= 0) & (x <= 2.0**63),
    "a whole number from 0 to 2**53": lambda x: (x >= 0) & (x <= 2.0**53) & (x == x // 1),
}


def number(value: Any, name: str) -> Any:
    if type(value) in (int, float):
        return value
    if isinstance(value, (tuple, list)):
        size = "" if name in ("seed", "block") else f"; for an array of this size write size={value!r}"
        raise TypeError(f"{name} is {value!r}; it must be a number{size}")
    from .._host import number as of_host  # importing NumPy takes longer than everything else here
    return of_host(value, name)


def _mixed(seed: Any) -> int:
    """A seed from a sequence of integers or a numpy.random.SeedSequence, computed by NumPy's hash. This hash never
    changes."""
    import numpy
    from numpy.random import SeedSequence

    from .._host import check
    check(seed, "seed")
    seed = seed.to_numpy() if isinstance(seed, _core.Array) else seed
    if not isinstance(seed, SeedSequence):
        try:
            if numpy.asarray(seed).dtype.kind not in "iuO":  # NumPy takes the digits of strings
                raise TypeError("seed must be integer")
            seed = SeedSequence(seed)
        except (TypeError, ValueError) as error:
            raise TypeError(f"seed is {seed!r}; it must be an integer from 0 to 2**64 - 1, a sequence of integers, at least 0, "
                            "a numpy.random.SeedSequence or None") from error
    return int(seed.generate_state(1, "uint64")[0])


def shape_of(size: Size) -> tuple[int, ...]:
    return () if size is None else (operator.index(size),) if hasattr(size, "__index__") else tuple(size)  # type: ignore[arg-type]


def fill(function: Any, shape: tuple[int, ...], dtype: npt.DTypeLike, out: Any, **parameters: Any) -> Any:
    return function(out=_core.empty(shape, dtype) if out is None else out, **parameters)


def _real(value: Any, name: str) -> Any:
    """A parameter as a float, or as a float64 Array."""
    if type(value) in (int, float):
        return float(value)
    if _hook.traced(value):
        return value
    from .._array.creation import asarray
    found = value if isinstance(value, _core.Array) else asarray(value)
    found = found if found._dtype == "float64" else found.astype("float64")  # type: ignore[attr-defined]
    return found if found.ndim else float(found)


def parameters(function: str, size: Size, **given: Any) -> tuple[Any, ...]:
    """Returns the shape of the result, and then the parameters. `given`: each parameter and its condition, or None.
    Raises ValueError if a condition is false, or the parameters do not broadcast to the size."""
    found = []
    for name, (value, condition) in given.items():
        value = _real(value, name)
        holds = condition is None or CONDITIONS[condition](value)
        if condition is not None and not holds_for_all(holds):
            value, holds = _hook.known(value), _hook.known(holds)
            shown = value if type(value) is float else value.reshape(-1)[~holds.reshape(-1)][0].item()
            where = "is" if type(value) is float else "has the element"
            raise ValueError(f"{function}: {name} {where} {shown}; it must be {condition}")
        found.append(value)
    shapes = [x.shape for x in found if type(x) is not float]
    if not shapes:
        return shape_of(size), *found
    from ..functions import broadcast_shapes
    return fitted(function, size, broadcast_shapes(*shapes)), *found


def holds_for_all(holds: Any) -> bool:
    """Whether a condition holds for a number, or for all elements of an array."""
    return holds if type(holds) is bool else bool(_hook.known(holds).all())


def check_range(function: str, low: Any, high: Any) -> None:
    """Raises ValueError unless low <= high and their difference is finite."""
    span = high - low
    if not holds_for_all((span >= 0) & (span < math.inf)):
        raise ValueError(f"{function}: low is {low} and high {high}; high must not be below low, and high - low has to be finite")


def fitted(function: str, size: Size, common: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of the result, where the parameters have the shape `common`."""
    shape = common if size is None else shape_of(size)
    if len(common) > len(shape) or any(n not in (1, m) for n, m in zip(common[::-1], shape[::-1])):
        raise ValueError(f"{function}: size is {size}, but the parameters have the shape {common}; leave size out, "
                         "or give a size to which they broadcast")
    return shape


def computed(text: str, x: Any, **values: Any) -> Any:
    """Evaluates a formula of x and other values; x has all axes of the result. Writes the result over x, unless
    gradients are recorded."""
    if _hook.traced(x, *values.values()):
        return _core.evaluate(text, {"x": x, **values})
    if x.dtype != "float64":
        values = {n: v if type(v) is float else v.astype(x.dtype) for n, v in values.items()}
    return _core.evaluate(text, {"x": x, **values}, out=x)


class Source:
    """A sequence and the position in it: the seed and the next block."""

    def __init__(self, seed: Seed = None, block: int = 0) -> None:
        if seed is None:
            seed = int.from_bytes(os.urandom(8), "little")
        several = getattr(seed, "ndim", 0) or not hasattr(seed, "__index__") and type(seed) is not float
        self.seed = _mixed(seed) if several else operator.index(number(seed, "seed"))
        self.block = operator.index(number(block, "block"))
        if not 0 <= self.seed <= MASK:
            raise ValueError(f"the seed is {seed}; it can be 0 to 2**64 - 1")

    def __repr__(self) -> str:
        return f"Generator(seed={self.seed}, block={self.block})"

    @property
    def state(self) -> dict[str, int]:
        """The seed and the next block. Assign a saved state to continue from it.

        >>> rng = collet.random.default_rng(7)
        >>> saved = rng.state
        >>> first = float(rng.random())
        >>> rng.state = saved
        >>> float(rng.random()) == first
        True"""
        return {"seed": self.seed, "block": self.block}

    @state.setter
    def state(self, value: dict[str, int]) -> None:
        if not isinstance(value, dict) or set(value) != {"seed", "block"}:
            raise ValueError(f"the state is {value!r}; it must be a dict with seed and block, such as state() "
                             "returns")
        Source.__init__(self, **value)

    def spawn(self, n_children: int) -> list[Self]:
        """New, independent Generators; this Generator draws their seeds.

        >>> first, second = collet.random.default_rng(7).spawn(2)
        >>> bool(first.random() == second.random())
        False"""
        seeds = self._bits((operator.index(n_children),)).to_numpy()
        return [type(self)(int(seed)) for seed in seeds]

    def _take(self, blocks: int) -> int:
        first = self.block
        self.block += blocks
        return first

    def _standard(self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike = "float64", out: Any = None) -> Any:
        """Numbers of the ops uniform, normal and exponential."""
        return _hook.drawn(lambda shape: self._next_standard(name, shape, dtype, out), shape)

    def _next_standard(self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike, out: Any) -> Any:
        lanes = 4 if _core.dtype_name(dtype if out is None else out.dtype) == "float32" else 2
        count = math.prod(shape if out is None else out.shape)
        first = self._take(-(-count // lanes))
        return fill(getattr(op, name), shape, dtype, out, seed=self.seed, offset=first * lanes & MASK)

    def _variate(self, distribution: str, shape: tuple[int, ...], dtype: str, *values: Any) -> Any:
        if _hook.traced(*values):
            raise _core.UnsupportedError(f"random.{distribution}: its parameters have no gradient, and cannot differ between the rows of "
                                         "vmap: draw outside of the function; parameters may be arrays, which draw a number for each element")

        def draw(shape: tuple[int, ...]) -> Any:
            first = self._take(math.prod(shape))
            return op.variate(*values, out=_core.empty(shape, dtype), distribution=distribution, seed=self.seed,
                              offset=first & MASK)

        return _hook.drawn(draw, shape)

    def _integers(self, shape: tuple[int, ...], dtype: str, low: Any, span: Any) -> Any:
        return _hook.drawn(lambda shape: self._next_integers(shape, dtype, low, span), shape)

    def _next_integers(self, shape: tuple[int, ...], dtype: str, low: Any, span: Any) -> Any:
        from .._array.creation import asarray
        first = self._take(math.prod(shape))
        return op.integers(asarray(low, dtype), asarray(span, "uint64"), out=_core.empty(shape, dtype), seed=self.seed,
                           offset=first & MASK)

    def _bits(self, shape: tuple[int, ...]) -> Any:
        """Random uint64 numbers."""
        return self._integers(shape, "uint64", 0, MASK)

# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/generator/test_random_generator.py, python/tests/generator/test_random_distributions.py
"""Integers and the distributions of counts."""

from __future__ import annotations

from ._source import Source, computed, fitted, holds_for_all, parameters

TYPE_CHECKING = False
if TYPE_CHECKING:
    import builtins
    from typing import Any

    import numpy.typing as npt

    from ._source import Array, Real, Size


class Discrete(Source):
    """The methods that return integers."""

    def integers(self, low: Any, high: Any = None, size: Size = None, dtype: npt.DTypeLike = "int64",
                 endpoint: bool = False) -> Array:
        """Integers from low to high - 1, or to high with endpoint=True; from 0 to low - 1 if high is absent. Each has exactly
        the same probability.

        >>> rng = collet.random.default_rng(7)
        >>> sorted(set(rng.integers(3, size=100).tolist()))
        [0, 1, 2]"""
        import numpy as np
        low, high = (0, low) if high is None else (low, high)
        kind = np.dtype(dtype)
        if kind.kind not in "biu":
            raise TypeError(f"integers: dtype is {kind}; it must be an integer dtype or bool")
        least, most = (0, 1) if kind.kind == "b" else (int(np.iinfo(kind).min), int(np.iinfo(kind).max))
        first, last = _whole(low, "low"), np.asarray(_whole(high, "high") - (not endpoint), object)
        for name, bounds in ("low", first), ("high", last):
            wrong = (bounds < least) | (bounds > most)
            if np.any(wrong):
                raise ValueError(f"integers: {name} allows {np.extract(wrong, bounds)[0]}, which {kind} does not hold: choose "
                                 "a wider dtype")
        if np.any(first > last):
            raise ValueError(f"integers: low is {low} and high is {high}; low must be "
                             f"{'at most' if endpoint else 'below'} high")
        shape = fitted("integers", size, np.broadcast_shapes(first.shape, last.shape))
        computed_as = "uint64" if kind == np.uint64 else "int64"
        made = self._integers(shape, computed_as, first.astype(computed_as), np.asarray(last - first).astype("uint64"))
        return made if kind == computed_as else made.astype(kind)  # type: ignore[no-any-return]

    def poisson(self, lam: Real = 1.0, size: Size = None) -> Array:
        """Counts of independent events of which lam are expected.

        >>> rng = collet.random.default_rng(7)
        >>> 2.9 < float(rng.poisson(3, 10000).mean()) < 3.1
        True"""
        shape, lam = parameters("poisson", size, lam=(lam, "from 0 to 2**63"))
        return self._variate("poisson", shape, "int64", lam)  # type: ignore[no-any-return]

    def binomial(self, n: Real, p: Real, size: Size = None) -> Array:
        """Counts of successes in n trials of probability p.

        >>> rng = collet.random.default_rng(7)
        >>> 2.9 < float(rng.binomial(10, 0.3, 10000).mean()) < 3.1
        True"""
        shape, n, p = parameters("binomial", size, n=(n, "a whole number from 0 to 2**53"), p=(p, "from 0 to 1"))
        return self._variate("binomial", shape, "int64", n, p)  # type: ignore[no-any-return]

    def negative_binomial(self, n: Real, p: Real, size: Size = None) -> Array:
        """Counts of failures before n successes of probability p: Poisson counts, whose mean is gamma distributed. n need
        not be an integer.

        >>> rng = collet.random.default_rng(7)
        >>> 9.5 < float(rng.negative_binomial(10, 0.5, 10000).mean()) < 10.5
        True"""
        shape, n, p = parameters("negative_binomial", size, n=(n, "above 0"), p=(p, "above 0 and at most 1"))
        largest = (1 - p) / p * (n + 10 * n**0.5)  # the gamma numbers (means of the counts) almost never exceed it
        if not holds_for_all(largest <= 2.0**62):
            raise ValueError("negative_binomial: the counts may exceed 2**63: n is too large, or p too small")
        mean = computed("x * ((1 - p) / p)", self._variate("gamma", shape, "float64", n), p=p)
        return self._variate("poisson", shape, "int64", mean)  # type: ignore[no-any-return]

    def geometric(self, p: Real, size: Size = None) -> Array:
        """Counts of trials up to the first success of probability p.

        >>> rng = collet.random.default_rng(7)
        >>> 3.8 < float(rng.geometric(0.25, 10000).mean()) < 4.2
        True"""
        shape, p = parameters("geometric", size, p=(p, "above 0 and at most 1"))
        return self._variate("geometric", shape, "int64", p)  # type: ignore[no-any-return]

    def hypergeometric(self, ngood: Real, nbad: Real, nsample: Real, size: Size = None) -> Array:
        """Counts of good elements among nsample that are drawn, without replacement, from ngood good and nbad bad ones.

        >>> rng = collet.random.default_rng(7)
        >>> 2.9 < float(rng.hypergeometric(30, 70, 10, 10000).mean()) < 3.1
        True"""
        count = "a whole number from 0 to 2**53"
        shape, ngood, nbad, nsample = parameters("hypergeometric", size, ngood=(ngood, count), nbad=(nbad, count),
                                                 nsample=(nsample, count))
        many = nsample > ngood + nbad
        if bool(many if type(many) is bool else many.any()):  # type: ignore[union-attr]
            raise ValueError(f"hypergeometric: nsample is {nsample}, but ngood + nbad is {ngood + nbad}; draw fewer")
        return self._variate("hypergeometric", shape, "int64", ngood, nbad, nsample)  # type: ignore[no-any-return]

    def logseries(self, p: Real, size: Size = None) -> Array:
        """Counts k >= 1 with probabilities proportional to p**k / k.

        >>> bool((collet.random.default_rng(7).logseries(0.5, 100) >= 1).all())
        True"""
        shape, p = parameters("logseries", size, p=(p, "at least 0 and below 1"))
        return self._variate("logseries", shape, "int64", p)  # type: ignore[no-any-return]

    def zipf(self, a: Real, size: Size = None) -> Array:
        """Counts k from 1 to 2**63 - 1 with probabilities proportional to k**-a.

        >>> bool((collet.random.default_rng(7).zipf(2, 100) >= 1).all())
        True"""
        shape, a = parameters("zipf", size, a=(a, "above 1"))
        return self._variate("zipf", shape, "int64", a)  # type: ignore[no-any-return]

    def bytes(self, length: int) -> builtins.bytes:
        """Random bytes.

        >>> len(collet.random.default_rng(7).bytes(10))
        10"""
        made: builtins.bytes = self._bits((-(-length // 8),)).to_numpy().astype("<u8").tobytes()
        return made[:length]


def _whole(value: Any, name: str) -> Any:
    """A bound as a NumPy array of Python's integers, which do not overflow."""
    import numpy as np

    from .._host import array
    if type(value) is int:
        return np.asarray(value, object)
    found = value.to_numpy() if hasattr(value, "to_numpy") else array(value)
    if found.dtype.kind not in "biu":
        if found.dtype.kind == "O" or not bool(np.all(found == np.floor(found))):
            raise TypeError(f"integers: {name} is {value!r}; it must be an integer or an array of integers")
    return found.astype(object) if found.dtype.kind != "f" else np.vectorize(int, otypes=[object])(found)

# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/generator/test_random_generator.py
"""Distributions of vectors."""

from __future__ import annotations

import math
import warnings

from .. import _core
from ._order import Order
from ._source import TINY, computed, parameters, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    from ._source import Array, Real, Size


class Vectors(Order):
    """The methods that return vectors, along the last axis."""

    def dirichlet(self, alpha: Any, size: Size = None) -> Array:
        """Vectors of positive numbers with the sum 1.

        >>> collet.random.default_rng(7).dirichlet([1, 2, 3], 5).sum(axis=-1).shape
        (5,)"""
        import numpy as np

        from .._array.creation import asarray
        found = np.asarray(alpha, "float64")
        if found.ndim != 1 or not found.size:
            raise ValueError(f"dirichlet: alpha has the shape {found.shape}; it must be a vector of at least one number")
        shape, alpha = parameters("dirichlet", (*shape_of(size), found.size), alpha=(found, "above 0"))
        if found.max() < TINY:  # rounded: number k is 1, the others 0, with a probability proportional to alpha[k]
            index = self._weighted(found / found.sum(), math.prod(shape[:-1]), True)
            return (index.reshape((*shape[:-1], 1)) == asarray(np.arange(found.size))).astype("float64")  # type: ignore[no-any-return]
        x = self._variate("log_gamma", shape, "float64", alpha)
        x = computed("exp(x - most)", x, most=x.max(axis=-1, keepdims=True))
        return computed("x / total", x, total=x.sum(axis=-1, keepdims=True))  # type: ignore[no-any-return]

    def multinomial(self, n: Real, pvals: Any, size: Size = None) -> Array:
        """Counts of each outcome in n trials; the probabilities are along the last axis of pvals.

        >>> collet.random.default_rng(7).multinomial(20, [0.2, 0.3, 0.5], 4).sum(axis=-1).tolist()
        [20, 20, 20, 20]"""
        import numpy as np
        p = np.asarray(pvals, "float64")
        if p.ndim < 1 or not p.shape[-1]:
            raise ValueError(f"multinomial: pvals has the shape {p.shape}; it needs the probability of at least one outcome")
        if not ((p >= 0) & (p <= 1)).all() or (p[..., :-1].sum(axis=-1) > 1 + 1e-12).any():
            raise ValueError("multinomial: pvals must be from 0 to 1, and the sum of all but the last at most 1")
        shape, n, _ = parameters("multinomial", size, n=(n, "a whole number from 0 to 2**53"), pvals=(p[..., 0], None))
        rest = np.maximum(1 - np.cumsum(p[..., :-1], axis=-1) + p[..., :-1], 0)  # the probability of this and later outcomes
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(rest > 0, np.minimum(p[..., :-1] / rest, 1), 0)
        return self._one_by_one(shape, p.shape[-1], n, lambda k, left: ("binomial", left, ratio[..., k]))

    def multivariate_hypergeometric(self, colors: Any, nsample: int, size: Size = None, method: str = "marginals") -> Array:
        """Counts of each color among nsample elements that are drawn, without replacement, from a set with colors[k]
        elements of each color k. method has no effect: NumPy's two methods have the same distribution.

        >>> collet.random.default_rng(7).multivariate_hypergeometric([5, 6, 7], 9, 3).sum(axis=-1).tolist()
        [9, 9, 9]"""
        import numpy as np
        found = np.asarray(colors)
        if found.ndim != 1 or not found.size or found.dtype.kind not in "iu" or (found < 0).any():
            raise ValueError(f"multivariate_hypergeometric: colors is {colors}; it must be a vector of integers, at least 0")
        if not 0 <= nsample <= found.sum():
            raise ValueError(f"multivariate_hypergeometric: nsample is {nsample}; it must be from 0 to {found.sum()}")
        later = (np.cumsum(found[::-1])[::-1] - found).astype("float64")
        return self._one_by_one(shape_of(size), found.size, float(nsample), lambda k, left: (
            "hypergeometric", float(found[k]), float(later[k]), left))

    def _one_by_one(self, shape: tuple[int, ...], outcomes: int, n: Any, law: Any) -> Array:
        """Counts of each outcome given the counts of earlier outcomes; the last gets the rest."""
        from .._array.creation import asarray
        from ..functions import broadcast_to
        made = _core.empty((*shape, outcomes), "int64")
        left: Any = broadcast_to(asarray(n, "float64"), shape)
        for k in range(outcomes - 1):
            distribution, *values = law(k, left)
            values = [v if isinstance(v, _core.Array) else asarray(v) for v in values]
            x = self._variate(distribution, shape, "float64", *values)
            made[..., k] = x.astype("int64")  # type: ignore[index]
            left = left - x
        made[..., outcomes - 1] = left.astype("int64")  # type: ignore[index]
        return made  # type: ignore[return-value]

    def multivariate_normal(self, mean: npt.ArrayLike, cov: npt.ArrayLike, size: Size = None, check_valid: str = "warn",
                            tol: float = 1e-8, *, method: str = "svd") -> Array:
        """Vectors of normal numbers with this mean and this matrix of covariances. check_valid: "warn", "raise" or "ignore"
        if the matrix is not positive semidefinite within tol. method: "svd", "eigh" or "cholesky".

        >>> collet.random.default_rng(7).multivariate_normal([0, 1], [[2, 1], [1, 2]], 3).shape
        (3, 2)"""
        import numpy as np

        from .._array.creation import asarray
        from ..functions import matmul
        centre, matrix = np.asarray(mean, "float64"), np.asarray(cov, "float64")
        if centre.ndim != 1 or matrix.shape != (centre.size, centre.size):
            raise ValueError(f"multivariate_normal: mean has the shape {centre.shape} and cov {matrix.shape}; give a vector of n "
                             "numbers and an n by n matrix")
        if check_valid not in ("warn", "raise", "ignore"):
            raise ValueError(f"multivariate_normal: check_valid is {check_valid!r}; it can be 'warn', 'raise' or 'ignore'")
        factor, made = _factor(matrix, method)
        if check_valid != "ignore" and not np.allclose(made, matrix, rtol=tol, atol=tol):
            text = "multivariate_normal: cov is not symmetric and positive semidefinite; check_valid='ignore' accepts it"
            if check_valid == "raise":
                raise ValueError(text)
            warnings.warn(text, RuntimeWarning, stacklevel=2)
        x = self._standard("normal", (*shape_of(size), centre.size))
        x = matmul(x, asarray(np.ascontiguousarray(factor)))
        return computed("mean + x", x, mean=asarray(centre))  # type: ignore[no-any-return]


def _factor(matrix: Any, method: str) -> tuple[Any, Any]:
    """A matrix F: standard normal vectors times F have the covariance F^T F. Also a matrix that equals `matrix` if
    `matrix` is positive semidefinite."""
    import numpy as np

    from .. import linalg
    if method == "cholesky":
        factor = linalg.cholesky(matrix).T
        return factor, factor.T @ factor
    if method == "eigh":
        values, vectors = linalg.eigh(matrix)
        factor = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
        return factor, factor.T @ factor
    if method == "svd":
        _, values, right = linalg.svd(matrix)
        return np.sqrt(values)[:, None] * right, (right.T * values) @ right
    raise ValueError(f"multivariate_normal: method is {method!r}; it can be 'svd', 'eigh' or 'cholesky'")

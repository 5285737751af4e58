# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/generator/test_random.py, python/tests/generator/test_random_distributions.py
"""Continuous distributions. Some formulas invert the cumulative distribution function. They use an exponential number
E: e^-E is uniform, and its logarithm, -E, is accurate in both tails."""

from __future__ import annotations

from ._source import TINY, Source, check_range, computed, holds_for_all, parameters, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    from ._source import Array, Real, Size


class Continuous(Source):
    """The methods that return real numbers."""

    def random(self, size: Size = None, dtype: npt.DTypeLike = "float64", out: Any = None) -> Array:
        """Numbers in [0, 1).

        >>> collet.random.default_rng(7).random(2)
        collet.Array([0.75015222, 0.08565787], dtype=float64, shape=(2,), device='host')"""
        return self._standard("uniform", shape_of(size), dtype, out)

    def uniform(self, low: Real = 0.0, high: Real = 1.0, size: Size = None, dtype: npt.DTypeLike = "float64",
                out: Any = None) -> Array:
        """Numbers in [low, high).

        >>> collet.random.default_rng(7).uniform(-1, 1, size=2)
        collet.Array([ 0.50030444, -0.82868427], dtype=float64, shape=(2,), device='host')"""
        shape, low, high = parameters("uniform", size, low=(low, None), high=(high, None))
        check_range("uniform", low, high)
        x = self._standard("uniform", shape, dtype, out)
        return computed("low + (high - low) * x", x, low=low, high=high)

    def standard_normal(self, size: Size = None, dtype: npt.DTypeLike = "float64", out: Any = None) -> Array:
        """Normal numbers of mean 0 and standard deviation 1.

        >>> collet.random.default_rng(7).standard_normal(2)
        collet.Array([0.65106523, 0.38868024], dtype=float64, shape=(2,), device='host')"""
        return self._standard("normal", shape_of(size), dtype, out)

    def normal(self, loc: Real = 0.0, scale: Real = 1.0, size: Size = None, dtype: npt.DTypeLike = "float64",
               out: Any = None) -> Array:
        """Normal numbers of mean loc and standard deviation scale.

        >>> collet.random.default_rng(7).normal(10, 2, size=2)
        collet.Array([11.30213046, 10.77736048], dtype=float64, shape=(2,), device='host')"""
        shape, loc, scale = parameters("normal", size, loc=(loc, None), scale=(scale, "at least 0"))
        return computed("loc + scale * x", self._standard("normal", shape, dtype, out), loc=loc, scale=scale)

    def lognormal(self, mean: Real = 0.0, sigma: Real = 1.0, size: Size = None) -> Array:
        """Numbers whose logarithms are normal, of this mean and standard deviation.

        >>> collet.random.default_rng(7).lognormal(size=2)
        collet.Array([1.91758241, 1.47503282], dtype=float64, shape=(2,), device='host')"""
        shape, mean, sigma = parameters("lognormal", size, mean=(mean, None), sigma=(sigma, "at least 0"))
        return computed("exp(mean + sigma * x)", self._standard("normal", shape), mean=mean, sigma=sigma)

    def standard_exponential(self, size: Size = None, dtype: npt.DTypeLike = "float64", out: Any = None) -> Array:
        """Exponential numbers of mean 1.

        >>> bool((collet.random.default_rng(7).standard_exponential(1000) >= 0).all())
        True"""
        return self._standard("exponential", shape_of(size), dtype, out)

    def exponential(self, scale: Real = 1.0, size: Size = None) -> Array:
        """Exponential numbers of mean `scale`.

        >>> collet.random.default_rng(7).exponential([1, 100]).shape
        (2,)"""
        return self._of_exponential("exponential", "scale * x", size, scale=(scale, "at least 0"))

    def laplace(self, loc: Real = 0.0, scale: Real = 1.0, size: Size = None) -> Array:
        """Numbers around loc on both sides, with exponential distances of mean `scale`.

        >>> collet.random.default_rng(7).laplace(size=4).shape
        (4,)"""
        text = ("loc + scale * where(x > 0.6931471805599453, 0.6931471805599453 - x, "
                "-0.6931471805599453 - log(-expm1(-x)))")
        return self._of_exponential("laplace", text, size, loc=(loc, None), scale=(scale, "at least 0"))

    def logistic(self, loc: Real = 0.0, scale: Real = 1.0, size: Size = None) -> Array:
        """Logistic numbers: loc + scale ln(u / (1 - u)) of uniform u.

        >>> collet.random.default_rng(7).logistic(size=4).shape
        (4,)"""
        return self._of_exponential("logistic", "loc - scale * log(expm1(x))", size, loc=(loc, None),
                                    scale=(scale, "at least 0"))

    def gumbel(self, loc: Real = 0.0, scale: Real = 1.0, size: Size = None) -> Array:
        """Extreme values of type I: loc - scale ln E.

        >>> collet.random.default_rng(7).gumbel(size=4).shape
        (4,)"""
        return self._of_exponential("gumbel", "loc - scale * log(x)", size, loc=(loc, None),
                                    scale=(scale, "at least 0"))

    def weibull(self, a: Real, size: Size = None) -> Array:
        """Weibull numbers of shape a: E**(1/a).

        >>> bool((collet.random.default_rng(7).weibull(2, 100) > 0).all())
        True"""
        return self._of_exponential("weibull", "x ** (1 / a)", size, a=(a, "above 0"))

    def pareto(self, a: Real, size: Size = None) -> Array:
        """Pareto II (Lomax) numbers of shape a, as in NumPy: add 1 for the classical distribution.

        >>> bool((collet.random.default_rng(7).pareto(3, 100) >= 0).all())
        True"""
        return self._of_exponential("pareto", "expm1(x / a)", size, a=(a, "above 0"))

    def power(self, a: Real, size: Size = None) -> Array:
        """Numbers in [0, 1] with the density a x**(a - 1).

        >>> bool((collet.random.default_rng(7).power(3, 100) <= 1).all())
        True"""
        return self._of_exponential("power", "exp(-x / a)", size, a=(a, "above 0"))

    def rayleigh(self, scale: Real = 1.0, size: Size = None) -> Array:
        """Rayleigh numbers: the length of a vector of two normal numbers of deviation `scale`.

        >>> bool((collet.random.default_rng(7).rayleigh(2, 100) > 0).all())
        True"""
        return self._of_exponential("rayleigh", "scale * sqrt(2 * x)", size, scale=(scale, "at least 0"))

    def triangular(self, left: Real, mode: Real, right: Real, size: Size = None) -> Array:
        """Numbers between left and right, with a density that is a triangle with its top at mode.

        >>> rng = collet.random.default_rng(7)
        >>> 0.9 < float(rng.triangular(0, 1, 2, 10000).mean()) < 1.1
        True"""
        shape, left, mode, right = parameters("triangular", size, left=(left, None), mode=(mode, None), right=(right, None))
        for a, b, words in ((left, mode, "left must be at most mode"), (mode, right, "mode must be at most right"),
                            (right - left, 0.0, "left must be below right")):
            wrong = b == a if words.endswith("below right") else b < a  # type: ignore[operator]
            if bool(wrong if type(wrong) is bool else wrong.any()):  # type: ignore[attr-defined]
                raise ValueError(f"triangular: left is {left}, mode is {mode}, right is {right}; {words}")
        text = ("where(x * (right - left) <= mode - left, left + sqrt(x * (right - left) * (mode - left)), "
                "right - sqrt((1 - x) * (right - left) * (right - mode)))")
        return computed(text, self._standard("uniform", shape), left=left, mode=mode, right=right)

    def standard_cauchy(self, size: Size = None) -> Array:
        """Cauchy numbers around 0, with half of them within 1.

        >>> collet.random.default_rng(7).standard_cauchy(3).shape
        (3,)"""
        return computed("tan(3.141592653589793 * (x - 0.5))", self._standard("uniform", shape_of(size)))

    def wald(self, mean: Real, scale: Real, size: Size = None) -> Array:
        """Inverse Gaussian numbers (J. Michael, W. Schucany, R. Haas 1976).

        >>> bool((collet.random.default_rng(7).wald(3, 2, 100) > 0).all())
        True"""
        shape, mean, scale = parameters("wald", size, mean=(mean, "above 0"), scale=(scale, "above 0"))
        x = computed("0.5 * mean / scale * x * x", self._standard("normal", shape), mean=mean, scale=scale)
        x = computed("1 / (1 + x + sqrt(x * (2 + x)))", x)  # the smaller root, without cancellation
        u = self._standard("uniform", shape)
        return computed("mean * where(u * (1 + x) <= 1, x, 1 / x)", x, mean=mean, u=u)

    # ---- Distributions made of gamma variates

    def standard_gamma(self, shape: Real, size: Size = None, dtype: npt.DTypeLike = "float64", out: Any = None) -> Array:
        """Gamma numbers of this shape and scale 1.

        >>> rng = collet.random.default_rng(7)
        >>> 1.9 < float(rng.standard_gamma(2, 10000).mean()) < 2.1
        True"""
        extents, shape = parameters("standard_gamma", size if out is None else out.shape,
                                    shape=(shape, "finite and at least 0"))
        x = self._variate("gamma", extents, "float64", shape)
        if out is not None:
            out[...] = x
            return out  # type: ignore[no-any-return]
        return x.astype(dtype)  # type: ignore[no-any-return]

    def gamma(self, shape: Real, scale: Real = 1.0, size: Size = None) -> Array:
        """Gamma numbers.

        >>> rng = collet.random.default_rng(7)
        >>> 5.8 < float(rng.gamma(2, 3, 10000).mean()) < 6.2
        True"""
        extents, shape, scale = parameters("gamma", size, shape=(shape, "finite and at least 0"), scale=(scale, "at least 0"))
        return computed("scale * x", self._variate("gamma", extents, "float64", shape), scale=scale)

    def chisquare(self, df: Real, size: Size = None) -> Array:
        """Sums of squares of df normal numbers; df need not be an integer.

        >>> rng = collet.random.default_rng(7)
        >>> 3.9 < float(rng.chisquare(4, 10000).mean()) < 4.1
        True"""
        shape, df = parameters("chisquare", size, df=(df, "above 0"))
        return computed("2 * x", self._variate("gamma", shape, "float64", df / 2))

    def noncentral_chisquare(self, df: Real, nonc: Real, size: Size = None) -> Array:
        """Chi-square numbers of noncentrality nonc: df + 2 N degrees of freedom, with N Poisson of mean nonc/2.

        >>> rng = collet.random.default_rng(7)
        >>> 4.8 < float(rng.noncentral_chisquare(4, 1, 10000).mean()) < 5.2
        True"""
        shape, df, nonc = parameters("noncentral_chisquare", size, df=(df, "above 0"), nonc=(nonc, "from 0 to 2**63"))
        degrees = computed("0.5 * df + x", self._variate("poisson", shape, "float64", nonc / 2), df=df)
        return computed("2 * x", self._variate("gamma", shape, "float64", degrees))

    def f(self, dfnum: Real, dfden: Real, size: Size = None) -> Array:
        """Ratios of two chi-square numbers, each divided by its degrees of freedom.

        >>> bool((collet.random.default_rng(7).f(3, 5, 100) > 0).all())
        True"""
        shape, dfnum, dfden = parameters("f", size, dfnum=(dfnum, "above 0"), dfden=(dfden, "above 0"))
        x = self._variate("log_gamma", shape, "float64", dfnum / 2)
        y = self._variate("log_gamma", shape, "float64", dfden / 2)
        return computed("exp(x - y) * (dfden / dfnum)", x, y=y, dfnum=dfnum, dfden=dfden)

    def noncentral_f(self, dfnum: Real, dfden: Real, nonc: Real, size: Size = None) -> Array:
        """f with a noncentral chi-square number in the numerator.

        >>> bool((collet.random.default_rng(7).noncentral_f(3, 5, 1, 100) > 0).all())
        True"""
        shape, dfnum, dfden, nonc = parameters("noncentral_f", size, dfnum=(dfnum, "above 0"), dfden=(dfden, "above 0"),
                                               nonc=(nonc, "from 0 to 2**63"))
        x = self.noncentral_chisquare(dfnum, nonc, shape)
        return computed("x / y * (dfden / dfnum)", x, y=self.chisquare(dfden, shape), dfnum=dfnum, dfden=dfden)

    def standard_t(self, df: Real, size: Size = None) -> Array:
        """Student's t of df degrees of freedom.

        >>> collet.random.default_rng(7).standard_t(3, 2).shape
        (2,)"""
        shape, df = parameters("standard_t", size, df=(df, "above 0"))
        y = self._variate("log_gamma", shape, "float64", df / 2)
        return computed("x * exp(0.5 * (log(0.5 * df) - y))", self._standard("normal", shape), y=y, df=df)

    def beta(self, a: Real, b: Real, size: Size = None) -> Array:
        """Beta numbers, between 0 and 1.

        >>> rng = collet.random.default_rng(7)
        >>> 0.39 < float(rng.beta(2, 3, 10000).mean()) < 0.41
        True"""
        shape, a, b = parameters("beta", size, a=(a, "above 0"), b=(b, "above 0"))
        y = self._variate("log_gamma", shape, "float64", b)
        x = self._variate("log_gamma", shape, "float64", a)
        if holds_for_all((a >= TINY) | (b >= TINY)):
            return computed("expit(x - y)", x, y=y)
        u = self._standard("uniform", shape)  # where both are -inf the number is 1 with the probability a / (a + b)
        return computed("where(x == y, where(u * (a / b + 1) < a / b, 1.0, 0.0), expit(x - y))", x, y=y, u=u, a=a, b=b)

    def vonmises(self, mu: Real, kappa: Real, size: Size = None) -> Array:
        """Angles from -pi to pi around mu; kappa is their concentration.

        >>> bool((abs(collet.random.default_rng(7).vonmises(3, 1, 100)) <= np.pi).all())
        True"""
        shape, mu, kappa = parameters("vonmises", size, mu=(mu, None), kappa=(kappa, "finite and at least 0"))
        x = self._variate("vonmises", shape, "float64", kappa)
        text = "mu + x - 6.283185307179586 * round((mu + x) / 6.283185307179586)"
        return computed(text, x, mu=mu)

    def _of_exponential(self, function: str, text: str, size: Size, **given: Any) -> Array:
        shape, *found = parameters(function, size, **given)
        return computed(text, self._standard("exponential", shape), **dict(zip(given, found)))  # type: ignore[no-any-return]

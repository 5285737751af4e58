# SPDX-License-Identifier: Apache-2.0
"""The numbers of each method have the right distribution: Kolmogorov's test, chi-square of counts, moments at
extreme parameters. Seeds are fixed, so the results are too. COLLET_TEST_LONG=1: the tails of 10^8 numbers."""

import os

import numpy as np
import pytest

from collet import random

stats = pytest.importorskip("scipy.stats")

N = 20000
P_LIMIT = 1e-4  # about 130 p-values are tested

REAL = [
    ("normal", (1, 2), stats.norm(1, 2)), ("lognormal", (0.5, 0.7), stats.lognorm(0.7, scale=np.exp(0.5))),
    ("exponential", (3,), stats.expon(scale=3)), ("laplace", (1, 2), stats.laplace(1, 2)),
    ("logistic", (1, 2), stats.logistic(1, 2)), ("gumbel", (1, 2), stats.gumbel_r(1, 2)),
    ("weibull", (1.7,), stats.weibull_min(1.7)), ("pareto", (2.5,), stats.lomax(2.5)), ("power", (3,), stats.powerlaw(3)),
    ("power", (0.2,), stats.powerlaw(0.2)), ("rayleigh", (2,), stats.rayleigh(scale=2)),
    ("triangular", (1, 2, 4), stats.triang(1 / 3, 1, 3)), ("triangular", (1, 1, 4), stats.triang(0, 1, 3)),
    ("standard_cauchy", (), stats.cauchy()), ("wald", (2, 3), stats.invgauss(2 / 3, scale=3)),
    ("uniform", (2, 5), stats.uniform(2, 3)), *(("gamma", (a, 2), stats.gamma(a, scale=2)) for a in (0.1, 1, 1.2, 2.5, 30, 1e6)),
    ("chisquare", (3,), stats.chi2(3)), ("noncentral_chisquare", (3, 4), stats.ncx2(3, 4)),
    ("noncentral_chisquare", (0.5, 4), stats.ncx2(0.5, 4)), ("f", (3, 5), stats.f(3, 5)),
    ("noncentral_f", (3, 5, 2), stats.ncf(3, 5, 2)), ("standard_t", (1.5,), stats.t(1.5)), ("standard_t", (1e10,), stats.norm()),
    ("beta", (2, 3), stats.beta(2, 3)), ("beta", (0.2, 0.3), stats.beta(0.2, 0.3)), ("beta", (1e5, 2), stats.beta(1e5, 2)),
    *(("vonmises", (0, k), stats.vonmises(k)) for k in (1e-9, 0.7, 1.4, 50))]
COUNTS = [
    *(("poisson", (m,), stats.poisson(m)) for m in (1e-3, 0.7, 9.9, 10, 35, 1e4)),
    *(("binomial", p, stats.binom(*p)) for p in ((5, 0.3), (12, 0.9), (40, 0.5), (1000, 0.02), (10**12, 1e-9), (10**12, 1e-11))),
    *(("negative_binomial", p, stats.nbinom(*p)) for p in ((5, 0.3), (0.7, 0.1))),
    *(("geometric", (p,), stats.geom(p)) for p in (0.7, 0.05)),
    *(("hypergeometric", (g, b, s), stats.hypergeom(g + b, g, s)) for g, b, s in
      ((5, 9, 6), (30, 90, 100), (5000, 200, 60), (2000, 3000, 2600))),
    *(("logseries", (p,), stats.logser(p)) for p in (0.3, 0.97)), *(("zipf", (a,), stats.zipf(a)) for a in (1.2, 2, 4))]


def chi_square(made, law):
    """The p-value of counts; values that are expected fewer than 10 times are one group."""
    values, counts = np.unique(made, return_counts=True)
    expected = law.pmf(values) * made.size
    often = expected >= 10
    observed = np.append(counts[often], made.size - counts[often].sum())
    expected = np.append(expected[often], made.size - expected[often].sum())
    if expected[-1] < 10:
        observed, expected = observed[:-1], expected[:-1]
    return stats.chi2.sf(((observed - expected)**2 / expected).sum(), max(len(expected) - 1, 1))


@pytest.mark.parametrize("name, parameters, law", REAL, ids=lambda x: str(x) if isinstance(x, (str, tuple)) else "")
def test_real(name, parameters, law):
    made = getattr(random.Generator(11), name)(*parameters, size=N).to_numpy()
    assert stats.kstest(made, law.cdf).pvalue > P_LIMIT
    assert abs(np.corrcoef(np.argsort(np.argsort(made))[1:], np.argsort(np.argsort(made))[:-1])[0, 1]) < 4 / N**0.5


@pytest.mark.parametrize("name, parameters, law", COUNTS, ids=lambda x: str(x) if isinstance(x, (str, tuple)) else "")
def test_counts(name, parameters, law):
    made = getattr(random.Generator(11), name)(*parameters, size=N).to_numpy()
    assert chi_square(made, law) > P_LIMIT


@pytest.mark.parametrize("name, parameters, mean, deviation", [
    ("poisson", (1e15,), 1e15, 1e15**0.5), ("poisson", (9e18,), 9e18, 3e9), ("gamma", (1e15, 1), 1e15, 1e15**0.5),
    ("binomial", (2**53, 0.3), 2**53 * 0.3, (2**53 * 0.21)**0.5), ("hypergeometric", (2**51, 2**51, 2**40), 2**39, 2.0**19),
    ("vonmises", (0, 1e8), 0, 1e-4), ("vonmises", (0, 1e300), 0, 1e-150)])
def test_extremes_that_are_normal(name, parameters, mean, deviation):
    made = getattr(random.Generator(11), name)(*parameters, size=N).to_numpy()
    assert stats.kstest((made - mean) / deviation, "norm").pvalue > P_LIMIT


def test_other_extremes():
    g = random.Generator(11)
    small = g.gamma(1e-3, size=N).to_numpy()  # U^1000 underflows; the logarithm does not
    for limit in (1e-300, 1e-100, 1e-10, 0.1):
        p = stats.gamma.cdf(limit, 1e-3)
        assert abs((small < limit).mean() - p) < 5 * (p * (1 - p) / N)**0.5
    assert stats.kstest(g.geometric(1e-15, N).to_numpy() * 1e-15, "expon").pvalue > P_LIMIT
    assert (g.geometric(1e-300, 5) == 2**63 - 1).all() and (g.zipf(1e3, 5) == 1).all()
    assert (g.gamma(0, size=5) == 0).all() and (g.poisson(0, 5) == 0).all() and (g.binomial(7, 1, 5) == 7).all()
    extreme = g.beta(1e-4, 1e-4, N).to_numpy()  # almost 0 or almost 1
    assert np.isfinite(extreme).all() and abs((extreme < 0.5).mean() - 0.5) < 0.02
    assert abs((g.zipf(1 + 1e-12, N).to_numpy() < 2.0**31.5).mean() - 0.5) < 0.03  # nearly uniform logarithms
    assert (abs(g.vonmises(3, 0.1, N)) <= np.pi).all()
    t = g.standard_t(1e-3, N).to_numpy()
    assert not np.isnan(t).any() and abs((t > 0).mean() - 0.5) < 0.02


def test_integers():
    for span in (3, 1000, 3 * 2**62):
        made = random.Generator(11).integers(0, span, N, "uint64").to_numpy()
        bins = np.bincount((made // (-(-span // 64))).astype(int)) if span > 64 else np.bincount(made.astype(int))
        width = np.diff(np.minimum(np.arange(len(bins) + 1) * float(-(-span // 64) if span > 64 else 1), span))
        assert stats.chisquare(bins, N * width / span).pvalue > P_LIMIT


def test_orders():
    g = random.Generator(11)
    orders = g.permuted(np.tile(np.arange(4), (N, 1)), axis=1).to_numpy() @ [64, 16, 4, 1]
    counts = np.unique(orders, return_counts=True)[1]
    assert len(counts) == 24 and stats.chisquare(counts).pvalue > P_LIMIT
    p = np.array([0.5, 0.3, 0.2])
    assert stats.chisquare(np.bincount(g.choice(3, N, p=p).to_numpy()), N * p).pvalue > P_LIMIT
    pairs = np.array([g.choice(3, 2, replace=False, p=p).to_numpy() @ [3, 1] for _ in range(2000)])
    chance = [p[i] * p[j] / (1 - p[i]) for i in range(3) for j in range(3) if i != j]
    assert stats.chisquare(np.unique(pairs, return_counts=True)[1], 2000 * np.array(chance)).pvalue > P_LIMIT


def test_vectors():
    g = random.Generator(11)
    made = g.dirichlet([0.5, 2, 3], N).to_numpy()
    assert stats.kstest(made[:, 0], stats.beta(0.5, 5).cdf).pvalue > P_LIMIT
    assert stats.kstest(made[:, 2], stats.beta(3, 2.5).cdf).pvalue > P_LIMIT
    made = g.multinomial(50, [0.2, 0.3, 0.5], N).to_numpy()
    assert all(chi_square(made[:, k], stats.binom(50, p)) > P_LIMIT for k, p in enumerate((0.2, 0.3, 0.5)))
    assert abs(np.cov(made[:, 0], made[:, 1])[0, 1] + 50 * 0.06) < 0.4
    made = g.multivariate_hypergeometric([10, 20, 30], 25, N).to_numpy()
    assert all(chi_square(made[:, k], stats.hypergeom(60, n, 25)) > P_LIMIT for k, n in enumerate((10, 20, 30)))
    made = g.multivariate_normal([1, 2], [[2, 1], [1, 3]], N).to_numpy()
    assert stats.kstest((made - [1, 2]) @ [1, 1] / 7**0.5, "norm").pvalue > P_LIMIT


@pytest.mark.skipif("COLLET_TEST_LONG" not in os.environ, reason="a long test: COLLET_TEST_LONG=1 runs it")
@pytest.mark.parametrize("name, parameters, law", [
    ("standard_normal", (), stats.norm()), ("standard_exponential", (), stats.expon()), ("laplace", (), stats.laplace()),
    ("logistic", (), stats.logistic()), ("gumbel", (), stats.gumbel_r()), ("standard_gamma", (2.5,), stats.gamma(2.5)),
    ("standard_gamma", (30,), stats.gamma(30)), ("poisson", (5,), stats.poisson(5)), ("poisson", (100,), stats.poisson(100)),
    ("binomial", (1000, 0.1), stats.binom(1000, 0.1)), ("beta", (3, 4), stats.beta(3, 4)), ("standard_t", (4,), stats.t(4))])
def test_tails(name, parameters, law):
    """How many of 10^8 numbers are beyond the quantiles of 10^-3 to 3 10^-8, on both sides."""
    piece, pieces, g = 10**6, 100, random.Generator(11)
    levels = np.array([1e-3, 1e-5, 1e-6, 3e-8])
    low, high = law.ppf(levels), law.isf(levels)
    below, above = np.zeros(4), np.zeros(4)
    for _ in range(pieces):
        made = np.sort(getattr(g, name)(*parameters, size=piece).to_numpy())
        below += np.searchsorted(made, low, "right")
        above += piece - np.searchsorted(made, high, "right")
    for counts, chance in (below, law.cdf(low)), (above, law.sf(high)):
        expected = chance * piece * pieces
        for count, mean in zip(counts, expected):
            p = min(stats.poisson.cdf(count, mean), stats.poisson.sf(count - 1, mean))
            assert p > 1e-5, f"{count} numbers beyond a quantile, {mean} expected"

# SPDX-License-Identifier: Apache-2.0
"""The methods of collet.random.Generator: shapes, dtypes, state and errors as numpy.random.Generator, and the same numbers on
every backend. test_random_distributions.py tests the distributions."""

import pickle
from itertools import permutations

import numpy as np
import pytest

import collet
from collet import random

INF, NAN = float("inf"), float("nan")
CALLS = {  # valid parameters of each method that takes size
    "beta": (2, 3), "binomial": (100, 0.3), "chisquare": (3,), "exponential": (2,), "f": (3, 5), "gamma": (2, 3),
    "geometric": (0.2,), "gumbel": (1, 2), "hypergeometric": (30, 70, 20), "laplace": (1, 2), "logistic": (1, 2),
    "lognormal": (0, 1), "logseries": (0.7,), "negative_binomial": (5, 0.3), "noncentral_chisquare": (3, 2),
    "noncentral_f": (3, 5, 2), "normal": (1, 2), "pareto": (3,), "poisson": (20,), "power": (3,), "rayleigh": (2,),
    "standard_gamma": (2,), "standard_t": (5,), "triangular": (0, 1, 3), "uniform": (1, 2), "vonmises": (1, 2),
    "wald": (2, 3), "weibull": (2,), "zipf": (2.5,)}
COUNTS = ("binomial", "geometric", "hypergeometric", "logseries", "negative_binomial", "poisson", "zipf")


def rng():
    return random.Generator(3)


def test_every_method_of_numpy():
    numpy = {n for n in dir(np.random.Generator) if not n.startswith("_")} - {"bit_generator"}
    assert numpy <= {*dir(random.Generator)}
    without_size = {"bytes", "permutation", "permuted", "shuffle", "spawn", "integers", "choice", "random", "standard_normal",
                    "standard_exponential", "standard_cauchy", "dirichlet", "multinomial", "multivariate_normal",
                    "multivariate_hypergeometric"}
    assert numpy - without_size <= {*CALLS}


@pytest.mark.parametrize("name", CALLS)
def test_shapes_and_dtypes(name):
    parameters = CALLS[name]
    method = getattr(rng(), name)
    made = method(*parameters, size=(3, 4))
    assert type(made) is collet.Array and made.shape == (3, 4)
    assert made.dtype == ("int64" if name in COUNTS else "float64")
    assert len(set(method(*parameters, size=50).tolist())) > 1
    assert method(*parameters).shape == () and method(*parameters, size=0).shape == (0,)
    first = np.full((3, 1), parameters[0], "f4" if float(parameters[0]).is_integer() else "f8")
    for given in first, collet.asarray(first), first.tolist():
        assert (getattr(rng(), name)(given, *parameters[1:], size=(3, 4)) == getattr(rng(), name)(*parameters, size=(3, 4))).all()
    assert method(first, *parameters[1:]).shape == (3, 1)
    assert method(*parameters[:-1], [parameters[-1]] * 5).shape == (5,)
    with pytest.raises(ValueError, match="size is .* parameters have the shape"):
        method(first, *parameters[1:], size=2)


@pytest.mark.parametrize("name", CALLS)
def test_positions(name):
    """A call never uses numbers of an earlier call. The state consists of the seed and the block."""
    generator = rng()
    generator.random(3)
    saved = generator.state
    made = getattr(generator, name)(*CALLS[name], size=40).tolist()
    again = pickle.loads(pickle.dumps(random.Generator(**saved)))
    assert getattr(again, name)(*CALLS[name], size=40).tolist() == made and again.state == generator.state
    assert getattr(generator, name)(*CALLS[name], size=40).tolist() != made
    generator.state = saved
    assert getattr(generator, name)(*CALLS[name], size=40).tolist() == made


def all_numbers(generator):
    made = {n: getattr(generator, n)(*p, size=1001) for n, p in CALLS.items()}
    made["arrays"] = generator.poisson(np.geomspace(0.1, 1e15, 600).reshape(3, 1, 200), size=(3, 2, 200))
    made["float32"] = generator.standard_exponential(1001, "f4")
    made["integers"] = generator.integers(-5, 10**12, 1001)
    made["bits"] = generator.integers(0, 2**64 - 1, (7, 11), "uint64", endpoint=True)
    made["order"] = generator.permutation(1001)
    made["several"] = generator.multinomial(1000, [0.2, 0.3, 0.5], 100)
    return made


def test_backends_agree():
    """The results of the methods in `exact` have the same bits on all backends. The results of other methods differ
    by a few ulp."""
    exact = {*COUNTS, "gamma", "standard_gamma", "chisquare", "arrays", "integers", "bits", "order", "several", "uniform"}
    found = {}
    for backend in collet.backends():
        if backend.state != "unavailable":
            with collet.using(backend.name):
                try:
                    found[backend.name] = {n: a.to_numpy() for n, a in all_numbers(random.Generator(5, 2**62)).items()}
                except collet.UnavailableError:  # a backend may turn out to be unusable at its first use
                    continue
    assert len(found) >= 2
    reference = found.pop("cpu_scalar")
    for name, made in found.items():
        for method, values in made.items():
            if method in exact:
                assert (values == reference[method]).all(), f"{method} on {name}"
            else:
                np.testing.assert_allclose(values, reference[method], rtol=1e-5 if method == "float32" else 1e-11, atol=1e-12,
                                           err_msg=f"{method} on {name}")


def test_threads_agree():
    made = {}
    before = collet.get_num_threads()
    try:
        for threads in 1, 2:
            collet.set_num_threads(threads)
            made[threads] = rng().poisson(3, 50001), rng().integers(10, size=50001), rng().gamma(2, size=50001)
    finally:
        collet.set_num_threads(before)
    for one, two in zip(made[1], made[2]):
        assert (one == two).all()


def test_spawn():
    parent = rng()
    a, b = parent.spawn(2)
    assert parent.block == 2 and len({parent.seed, a.seed, b.seed}) == 3
    assert a.block == 0 and (a.random(5) != b.random(5)).any()
    assert parent.spawn(0) == []


def test_bad_states():
    with pytest.raises(ValueError, match="must be a dict with seed and block"):
        rng().state = {"seed": 1}


# ---- Integers


def test_integers():
    g = rng()
    assert set(g.integers(3, size=200).tolist()) == {0, 1, 2}
    assert set(g.integers(-2, 1, 200, endpoint=True).tolist()) == {-2, -1, 0, 1}
    assert g.integers(5).shape == () and g.integers(5).dtype == "int64"
    for dtype in "int8 uint8 int16 uint16 int32 uint32 int64 uint64".split():
        limits = np.iinfo(dtype)
        made = g.integers(limits.min, limits.max, 4000, dtype, endpoint=True)
        assert made.dtype == dtype and abs(float(made.astype("f8").mean()) - (limits.max / 2 + limits.min / 2)) < limits.max / 20
    assert set(g.integers(0, 2, 50, bool).tolist()) == {False, True}
    made = g.integers([[0, 3]], [[5], [9]], (50, 2, 2)).to_numpy()
    assert (made.min(axis=0) == [[0, 3], [0, 3]]).all() and (made.max(axis=0) == [[4, 4], [8, 8]]).all()
    assert (rng().integers(collet.asarray([3]), size=5) == rng().integers(3, size=5)).all()


@pytest.mark.parametrize("given, text", [
    ((5, 5), "low must be below high"), ((0,), "low must be below"), ((6, 5, None, "int64", True), "low must be at most high"),
    (([0, 5], 4), "low must be below"), ((0, 300, None, "uint8"), "high allows 299, which uint8 does not hold"),
    ((-1, 5, None, "uint64"), "low allows -1"), ((0, 2**64, None, "int64"), "high allows"), ((0, [2, 3], (2, 3)), "size is"),
])
def test_wrong_integers(given, text):
    with pytest.raises(ValueError, match=f"integers: .*{text}"):
        rng().integers(*given)


def test_integers_of_wrong_types():
    for given in ((0.5,), (0, 2.5), (["a"],), (0, 5, None, "float64")):
        with pytest.raises((TypeError, collet.DtypeError)):
            rng().integers(*given)


def test_bytes():
    assert len(rng().bytes(13)) == 13 and rng().bytes(0) == b"" and rng().bytes(13) == rng().bytes(16)[:13]


# ---- Orders and samples


def test_permutation():
    g = rng()
    made = g.permutation(1000)
    assert made.dtype == "int64" and sorted(made.tolist()) == list(range(1000)) != made.tolist()
    x = np.arange(24).reshape(2, 4, 3)
    made = g.permutation(x, axis=1).to_numpy()
    assert any((made == x[:, order]).all() for order in permutations(range(4)))
    assert g.permutation(0).shape == (0,)
    seen = {tuple(g.permutation(3).tolist()) for _ in range(200)}
    assert len(seen) == 6


def test_shuffle():
    for x in (np.arange(100), collet.asarray(np.arange(100)), list(range(100))):
        assert rng().shuffle(x) is None
        assert sorted(np.asarray(x).tolist()) == list(range(100)) != np.asarray(x).tolist()
    x = np.arange(40).reshape(2, 20)
    rng().shuffle(x, axis=1)
    assert (x[1] - x[0] == 20).all() and (x[0] != np.arange(20)).any()
    with pytest.raises(TypeError, match="shuffle: x is tuple, .* use permutation"):
        rng().shuffle((1, 2))


def test_permuted():
    x = np.arange(60).reshape(3, 20)
    made = rng().permuted(x, axis=1).to_numpy()
    assert (np.sort(made, axis=1) == x).all() and len({tuple(r % 20) for r in made}) == 3
    made = rng().permuted(x).to_numpy()
    assert (np.sort(made.ravel()) == x.ravel()).all() and (np.sort(made, axis=1) != x).any()
    out = np.zeros_like(x)
    assert rng().permuted(x, axis=0, out=out) is out and (np.sort(out, axis=0) == x).all()


def test_choice():
    g = rng()
    assert g.choice(5).shape == () and g.choice(5, (2, 3)).shape == (2, 3)
    assert sorted(g.choice(6, 6, replace=False).tolist()) == list(range(6))
    assert set(g.choice([7, 8, 9], 100).tolist()) == {7, 8, 9}
    x = np.arange(12).reshape(3, 4)
    assert g.choice(x, 5).shape == (5, 4) and g.choice(x, (2, 2), axis=1).shape == (3, 2, 2)
    assert set(g.choice(4, 100, p=[0, 0.5, 0.5, 0]).tolist()) == {1, 2}
    made = g.choice([5, 6, 7], 2, replace=False, p=[0.5, 0.5, 0])
    assert sorted(made.tolist()) == [5, 6]
    first = [int(g.choice(3, 2, replace=False, p=[0.7, 0.2, 0.1])[0]) for _ in range(400)]
    assert abs(first.count(0) / 400 - 0.7) < 0.1


@pytest.mark.parametrize("given, text", [
    ((3, 4, False), "size is 4, but a has only 3 parts"), ((0, 2), "a has 0 parts"), ((3, 1, True, [0.5, 0.5]), "p has the shape"),
    ((2, 1, True, [0.5, 0.4]), "p has the sum 0.9"), ((2, 1, True, [1.5, -0.5]), "p has the element -0.5"),
    ((3, 2, False, [1, 0, 0]), "p is above 0 for only 1"), ((2, 1, True, [NAN, 1]), "p has the element nan"),
])
def test_wrong_choices(given, text):
    with pytest.raises(ValueError, match=f"choice: .*{text}"):
        rng().choice(*given)


# ---- Other distributions


@pytest.mark.parametrize("name, given, text", [
    ("normal", (0, -1), "scale is -1.0; it must be at least 0"), ("normal", (0, NAN), "scale is nan"),
    ("normal", (0, [1, -2]), "scale has the element -2.0"), ("exponential", (-1,), "scale"), ("gamma", (-1,), "shape"),
    ("gamma", (INF,), "shape is inf; it must be finite"), ("beta", (0, 1), "a is 0.0; it must be above 0"),
    ("poisson", (-1,), "lam"), ("poisson", (1e19,), "lam is 1e\\+19; it must be from 0 to 2"), ("binomial", (-1, 0.5), "n is -1.0"),
    ("binomial", (2.5, 0.5), "n is 2.5; it must be a whole number"), ("binomial", (5, 1.5), "p is 1.5; it must be from 0 to 1"),
    ("geometric", (0,), "p is 0.0; it must be above 0"), ("hypergeometric", (3, 4, 8), "nsample is 8.0, but ngood"),
    ("logseries", (1,), "p is 1.0"), ("zipf", (1,), "a is 1.0; it must be above 1"), ("vonmises", (0, -1), "kappa"),
    ("triangular", (2, 1, 3), "left must be at most mode"), ("triangular", (1, 1, 1), "left must be below right"),
    ("wald", (0, 1), "mean"), ("weibull", (0,), "a is"), ("standard_t", (0,), "df"), ("multinomial", (-1, [1.0]), "n is -1.0"),
    ("multinomial", (5, [0.6, 0.6, 0]), "pvals must be"), ("dirichlet", ([1, 0],), "alpha has the element 0.0"),
    ("dirichlet", (1,), "alpha has the shape"), ("multivariate_hypergeometric", ([2, -1], 1), "colors"),
    ("multivariate_hypergeometric", ([2, 1], 4), "nsample is 4; it must be from 0 to 3"),
    ("multivariate_normal", ([0, 0], [[1, 0]]), "mean has the shape"),
    ("multivariate_normal", ([0, 0], [[1, 2], [2, 1]], None, "raise"), "not symmetric and positive"),
    ("multivariate_normal", ([0], [[1]], None, "never"), "check_valid is 'never'"),
])
def test_wrong_parameters(name, given, text):
    with pytest.raises(ValueError, match=f"{name}: .*{text}"):
        getattr(rng(), name)(*given)
    with pytest.raises(ValueError, match="method is 'lu'"):
        rng().multivariate_normal([0], [[1]], method="lu")


def test_out():
    for name in ("random", "standard_normal", "standard_exponential"):
        for dtype in ("f4", "f8"):
            out = np.zeros((3, 4), dtype)
            assert getattr(rng(), name)(out=out) is out and (out == getattr(rng(), name)((3, 4), dtype)).all()
    out = collet.zeros(5, "float32")
    assert rng().standard_gamma(2, out=out) is out and (out == rng().standard_gamma(2, 5, "float32")).all()
    out = np.zeros((2, 3), "f4")
    assert rng().normal([1, 2, 3], 0, out=out) is out and (out == [1, 2, 3]).all()


def test_gradients():
    z = rng().normal(size=4).to_numpy()
    found = collet.grad(lambda m, s: rng().normal(m, s, 4).sum(), (0, 1))(np.array([1.0]), np.array([2.0]))
    np.testing.assert_allclose(found[0], [4]), np.testing.assert_allclose(found[1], [z.sum()])


def test_vectors():
    g = rng()
    made = g.dirichlet([1e-3, 1e-3, 2], (4, 5))
    assert made.shape == (4, 5, 3) and abs(made.sum(axis=-1) - 1).max() < 1e-14
    assert g.multinomial(10, [0.5, 0.5]).shape == (2,)
    made = g.multinomial([[5], [7]], [0.1, 0.2, 0.7], (2, 3))
    assert made.shape == (2, 3, 3) and made.sum(axis=-1).tolist() == [[5] * 3, [7] * 3]
    made = g.multinomial(10, [[1, 0], [0, 1.0]])
    assert made.tolist() == [[10, 0], [0, 10]]
    assert g.multivariate_hypergeometric([3, 4], 7).tolist() == [3, 4]
    cov = np.array([[2, 1.5], [1.5, 2]])
    for method in ("svd", "eigh", "cholesky"):
        made = g.multivariate_normal([5, -5], cov, 20000, method=method).to_numpy()
        assert abs(np.cov(made.T) - cov).max() < 0.1 and abs(made.mean(axis=0) - [5, -5]).max() < 0.05
    with pytest.warns(RuntimeWarning, match="not symmetric and positive"):
        g.multivariate_normal([0, 0], [[1, 2], [2, 1]])


def test_ranges_and_parameters_of_rows():
    rng = collet.random.default_rng(5)
    for call in (lambda: rng.negative_binomial(10, 1e-18), lambda: rng.negative_binomial(1e300, 0.5), lambda: rng.uniform(5, 1),
                 lambda: rng.uniform(-1.7e308, 1.7e308), lambda: collet.random.uniform(0, np.inf, 2, seed=1),
                 lambda: collet.random.normal(0.0, -2.0, seed=1)):
        with pytest.raises(ValueError):
            call()
    ones = collet.ones(3)
    assert collet.vmap(lambda a: rng.normal(0, a), randomness="different")(ones).shape == (3,)
    with pytest.raises(ValueError, match="exponential: scale has the element -1.0"):
        collet.vmap(lambda a: rng.exponential(a), randomness="different")(-ones)
    with pytest.raises(collet.UnsupportedError, match="random.poisson: its parameters .* rows of vmap"):
        collet.vmap(lambda a: rng.poisson(a), randomness="different")(ones)

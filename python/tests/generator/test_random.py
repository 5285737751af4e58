# SPDX-License-Identifier: Apache-2.0
"""collet.random: functions with a seed and an offset, and the class Generator."""

import pickle

import numpy as np
import pytest

import collet
from collet import op, random


@pytest.mark.parametrize("name", ["uniform", "normal"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_functions_of_seed_and_offset(name, dtype):
    function = getattr(random, name)
    whole = function(size=(4, 5), seed=9, dtype=dtype)
    assert type(whole) is collet.Array and whole.dtype == dtype and whole.shape == (4, 5)
    assert (whole == getattr(op, name)(shape=(4, 5), dtype=dtype, seed=9)).all()
    assert (function(size=7, seed=9, offset=6, dtype=dtype) == whole.reshape(-1)[6:13]).all()
    assert (function(size=20, seed=10, dtype=dtype) != whole.reshape(-1)).any()
    scaled = function(2, 5, size=(4, 5), seed=9, dtype=dtype)
    wanted = whole * 3 + 2 if name == "uniform" else whole * 5 + 2
    np.testing.assert_allclose(scaled, wanted, rtol=1e-6)
    assert (function(np.float64(2), np.int64(5), (4, 5), seed=9, dtype=dtype) == scaled).all()
    assert function(seed=1).shape == ()


def test_out():
    out = collet.empty((3, 4), "float32")
    assert random.normal(1, 2, seed=3, out=out) is out
    assert (out.to_numpy() == random.normal(1, 2, (3, 4), seed=3, dtype="f4")).all()
    target = np.zeros((6, 4))[::2]
    assert random.Generator(3).random(out=target) is target
    assert (target == random.Generator(3).random((3, 4))).all()
    with pytest.raises(collet.DtypeError):
        random.uniform(seed=1, out=np.zeros(3, "i4"))


def test_backends_agree():
    found = []
    for backend in collet.backends():
        if backend.state != "unavailable":
            with collet.using(backend.name):
                try:
                    found.append((random.Generator(5).uniform(-1, 3, 1001, "f4"),
                                  random.Generator(5).normal(1, 3, 1001, "f4")))
                except collet.UnavailableError:  # a backend may turn out to be unusable at its first use
                    continue
    assert len(found) >= 2
    for uniform, normal in found[1:]:
        assert (uniform == found[0][0]).all()
        np.testing.assert_allclose(normal, found[0][1], rtol=1e-5, atol=1e-5)


def test_generator():
    g = random.default_rng(11)
    assert random.default_rng(g) is g and repr(g) == "Generator(seed=11, block=0)"
    first = g.random(5)
    assert g.block == 3  # three blocks, of two numbers each
    wanted = random.normal(size=5, seed=11, offset=12, dtype="f4")
    assert (g.standard_normal(5, "f4") == wanted).all()
    assert g.block == 5
    saved = pickle.loads(pickle.dumps(g))
    assert (saved.uniform(0, 2, (2, 2)) == g.uniform(0, 2, (2, 2))).all()
    assert (random.Generator(11).random(5) == first).all()
    assert 0.4 < g.random(10000).mean() < 0.6 and abs(g.normal(3, 2, 10000).mean() - 3) < 0.1
    assert (random.Generator().random(4) != random.Generator().random(4)).any()


def test_no_bits_are_used_twice():
    g = random.Generator(2)
    parts = [g.random(3, "f4"), g.random(2), g.random(1, "f4"), g.random(1, "f4")]
    whole = random.uniform(size=16, seed=2, dtype="f4").tolist()
    assert [whole.index(p[0]) for p in (parts[0], parts[2], parts[3])] == [0, 8, 12]
    assert parts[1].tolist() == random.uniform(size=2, seed=2, offset=2).tolist()


def test_a_size_in_place_of_a_number():
    for call in (random.uniform, random.normal):
        with pytest.raises(TypeError, match=r"is \(3,\); it must be a number; .* write size=\(3,\)"):
            call((3,), seed=1)


def test_seeds():
    assert random.Generator(2**64 - 1).random(2).shape == (2,)
    for seed in (-1, 2**64):
        with pytest.raises(ValueError, match="seed"):
            random.Generator(seed)
    with pytest.raises(TypeError):
        random.Generator(1.5)
    with pytest.raises(TypeError):
        random.uniform(size=3)


# Seeds that are sequences of integers, choices from large ranges, shape parameters so small that logarithms overflow.


def test_seeds_of_several_integers():
    """These seeds are NumPy's hash of the sequence. NumPy guarantees that this hash never changes."""
    wanted = 12997252459554536576
    for seed in [1, 2, 3], (1, 2, 3), np.array([1, 2, 3]), np.array([1, 2, 3], "u4"), np.random.SeedSequence([1, 2, 3]):
        for made in random.Generator(seed), random.default_rng(seed):
            assert made.state == {"seed": wanted, "block": 0}
    assert random.default_rng([1, 2]).seed != random.default_rng([2, 1]).seed
    assert random.default_rng([2**200]).seed == int(np.random.SeedSequence(2**200).generate_state(1, "u8")[0])
    assert random.default_rng(np.int64(7)).seed == random.default_rng(np.array(7)).seed == 7
    assert random.default_rng(None).seed != random.Generator().seed
    for wrong in "text", [1.5], [-1], object(), [[1], "a"]:
        with pytest.raises(TypeError, match="it must be an integer from 0 to 2"):
            random.default_rng(wrong)
    with pytest.raises(ValueError, match="0 to 2"):
        random.default_rng(-1)


def test_choices_among_very_many():
    rng = random.default_rng(5)
    chosen = rng.choice(10**12, 1000, replace=False).to_numpy()
    assert len({*chosen.tolist()}) == 1000 and 0 <= chosen.min() and chosen.max() < 10**12
    assert abs(chosen.mean() / 10**12 - 0.5) < 0.05 and abs(chosen[:500].mean() / 10**12 - 0.5) < 0.07  # no order
    assert rng.choice(2**62, (2, 3), replace=False).shape == (2, 3)
    counts = np.zeros(20_000)
    for _ in range(100):
        found = rng.choice(20_000, 400, replace=False).to_numpy()  # numbers that are drawn twice are replaced
        assert len({*found.tolist()}) == 400
        counts[found] += 1
    assert ((counts - 2)**2).sum() / 1.96 < 20_000 + 6 * 200  # chi-square
    again = random.default_rng(5).choice(10**12, 1000, replace=False).to_numpy()
    assert (again == chosen).all()
    rng = random.default_rng(6)
    rows = collet.vmap(lambda x: x + rng.choice(10**6, 3, replace=False), randomness="different")(collet.zeros(2)).to_numpy()
    assert len({*rows.reshape(-1).tolist()}) == 6


def test_tiny_shapes():
    rng = random.default_rng(3)
    for alpha in [1e-310, 3e-310], [5e-324, 1.5e-323], [1e-308, 3e-308]:
        made = rng.dirichlet(alpha, 4000).to_numpy()
        assert (made.sum(axis=1) == 1).all() and abs(made[:, 1].mean() - 0.75) < 0.03
        made = rng.beta(*alpha, 4000).to_numpy()
        assert set(made.tolist()) == {0, 1} and abs(made.mean() - 0.25) < 0.03
    assert rng.dirichlet([1e-310, 1.0], (2, 2)).tolist() == [[[0, 1]] * 2] * 2
    assert rng.dirichlet([1e-310] * 3).shape == (3,)
    made = rng.beta([1e-310, 2.0], [1e-310, 3.0], size=(500, 2)).to_numpy()
    assert set(made[:, 0].tolist()) == {0, 1} and abs(made[:, 1].mean() - 0.4) < 0.05


LAWS = {"gamma": [(a, 1.0) for a in (0.0, 1e-310, 1e-20, 1e-3, 0.5, 1.0, 1.0000001, 1.7, 2.5, 2.6, 30.0, 1e5, 1e15, 1e300)],
        "beta": [(1e-3, 2.0), (0.5, 0.5), (30.0, 4.0)],
        "poisson": [(m,) for m in (0.0, 1e-300, 0.3, 3.0, 9.999, 10.0, 11.0, 15.5, 40.0, 1e3, 1e6, 1e12, 1e18, 2.0**63)],
        "binomial": [(n, p) for n in (0, 1, 5, 20, 33, 100, 10**4, 10**9, 2**53) for p in (0.0, 1e-300, 0.01, 0.3, 0.5, 0.51, 0.9, 1.0)],
        "geometric": [(p,) for p in (1e-300, 1e-6, 0.2, 0.7, 1.0)], "hypergeometric": [(30, 70, 20), (10**6, 10**5, 10**3)],
        "vonmises": [(0.0, 2.0)], "zipf": [(2.5,)], "logseries": [(0.7,)]}


@pytest.mark.parametrize("law", LAWS)
def test_runs_have_the_bits_of_single_numbers(law):
    """If all elements share the parameters, several numbers are drawn at a time; with arrays of parameters, one
    number at a time. Both ways give the same bits."""
    for parameters in LAWS[law]:
        for size in (700,), (16,), (15,), (40, 5, 7), (3, 1, 100):
            shared, single = (random.Generator(9, 2**33 - 300) for _ in range(2))
            found = getattr(shared, law)(*parameters, size=size).to_numpy()
            arrays = [np.full(size, p) for p in parameters]
            wanted = getattr(single, law)(*arrays).to_numpy()
            assert found.tobytes() == wanted.tobytes(), parameters
            assert shared.state == single.state


def test_runs_of_integers():
    for span in 0, 1, 6, 100, 2**31, 2**32, 10**12, 2**53 + 1, 2**63 - 2, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1:
        shared, single = random.Generator(4), random.Generator(4)
        found = shared.integers(0, span, 3000, "uint64", endpoint=True).to_numpy()
        wanted = single.integers(np.zeros(3000, "u8"), np.full(3000, span, "u8"), dtype="uint64", endpoint=True).to_numpy()
        assert (found == wanted).all() and found.max() <= span, span


def test_runs_in_views():
    out = collet.zeros((6, 50))
    random.Generator(5).standard_gamma(2.5, out=out[::2, 1::2])
    assert (out[::2, 1::2] == random.Generator(5).standard_gamma(2.5, size=(3, 25))).all() and float(collet.sum(abs(out[1::2]))) == 0

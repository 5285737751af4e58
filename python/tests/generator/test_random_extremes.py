# SPDX-License-Identifier: Apache-2.0
"""Seeds that are no single number, choices among very many parts, and shapes so small that logarithms overflow."""

import numpy as np
import pytest

import collet
from collet import random


def test_seeds_of_several_integers():
    """They are NumPy's hash of the sequence, which stays the same for ever."""
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
        found = rng.choice(20_000, 400, replace=False).to_numpy()  # several are drawn twice, and replaced
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
    """Parameters that all elements share are drawn by vectors; arrays of parameters one element at a time."""
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

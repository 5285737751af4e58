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

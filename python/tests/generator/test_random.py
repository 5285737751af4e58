# SPDX-License-Identifier: Apache-2.0
"""collet.random: sequences by seed and offset, and the Generator."""

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

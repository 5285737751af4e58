# SPDX-License-Identifier: Apache-2.0
"""Superposition, cross-correlation and shape of collet.md.analysis, against NumPy."""

import numpy as np
import pytest

import collet
from collet.md import analysis
from collet.md.analysis import _structure

random = np.random.default_rng(3)
BODY = random.normal(size=(9, 3))


def rotations(count):
    q = np.linalg.qr(random.normal(size=(count, 3, 3)))[0]
    return q * np.linalg.det(q)[:, None, None]


def tumbled(frames, noise=0.0):
    moved = BODY + noise * random.normal(size=(frames, *BODY.shape))
    return np.einsum("fij,fnj->fni", rotations(frames), moved) + random.normal(size=(frames, 1, 3))


def kabsch(frame, place, fit, weights):
    own = weights[fit] / weights[fit].sum()
    a, b = own @ frame[fit], own @ place[fit]
    u, _, v = np.linalg.svd(((frame[fit] - a) * own[:, None]).T @ (place[fit] - b))
    turn = u @ np.diag([1, 1, np.sign(np.linalg.det(u @ v))]) @ v
    return (frame - a) @ turn + b


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_rmsd_is_that_of_kabsch(dtype, monkeypatch):
    monkeypatch.setattr(_structure, "_AT_ONCE", 9 * 3 * 4)  # several slabs
    x, weights, fit = tumbled(11, 0.1).astype(dtype), random.uniform(1, 2, 9), np.arange(5)
    domains = {"all": None, "core": fit, "tail": np.arange(9) > 6}
    found = analysis.rmsd(x, BODY, weights=weights, fit=fit, of=domains)
    moved = np.array([kabsch(frame, BODY, fit, weights) for frame in x.astype("f8")])
    squares = ((moved - BODY)**2).sum(axis=2)
    for name, atoms in (("all", slice(None)), ("core", fit), ("tail", slice(7, None))):
        expected = np.sqrt(np.average(squares[:, atoms], axis=1, weights=weights[atoms]))
        np.testing.assert_allclose(found[name], expected, rtol=1e-10)
    plain = analysis.rmsd(x)
    assert plain.shape == (11,) and plain[0] < 1e-6
    np.testing.assert_allclose(plain, np.asarray(collet.op.rmsd(
        x.astype("f8"), None, x[0].astype("f8"))[0]), atol=1e-7)
    assert (analysis.rmsd(tumbled(4), BODY) < 1e-7).all()


def test_cross_correlation_of_known_motion():
    """The body tumbles. Relative to the body, atoms 6 and 7 move in the same direction, atom 8 moves in the opposite
    direction, and the other atoms do not move."""
    step = random.normal(size=(4000, 1))
    inner = np.repeat(BODY[None], 4000, axis=0)
    inner[:, 6] += 0.1 * step * [1, 0, 0]
    inner[:, 7] += 0.2 * step * [1, 0, 0]
    inner[:, 8] -= 0.1 * step * [1, 0, 0]
    x = np.einsum("fij,fnj->fni", rotations(4000), inner) + random.normal(size=(4000, 1, 3))
    found = analysis.dccm(x, fit=np.arange(6), blocks=4)
    np.testing.assert_allclose(found.matrix[6:, 6:], [[1, 1, -1], [1, 1, -1], [-1, -1, 1]],
                               atol=1e-9)
    np.testing.assert_allclose(found.rmsf[6:], np.array([0.1, 0.2, 0.1]) * step.std(), rtol=1e-6)
    assert found.rmsf[:6].max() < 1e-6 and found.blocks.shape == (4, 9, 9)
    # found.mean is in the coordinates of the body in the first frame.
    np.testing.assert_allclose(np.linalg.norm(found.mean[6] - found.mean[0]),
                               np.linalg.norm(inner[:, 6].mean(axis=0) - BODY[0]), rtol=1e-6)


def test_cross_correlation_is_the_sum_over_frames():
    x = tumbled(53, 0.1)
    found = analysis.dccm(x, blocks=4)
    moved = np.array([kabsch(frame, found.mean, np.arange(9), np.ones(9)) for frame in x])
    np.testing.assert_allclose(moved.mean(axis=0), found.mean, atol=1e-8)
    away = moved - found.mean

    def normal(part):
        sums = np.einsum("fid,fjd->ij", part, part)
        return sums / np.sqrt(np.outer(np.diag(sums), np.diag(sums)))
    np.testing.assert_allclose(found.matrix, normal(away), atol=1e-7)
    for i in range(4):
        np.testing.assert_allclose(found.blocks[i], normal(away[13 * i:13 * i + 13]), atol=1e-7)
    without = [normal(np.delete(away[:52], slice(13 * i, 13 * i + 13), axis=0)) for i in range(4)]
    np.testing.assert_allclose(found.error, 1.1969 * np.sqrt(3 * np.var(without, axis=0)), rtol=1e-3,
                               atol=1e-7)
    assert np.isnan(analysis.dccm(x[:3]).error).all()


def test_cross_correlation_does_not_depend_on_slabs(monkeypatch):
    x = tumbled(40, 0.1)
    whole = analysis.dccm(x)
    monkeypatch.setattr(_structure, "_AT_ONCE", 9 * 3 * 7)
    parts = analysis.dccm(x)
    np.testing.assert_allclose(parts.matrix, whole.matrix, atol=1e-12)
    np.testing.assert_allclose(parts.blocks, whole.blocks, atol=1e-12)


def test_a_mean_structure_that_does_not_stay(monkeypatch):
    monkeypatch.setattr(_structure, "_ROUNDS", 1)
    x = tumbled(50, 0.1)
    with pytest.warns(RuntimeWarning, match="the mean structure still moves by .* of its radius"):
        analysis.dccm(x)


def test_difference_of_two_systems():
    def system(together):
        x = np.repeat(BODY[None], 600, axis=0) + 0.03 * random.normal(size=(600, 9, 3))
        if together:
            x[:, 7:] += 0.1 * random.normal(size=(600, 1, 3))
        return analysis.dccm(x, fit=np.arange(7), blocks=10)
    found = analysis.compare_dccm([system(False), system(False)], system(True), samples=200)
    assert found.difference[7, 8] > 0.7 and found.significant[7, 8]
    assert found.low[7, 8] < found.difference[7, 8] < found.high[7, 8]
    off = ~np.eye(9, dtype=bool)
    off[7:, 7:] = False
    assert found.significant[off].mean() < 0.25 and np.abs(found.difference[off]).max() < 0.25
    np.testing.assert_allclose(found.difference, found.b - found.a)
    again = analysis.compare_dccm(system(False), system(False), samples=50, seed=4)
    assert again.significant[off].mean() < 0.25


def test_shape():
    x = random.normal(size=(5, 9, 3)) * [3, 2, 1]
    away = x - x.mean(axis=1, keepdims=True)
    tensor = np.einsum("fni,fnj->fij", away, away) / 9
    found = analysis.shape(tensor)
    low, middle, high = np.linalg.eigvalsh(tensor).T
    np.testing.assert_allclose(found.rg, np.sqrt((away**2).sum(axis=2).mean(axis=1)))
    np.testing.assert_allclose(found.rg_about[:, 2],
                               np.sqrt((away[..., :2]**2).sum(axis=2).mean(axis=1)))
    np.testing.assert_allclose(found.asphericity, high - (low + middle) / 2)
    np.testing.assert_allclose(found.acylindricity, middle - low)
    kernel = np.asarray(collet.op.gyration(x, np.ones(9))[2])
    np.testing.assert_allclose(found.anisotropy, kernel)
    np.testing.assert_allclose(found.anisotropy, (found.asphericity**2 + 0.75 *
                                                  found.acylindricity**2) / found.rg**4)
    rod = analysis.shape(np.diag([0, 0, 4.0]))
    assert [float(rod.anisotropy), float(rod.asphericity), float(rod.acylindricity)] == [1, 4, 0]
    tensor[2] = np.nan
    assert np.isnan(analysis.shape(tensor).moments).all(axis=1).tolist() == [0, 0, 1, 0, 0]
    assert analysis.shape(np.stack([tensor, tensor], 1)).moments.shape == (5, 2, 3)


def test_vectors_of_a_body():
    x = tumbled(6, 0.1)
    np.testing.assert_array_equal(analysis.end_to_end(x), x[:, 8] - x[:, 0])
    np.testing.assert_array_equal(analysis.end_to_end(x, 2, 5), x[:, 5] - x[:, 2])
    masses, charges = random.uniform(1, 2, 9), random.normal(size=9)
    centres = [np.average(x[:, part], axis=1, weights=masses[part])
               for part in (slice(0, 4), slice(4, 9))]
    np.testing.assert_allclose(
        analysis.distance(x, np.arange(4), np.arange(9) > 3, weights=masses),
        np.linalg.norm(centres[1] - centres[0], axis=1))
    com = np.average(x, axis=1, weights=masses)
    np.testing.assert_allclose(analysis.dipole(x, charges, masses),
                               np.einsum("n,fni->fi", charges, x - com[:, None]))
    neutral = charges - charges.mean()
    np.testing.assert_allclose(analysis.dipole(x, neutral), analysis.dipole(x, neutral, masses))
    water = [[[0, 0, 0], [0.1, 0, 0], [-0.033313, 0.094281, 0]]]  # SPC: 2.27 debye
    moment = analysis.DEBYE * np.linalg.norm(analysis.dipole(water, [-0.82, 0.41, 0.41]))
    assert abs(moment - 2.274) < 1e-3


X = np.zeros((4, 9, 3))


@pytest.mark.parametrize("call, error, words", [
    (lambda: analysis.rmsd(X[0]), collet.ShapeError, "9 x 3; they must be frames x atoms x 3"),
    (lambda: analysis.rmsd(X, BODY[:3]), collet.ShapeError, "must be 9 x 3"),
    (lambda: analysis.rmsd(X, fit=[9]), collet.InvalidError, "fit has index 9, and there are 9"),
    (lambda: analysis.rmsd(X, fit=[]), collet.ShapeError, "fit must be indices"),
    (lambda: analysis.rmsd(X, fit=np.zeros(9, bool)), collet.ShapeError, "at least one"),
    (lambda: analysis.rmsd(X, of={"a": [0.5]}), collet.ShapeError, r"of\['a'\] must be indices"),
    (lambda: analysis.rmsd(X, weights=np.ones(8)), collet.ShapeError, "one for each of 9 atoms"),
    (lambda: analysis.rmsd(X, weights=np.zeros(9)), collet.InvalidError, "sum to 0"),
    (lambda: analysis.rmsd(X * np.nan), collet.InvalidError, "nan at frame 0, atom 0"),
    (lambda: analysis.dccm(X[:1]), collet.ShapeError, "one frame"),
    (lambda: analysis.dccm(X, blocks=1), collet.InvalidError, "blocks is 1"),
    (lambda: analysis.compare_dccm([], []), collet.ShapeError, "all must be of the same"),
    (lambda: analysis.shape(np.zeros(3)), collet.ShapeError, r"must be \.\.\. x 3 x 3"),
    (lambda: analysis.end_to_end(X, 9), collet.InvalidError, "first is 9, and there are 9"),
    (lambda: analysis.distance(X, [-1], [0]), collet.InvalidError, "a has index -1"),
    (lambda: analysis.dipole(X, [1, 2]), collet.ShapeError, "charges are")])
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()

# SPDX-License-Identifier: Apache-2.0
"""Histograms and potentials of mean force of collet.md.analysis, compared with NumPy and with known
potentials."""

import numpy as np
import pytest

import collet
from collet.md import analysis

HEAT = 8.31446261815324e-3 * 300
random = np.random.default_rng(7)


def test_counts_are_those_of_numpy():
    x = random.normal(size=(500, 3))
    x[4, 1], x[9, 0] = np.nan, np.inf
    finite = x[np.isfinite(x)]
    found = analysis.histogram(x, bins=13, range=(-1, 2))
    counts, edges = np.histogram(finite, 13, (-1, 2))
    assert np.array_equal(found.counts, counts) and np.array_equal(found.edges[0], edges)
    assert found.outside == len(finite) - counts.sum() + 1 and found.nan == 1
    weights = random.uniform(size=500)
    found = analysis.histogram(x[:, 2], bins=13, weights=weights)
    np.testing.assert_allclose(found.counts, np.histogram(x[:, 2], 13, weights=weights)[0])
    assert found.outside == 0
    pair = analysis.histogram(x[:, 0], x[:, 1], bins=(4, 6), range=((-1, 1), (-2, 2)))
    good = np.isfinite(x[:, :2]).all(axis=1)
    expected = np.histogram2d(x[good, 0], x[good, 1], (4, 6), ((-1, 1), (-2, 2)))[0]
    assert np.array_equal(pair.counts, expected) and pair.nan == 1
    assert pair.counts.sum() + pair.outside + pair.nan == 500


def test_bins_have_their_lower_edge_and_the_last_both():
    found = analysis.histogram([0, 1, 1, 2, 3, 3.0001, -1e-9], bins=3, range=(0, 3))
    assert found.counts.tolist() == [1, 2, 2] and found.outside == 2


def test_periodic_numbers_come_into_the_range():
    x = np.array([-0.5, 0.5, 359, 361, 720, 360])
    found = analysis.histogram(x, bins=4, range=(0, 360), periodic=True)
    assert found.counts.tolist() == [4, 0, 0, 2] and found.outside == 0


def test_potential_of_a_harmonic_well():
    force, x = 700.0, random.normal(size=(20000, 5)) * (HEAT / 700)**0.5
    found = analysis.potential_of_mean_force(x, bins=21, range=(-0.2, 0.2), temperature=300)
    centre, well = found.centers[0], np.abs(found.centers[0]) < 0.13
    wrong = np.abs(found.value - found.value[10] - force / 2 * centre**2)[well]
    # The mean density of a bin differs from the density at the middle of the bin.
    assert (wrong < 5 * found.error[well] + 0.15).all() and found.error[well].max() < 0.3
    assert found.value.min() == 0 and found.error[np.nanargmin(found.value)] == 0
    cold = analysis.potential_of_mean_force(x, bins=21, range=(-0.2, 0.2), temperature=150)
    np.testing.assert_allclose(cold.value * 2, found.value)
    width = np.diff(found.histogram.edges[0])
    np.testing.assert_allclose((found.density * width).sum(), 1)


@pytest.mark.parametrize("kind, draw, limits", [
    ("sin", lambda n: np.arccos(random.uniform(-1, 1, n)), (0, np.pi)),
    ("cos", lambda n: np.arcsin(random.uniform(-0.5, 1, n)), (-np.pi / 6, np.pi / 2)),
    ("r2", lambda n: 2 * random.uniform(size=n)**(1 / 3), (0, 2))])
def test_jacobian_flattens_what_no_force_distributes(kind, draw, limits):
    found = analysis.potential_of_mean_force(draw(200000), bins=12, range=limits, jacobian=kind)
    assert (found.value <= 6 * found.error).all() and found.error[3:].max() < 0.5
    plain = analysis.potential_of_mean_force(draw(200000), bins=12, range=limits)
    assert np.ptp(plain.value) > 2


def test_tilt_of_axes_in_all_directions():
    """tilt_deg is the angle between an axis and a plane."""
    long = random.normal(size=(50000, 3))
    long /= np.linalg.norm(long, axis=1)[:, None]
    axes = np.zeros((50000, 3, 3))
    axes[:, :, 0] = long
    tilt = np.radians(np.asarray(collet.op.tilt(axes, np.array([0.0, 0, 1]))))
    found = analysis.potential_of_mean_force(tilt, bins=9, range=(0, np.pi / 2), jacobian="cos")
    assert (found.value <= 6 * found.error).all()


def test_two_coordinates():
    tilt = np.arccos(random.uniform(0.2, 1, 300000))
    turn = random.vonmises(0, 1, 300000)
    found = analysis.potential_of_mean_force(
        tilt, turn + 100 * np.pi, bins=(6, 8), range=((0, np.arccos(0.2)), (-np.pi, np.pi)),
        jacobian=("sin", None), periodic=(False, True))
    expected = -HEAT * np.cos(found.centers[1])
    expected -= expected.min()
    assert found.value.shape == (6, 8) == found.error.shape
    assert np.abs(found.value[1:] - found.value[1:].mean(axis=0)).max() < 0.3
    assert np.abs(found.value[1:].mean(axis=0) - expected).max() < 0.35


def test_weights_undo_a_bias():
    x = random.normal(size=400000)  # samples of a harmonic well; x + 1 are samples with a bias
    found = analysis.potential_of_mean_force(x + 1, bins=15, range=(-2, 2),
                                             weights=np.exp(-(x + 1) + 0.5))
    assert abs(found.centers[0][np.argmin(found.value)]) < 0.3
    wrong = found.value - HEAT / 2 * found.centers[0]**2
    assert np.abs(wrong - wrong[7]).max() < 0.15


def test_errors_are_the_jackknife_over_blocks():
    x = random.normal(size=1000)
    found = analysis.potential_of_mean_force(x, bins=5, range=(-1, 1), blocks=4)
    counts = [np.histogram(np.delete(x, slice(250 * i, 250 * i + 250)), 5, (-1, 1))[0]
              for i in range(4)]
    curves = -HEAT * np.log(counts)
    curves -= curves[:, [np.argmin(found.value)]]
    np.testing.assert_allclose(found.error, 1.1969 * np.sqrt(3 * np.var(curves, axis=0)), rtol=1e-3)
    sparse = analysis.potential_of_mean_force(np.r_[x, 5], bins=6, range=(-6, 6), blocks=4)
    assert np.isnan(sparse.value[0]) and np.isnan(sparse.error[0])
    few = analysis.potential_of_mean_force([1, 2], bins=2)
    assert np.isnan(few.error).all() and few.value.tolist() == [0, 0]


@pytest.mark.parametrize("call, error, words", [
    (lambda f: f(np.zeros((2, 2, 2))), collet.ShapeError, "2 x 2 x 2; it must be frames"),
    (lambda f: f([]), collet.ShapeError, "x is 0"),
    (lambda f: f([1, 2], [1, 2, 3]), collet.ShapeError, "different shapes"),
    (lambda f: f([1, 1]), collet.InvalidError, "all numbers are 1: give the range"),
    (lambda f: f([np.nan]), collet.InvalidError, "no number is finite"),
    (lambda f: f([1, 2], range=(2, 1)), collet.InvalidError, "range is 2 to 1"),
    (lambda f: f([1, 2], range=5), collet.InvalidError, "not two numbers"),
    (lambda f: f([1, 2], [1, 2], range=((0, 1),)), collet.ShapeError, "one pair for each coordinate"),
    (lambda f: f([1, 2], [1, 2], bins=(1, 2, 3)), collet.ShapeError, "one item for each coordinate"),
    (lambda f: f([1, 2], bins=0), collet.InvalidError, "bins is 0"),
    (lambda f: f([1, 2], periodic=True), collet.InvalidError, "needs its range"),
    (lambda f: f([1, 2], weights=[1]), collet.ShapeError, "as long as x, 2 frames"),
    (lambda f: f([1, 2], weights=[1, -1]), collet.InvalidError, "not negative"),
    (lambda f: f(["a", "b"]), collet.DtypeError, "<U1")])
@pytest.mark.parametrize("function", [analysis.histogram, analysis.potential_of_mean_force])
def test_refusals(function, call, error, words):
    with pytest.raises(error, match=words):
        call(function)


@pytest.mark.parametrize("options, words", [
    ({"range": (5, 6)}, "no sample is within the range, 2 are outside and 0 are NaN"),
    ({"temperature": 0}, "temperature is 0"), ({"jacobian": "tan"}, "jacobian is 'tan'"),
    ({"jacobian": "sin", "range": (0, 4)}, "within 0 and pi, in rad"),
    ({"jacobian": "cos", "range": (0, 90)}, "within -pi/2 and pi/2, in rad"),
    ({"jacobian": "r2", "range": (-1, 4)}, "range from 0 on"), ({"blocks": 1}, "blocks is 1")])
def test_refused_potentials(options, words):
    with pytest.raises(collet.InvalidError, match=words):
        analysis.potential_of_mean_force([1.0, 2.0], **options)

# SPDX-License-Identifier: Apache-2.0
"""Faults that users of other programs for scattering reported: collet.scatter gives the right results."""

import os
import warnings

import numpy as np
import pytest

from collet import scatter

CONSTANTS = [1e-3, 2e-4, 1e-3, 2e-4]


def film(volume, energies=(285.0,), constants=CONSTANTS, **more):
    return scatter.Sample([scatter.Material(constants, volume), scatter.Material([0, 0, 0, 0], 1 - volume)], energies, 2.0, **more)


@pytest.mark.parametrize("shape, axis", [((1, 64, 64), 1), ((1, 48, 96), 2), ((4, 64, 32), 1), ((4, 64, 32), 2), ((1, 60, 63), 1)])
def test_a_grating_is_at_its_q(shape, axis):
    """Films that are not square or have odd sides: rows are y, columns are x; q is in 1/nm, also in the integrals."""
    volume = 0.5 * (np.indices(shape)[axis] % 4 < 2) + 0.005 * np.random.default_rng(0).random(shape)
    result = scatter.simulate(film(volume, omit_zero=True), dtype="float64")
    y, x = np.unravel_index(np.nanargmax(result.values[0]), shape[1:])
    found = abs(result.qy[y]), abs(result.qx[x])
    assert found == pytest.approx((np.pi / 4, 0) if axis == 1 else (0, np.pi / 4), abs=1e-12)
    integrals = scatter.integrate(result.values, [285.0], 2.0, flat=True, dtype="float64")
    assert integrals.q[np.nanargmax(integrals.mean[0])] == pytest.approx(np.pi / 4, rel=0.02)


def test_the_order_of_energies_changes_nothing():
    volume = np.random.default_rng(1).random((3, 16, 16))
    constants = {e: [1e-3 * e / 285, 1e-4, 1e-3, 1e-4] for e in (280.0, 285.0, 300.0)}
    up, down = (scatter.simulate(film(volume, order, constants), dtype="float64")
                for order in ([280.0, 285.0, 300.0], [300.0, 285.0, 280.0]))
    assert np.array_equal(up.values, down.values[::-1], equal_nan=True)
    assert np.array_equal(up.integrate().mean, down.integrate().mean[::-1], equal_nan=True)
    twice = scatter.simulate(film(volume, [285.0, 284.0, 285.0])).values
    assert np.array_equal(twice[0], twice[2], equal_nan=True)


@pytest.mark.parametrize("delta", [1e-3, 1e-8, 1e-12, 1e-18])
def test_small_contrast_keeps_its_digits(delta):
    """float32 patterns keep their digits too, because n^2 - 1 is not computed by a subtraction from n^2."""
    volume = np.random.default_rng(1).random((8, 32, 32))
    exact, single = (scatter.simulate(film(volume, constants=[delta, 0, delta, 0]), dtype=d).values
                     for d in ("float64", "float32"))
    assert np.nanmax(np.abs(single - exact)) < 2e-6 * np.nanmax(exact)
    one = scatter.simulate(film(volume, constants=[1e-3, 0, 1e-3, 0]), dtype="float64").values
    assert np.nanmax(exact) == pytest.approx(np.nanmax(one) * (delta / 1e-3)**2, rel=2e-3)


def test_angles_of_unaligned_voxels_do_not_matter():
    volume = np.random.default_rng(2).random((2, 8, 8))
    none, unknown = np.zeros_like(volume), np.full_like(volume, np.nan)
    found = scatter.simulate(scatter.Sample([scatter.Material(CONSTANTS, volume, none, unknown, unknown),
                                             scatter.Material([0, 0, 0, 0], 1 - volume)], [285.0], 2.0)).values
    assert np.array_equal(found, scatter.simulate(film(volume)).values, equal_nan=True)


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="a sanitizer keeps memory")
def test_memory_does_not_grow():
    def kibibytes():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024

    sample = film(np.random.default_rng(1).random((4, 64, 64)))
    for _ in range(5):
        scatter.simulate(sample)
    before = kibibytes()
    for _ in range(40):
        scatter.simulate(sample)
    assert kibibytes() - before < 8192  # 40 results have 640 KiB, the arrays of one simulation 500 KiB


def test_names_of_files_have_two_decimals(tmp_path):
    values = np.ones((4, 4), np.float32)
    with pytest.warns(RuntimeWarning, match="Energy_285.00.h5 .* 285.001 eV"):
        scatter.write(tmp_path, 285.001, values)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scatter.write(tmp_path, 285.2, values)
        scatter.write(tmp_path, 280.0 + 0.1 * 52, values)  # 285.20000000000005

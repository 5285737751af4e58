# SPDX-License-Identifier: Apache-2.0
"""collet.scatter: arrays in float16 and long double, files of CyRSoXS 1.1, wedges without width."""

import dataclasses
import warnings

import numpy as np
import pytest

import collet
from collet import scatter

SHAPE = (4, 12, 16)
CONSTANTS = [[2e-3, 4e-4, 1e-3, 1e-4], [1e-3, 1e-4, 2e-3, 3e-4], [0, 0, 0, 0]]
EXTENDED = np.finfo(np.longdouble).nmant > 52


def parts():
    found = 0.05 + np.random.default_rng(4).random((3, *SHAPE))
    return found / found.sum(0)


def film(kind, dtype):
    """Three materials; arrays of `dtype`."""
    random = np.random.default_rng(5)
    materials = []
    for constants, part in zip(CONSTANTS, parts()):
        s, theta, psi = random.random((3, *SHAPE))
        if kind == "euler":
            materials.append(scatter.Material(constants, *(a.astype(dtype) for a in (part, s, theta, psi))))
        else:
            axis = np.stack([np.cos(psi) * np.sin(theta), np.sin(psi) * np.sin(theta), np.cos(theta)], -1)
            materials.append(scatter.Material(constants, direction=(np.sqrt(part * s)[..., None] * axis).astype(dtype),
                                              unaligned=(part * (1 - s)).astype(dtype)))
    return scatter.Sample(materials, [285.0], 2.5)


def warned(function):
    """The result of a function, and the texts of its RuntimeWarnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = function()
    assert all(w.category is RuntimeWarning and w.filename == __file__ for w in caught)
    return found, [str(w.message) for w in caught]


@pytest.mark.parametrize("kind", ["euler", "vectors"])
def test_float16(kind):
    half = film(kind, np.float16)
    found, texts = warned(lambda: scatter.simulate(half))
    assert len(texts) == 1, texts
    assert texts[0].startswith("materials 1, 2, 3: arrays of float16 are converted to float32; the sums of the fractions "
                               "differ from 1 by up to 0.00")
    assert texts[0].endswith("because float16 rounds the fractions; they are divided by their sums")
    exact = scatter.simulate(film(kind, np.float64), dtype="float64").values
    assert found.values.dtype == np.float32
    assert 1e-6 < np.nanmax(np.abs(found.values - exact)) / np.nanmax(exact) < 5e-3
    assert [m.volume is None or m.volume.dtype == np.float16 for m in half.materials] == [True] * 3
    assert np.array_equal(found.values, normalised(half).values, equal_nan=True)


def normalised(sample):
    """Divides the volume fractions by their sums, and returns the patterns."""
    total = sum((np.float64(m.volume) if m.volume is not None else
                 np.float64(m.unaligned) + np.square(np.float64(m.direction)).sum(-1)) for m in sample.materials)
    made = []
    for m in sample.materials:
        new = {n: np.float32(getattr(m, n)) for n in ("volume", "alignment", "theta", "psi", "direction", "unaligned")
               if getattr(m, n) is not None}
        for name, by in ("volume", total), ("unaligned", total), ("direction", np.sqrt(total)[..., None]):
            if name in new:
                new[name] = (new[name] / by).astype(np.float32)
        made.append(dataclasses.replace(m, **new))
    return scatter.simulate(dataclasses.replace(sample, materials=made))


def test_float16_without_rounding():
    """Sums of 1 stay unchanged: the patterns equal the patterns of float32 arrays, bit for bit."""
    quarters = np.random.default_rng(6).integers(0, 5, SHAPE) / 4
    half, single = ([scatter.Material(CONSTANTS[0], quarters.astype(d)),
                     scatter.Material(CONSTANTS[2], (1 - quarters).astype(d))] for d in (np.float16, np.float32))
    found, texts = warned(lambda: scatter.simulate(scatter.Sample(half, [285.0], 2.5)))
    assert texts == ["materials 1, 2: arrays of float16 are converted to float32"]
    assert np.array_equal(found.values, scatter.simulate(scatter.Sample(single, [285.0], 2.5)).values, equal_nan=True)


def test_only_some_arrays_are_float16():
    p = parts()
    mixed = [scatter.Material(CONSTANTS[0], p[0].astype(np.float16)), scatter.Material(CONSTANTS[1], p[1]),
             scatter.Material(CONSTANTS[2], p[2].astype(np.float32), p[2].astype(np.float16), p[2], p[2])]
    _, texts = warned(lambda: scatter.simulate(scatter.Sample(mixed, [285.0], 2.5)))
    assert len(texts) == 1 and texts[0].startswith(
        "material 1: arrays of float16 are converted to float32; material 3: arrays of float16 are converted to float64; "
        "the sums")


@pytest.mark.parametrize("dtype, off", [(np.float16, 2e-3), (np.float32, 2e-4), (np.float64, 2e-5)])
def test_larger_deviations_are_errors(dtype, off):
    """The call fails if the fractions of one voxel have a sum that differs from 1 by more than rounding."""
    p = parts()
    p[0, 1, 2, 3] += off
    sample = scatter.Sample([scatter.Material(c, a.astype(dtype)) for c, a in zip(CONSTANTS, p)], [285.0], 2.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(collet.InvalidError, match="the sum of the materials' volume fractions"):
            scatter.simulate(sample)
    p[0, 1, 2, 3] -= off
    sample.materials[0].volume = p[0].astype(dtype)
    warned(lambda: scatter.simulate(sample))


def test_nan_in_float16_is_an_error():
    sample = film("euler", np.float16)
    sample.materials[1].volume[0, 1, 2] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(collet.InvalidError, match="material 2: the volume fraction at voxel z 0, y 1, x 2 is nan"):
            scatter.simulate(sample)


@pytest.mark.skipif(not EXTENDED, reason="long double is float64 here")
@pytest.mark.parametrize("kind", ["euler", "vectors"])
def test_long_double(kind):
    found, texts = warned(lambda: scatter.simulate(film(kind, np.longdouble), dtype="float64"))
    assert texts == ["materials 1, 2, 3: arrays of longdouble are converted to float64"]
    exact = scatter.simulate(film(kind, np.float64), dtype="float64").values
    assert np.array_equal(found.values, exact, equal_nan=True)
    with pytest.raises(collet.InvalidError, match="not real numbers"):
        scatter.Patterns(scatter.Sample([scatter.Material(CONSTANTS[0], np.ones(SHAPE, np.clongdouble))], [285.0], 2.5))


def test_the_default_filter_shows_the_warning_once():
    half = film("euler", np.float16)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            scatter.simulate(half)
    assert len(caught) == 1


@pytest.mark.parametrize("group", ["Vector_Morphology", "vector_morphology"])
def test_files_of_vectors(tmp_path, group):
    """CyRSoXS 1.1 called the group vector_morphology."""
    h5py = pytest.importorskip("h5py")
    source = film("vectors", np.float64)
    with h5py.File(tmp_path / "film.h5", "w") as file:
        file["Morphology_Parameters/NumMaterial"] = 3.0
        file["Morphology_Parameters/PhysSize"] = 2.5
        for i, m in enumerate(source.materials, 1):
            file[f"{group}/Mat_{i}_alignment"] = m.direction
            file[f"{group}/Mat_{i}_unaligned"] = m.unaligned
    (tmp_path / "config.txt").write_text("CaseType = 0; MorphologyType = 1; Energies = [285.0];\n"
                                         "EAngleRotation = [0.0, 0.0, 0.0];\n")
    for i, (a, b, c, d) in enumerate(CONSTANTS, 1):
        (tmp_path / f"Material{i}.txt").write_text(
            f"EnergyData0: {{ Energy = 285.0; DeltaPara = {a}; BetaPara = {b}; DeltaPerp = {c}; BetaPerp = {d}; }};")
    found = scatter.read(tmp_path / "film.h5", tmp_path / "config.txt", dtype="float64")
    for ours, theirs in zip(found.materials, source.materials):
        assert np.array_equal(ours.direction, theirs.direction) and np.array_equal(ours.unaligned, theirs.unaligned)


@pytest.mark.parametrize("wedge", [0, 0.0, -0.0, -10, 180.5, np.float32(0), float("nan")])
def test_wedges_without_width(wedge):
    result = scatter.simulate(scatter.Sample([scatter.Material(CONSTANTS[0], np.ones((2, 8, 8)))], [285.0], 2.5))
    ring = np.ones_like(result.integrate().mean)
    data = result.integrate().parallel
    for call in (lambda: result.integrate(wedge=wedge), lambda: scatter.integrate(result.values, 285.0, 2.5, wedge=wedge),
                 lambda: result.cotangents(mean=ring, wedge=wedge),
                 lambda: scatter.LeastSquares(data, of="parallel", wedge=wedge)(result)):
        with pytest.raises(collet.InvalidError, match=r"wedge is .* degrees; it must be above 0 and at most 180"):
            call()
    assert result.integrate(wedge=180).mean.shape == ring.shape


def test_voxels_without_an_edge():
    for voxel in (0, 0.0, -2, float("nan"), float("inf")):
        material = scatter.Material([1e-3, 0, 0, 0], np.ones((2, 4, 4), "f4"))
        with pytest.raises(collet.InvalidError, match="the edge of a voxel is .*; it must be positive and finite"):
            scatter.simulate(scatter.Sample([material], [285.0], voxel))

# SPDX-License-Identifier: Apache-2.0
"""collet.scatter: voxels from Arrays on a device, patterns that stay on the device, and q of integrals."""

import dataclasses
import warnings

import numpy as np
import pytest

import collet
from collet import scatter

SHAPE = (6, 20, 24)
CONSTANTS = [[2e-3, 4e-4, 1e-3, 1e-4], [0, 0, 0, 0]]
NAMES = ("volume", "alignment", "theta", "psi", "direction", "unaligned")


def has_opencl():
    try:
        with collet.using("opencl"):
            return collet.asarray(np.ones(2)).device != "" and (collet.asarray(np.ones(3)) * 2).device.startswith("opencl")
    except collet.Error:
        return False


needs_opencl = pytest.mark.skipif(not has_opencl(), reason="no device of OpenCL with memory of its own")


def film(vectors=False, **more):
    random = np.random.default_rng(3)
    part, s, theta, psi = random.random((4, *SHAPE))
    if vectors:
        axis = np.stack([np.cos(psi) * np.sin(theta), np.sin(psi) * np.sin(theta), np.cos(theta)], -1)
        first = scatter.Material(CONSTANTS[0], direction=np.sqrt(part * s)[..., None] * axis, unaligned=part * (1 - s))
    else:
        first = scatter.Material(CONSTANTS[0], part, s, theta, psi)
    return scatter.Sample([first, scatter.Material(CONSTANTS[1], 1 - part)], [285.0, 290.0], 2.5, (0, 15, 165), mask=True,
                          **more)


def changed(sample, change):
    """The sample with other arrays."""
    return dataclasses.replace(sample, materials=[
        dataclasses.replace(m, **{n: change(getattr(m, n)) for n in NAMES if getattr(m, n) is not None})
        for m in sample.materials])


def to_device(array):
    """An Array that was computed on the current device and then moved to opencl:0."""
    return (collet.asarray(array) + 0).to_device("opencl:0")


@needs_opencl
@pytest.mark.parametrize("vectors", [False, True])
def test_arrays_of_a_device(vectors):
    with collet.using("opencl"):
        expected = scatter.simulate(film(vectors, attenuation=True), dtype="float64").values
        sample = changed(film(vectors, attenuation=True), to_device)
        with scatter.Patterns(sample, dtype="float64", output="array") as patterns:
            found = list(patterns)
        assert [p.values.device for p in found] == ["opencl:0"] * 2
        assert {getattr(m, n).device for m in sample.materials for n in NAMES if getattr(m, n) is not None} == {"opencl:0"}
        total = collet.stack([p.values for p in found])
        assert np.nanmax(np.abs(total.to_numpy() - expected)) <= 1e-12 * np.nanmax(expected)
        again = scatter.simulate(sample, dtype="float64").values
        assert np.array_equal(again, total.to_numpy(), equal_nan=True)


@needs_opencl
def test_some_arrays_on_the_device():
    sample = film()
    with collet.using("opencl"):
        expected = scatter.simulate(sample, dtype="float64").values
        sample.materials[0].theta = to_device(sample.materials[0].theta)
        assert np.array_equal(scatter.simulate(sample, dtype="float64").values, expected, equal_nan=True)
        single = changed(film(), lambda a: to_device(a.astype(np.float32)))
        assert np.allclose(scatter.simulate(single).values, expected, rtol=2e-4, atol=2e-6 * np.nanmax(expected), equal_nan=True)


@needs_opencl
def test_faults_and_suspicions_on_the_device():
    sample = film()
    sample.materials[1].volume[1, 2, 3] = np.nan
    with collet.using("opencl"):
        with pytest.raises(collet.InvalidError, match="material 2: the volume fraction at voxel z 1, y 2, x 3 is nan"):
            scatter.simulate(changed(sample, to_device))
        degrees = film()
        degrees.materials[0].theta = to_device(degrees.materials[0].theta * 50)
        with pytest.warns(RuntimeWarning, match="material 1 has angles of up to 49.9"):
            scatter.Patterns(degrees).close()


@pytest.mark.parametrize("change", [collet.asarray, lambda a: collet.asarray(np.repeat(a, 2, 1))[:, ::2]])
def test_arrays_of_the_host(change):
    """Arrays in the host's memory, with and without strides, give the same bits. So do gradients."""
    loss = scatter.LeastSquares(np.ones((2, *SHAPE[1:])))
    expected = scatter.loss_and_grad(film(), loss, wrt=["volume", "constants"])
    found = scatter.loss_and_grad(changed(film(), change), loss, wrt=["volume", "constants"])
    assert found[0] == expected[0]
    for a, b in zip(found[1], expected[1]):
        assert np.array_equal(a.volume, b.volume) and np.array_equal(a.constants, b.constants)


def test_output_and_dtypes():
    with scatter.Patterns(film(), output="array") as patterns:
        first = next(patterns)
    assert isinstance(first.values, collet.Array) and first.values.shape == SHAPE[1:]
    assert np.array_equal(first.values.to_numpy(), scatter.simulate(film()).values[0], equal_nan=True)
    with pytest.raises(collet.InvalidError, match="output is 'torch', not one of 'numpy', 'array'"):
        scatter.Patterns(film(), output="torch")
    with pytest.raises(TypeError, match="simulate has no option output"):
        scatter.simulate(film(), output="array")
    with scatter.Patterns(film(detector=(0.3, 0, 1)), output="array") as patterns:
        with pytest.raises(collet.RefusedError, match="choose a detector that faces the beam"):
            next(patterns)
    with pytest.raises(collet.InvalidError, match="material 1: volume is an Array of float16"):
        scatter.Patterns(changed(film(), lambda a: collet.asarray(a.astype(np.float16))))


def test_tensors_of_other_libraries():
    torch = pytest.importorskip("torch")
    expected = scatter.simulate(film(), dtype="float64").values
    found = scatter.simulate(changed(film(), torch.from_numpy), dtype="float64").values
    assert np.array_equal(found, expected, equal_nan=True)


def test_q_of_integrals():
    """At |q| on Ewald's sphere a Gaussian blob has I(q) = c exp(-q^2 s^2) (1 - p^2 / 2 k^2). p is the distance from the
    middle of the pattern: p^2 = q^2 - (q^2 / 2 k)^2, here up to 6 % less than |q|."""
    n, s, voxel = 40, 1.6, 2.0
    z, y, x = np.indices((n, n, n)) - (n - 1) / 2
    blob = np.exp(-(z**2 + y**2 + x**2) / (2 * (s / voxel)**2))
    sample = scatter.Sample([scatter.Material([1e-3, 1e-4, 1e-3, 1e-4], blob), scatter.Material([0, 0, 0, 0], 1 - blob)],
                            [285.0], voxel)
    integrals = scatter.simulate(sample, dtype="float64").integrate(dtype="float64")
    k = 2 * np.pi * 285.0 / 1239.84197
    q = integrals.q
    expected = np.exp(-(q * s)**2) * (1 - (q**2 - (q**2 / (2 * k))**2) / (2 * k**2))
    chosen = (q > 0.2) & (q < 1.0)
    ratio = integrals.mean[0][chosen] / expected[chosen]
    assert np.all(np.abs(ratio / ratio[0] - 1) < 0.03)
    flat = scatter.integrate(scatter.simulate(sample, dtype="float64").values, [285.0], voxel, flat=True, dtype="float64")
    wrong = flat.mean[0][chosen] / expected[chosen]
    assert abs(wrong[-1] / wrong[0] - 1) > 0.1

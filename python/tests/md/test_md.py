# SPDX-License-Identifier: Apache-2.0
"""collet.md's kernels against NumPy, for one frame and for many."""

import numpy as np
import pytest

import collet
from collet import md

FRAMES, ATOMS = 6, 11
random = np.random.default_rng(19)
positions, velocities = random.normal(size=(2, FRAMES, ATOMS, 3))
masses = random.random(ATOMS) + 1
com = np.einsum("a,fai->fi", masses, positions) / masses.sum()
relative = positions - com[:, None]
momentum = np.einsum("a,fai->fi", masses, np.cross(relative, velocities))
square = np.einsum("a,fai,faj->fij", masses, relative, relative)
inertia = np.trace(square, axis1=1, axis2=2)[:, None, None] * np.eye(3) - square


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("batch, single, arguments, per_frame, expected", [
    (md.compute_com_batch, md.compute_com_single, (positions, masses), (0,), com),
    (md.inertia_tensor_batch, md.inertia_tensor_single, (positions, masses, com), (0, 2), inertia),
    (md.cross_product_trajectory, md.cross_product_single_frame,
     (positions, velocities, masses, com), (0, 1, 3), momentum)])
def test_sums_over_atoms(batch, single, arguments, per_frame, expected):
    close(batch(*arguments), expected)
    frame = [a[2] if i in per_frame else a for i, a in enumerate(arguments)]
    close(single(*frame), expected[2])
    close(batch(*frame), expected[2])
    assert batch(*arguments).dtype == np.float64


@pytest.mark.parametrize("fields", [(), ("velocities",), ("forces",), ("velocities", "forces")])
def test_one_pass(fields):
    given = {"velocities": velocities, "forces": velocities.astype("f4")}
    given = {k: given[k] for k in fields}
    found = md.observables(positions, masses, **given)
    one = md.observables(positions[2], masses, **{k: v[2] for k, v in given.items()})
    close(found.com, com)
    close(found.inertia, inertia)
    if fields[:1] == ("velocities",):
        close(found.L, momentum)
        close(found.kinetic[:, 0], np.einsum("a,fai->f", masses, velocities ** 2) / 2)
    else:
        assert found.L is None and found.kinetic is None and one.L is None
    if "forces" in fields:
        close(found.torque, np.cross(relative, velocities.astype("f4")).sum(axis=1))
    else:
        assert found.torque is None
    close(one.com, com[2])
    close(one.inertia, inertia[2])


@pytest.mark.parametrize("mass", [masses, np.stack([masses * (1 + f) for f in range(FRAMES)])])
def test_offsets(mass):
    offsets = [0, 3, 3, 4, 11]
    found = md.observables(positions, mass, velocities, offsets=offsets)
    assert found.com.shape == (FRAMES, 4, 3) and found.inertia.shape == (FRAMES, 4, 3, 3)
    assert np.isnan(found.com[:, 1]).all() and (found.inertia[:, 1] == 0).all()
    for b in (0, 2, 3):
        part = np.s_[..., offsets[b]:offsets[b + 1]]
        one = md.observables(positions[:, part[-1]], mass[part], velocities[:, part[-1]])
        for a, expected in zip(found, one):
            assert (a is None) == (expected is None)
            if a is not None:
                close(a[:, b], expected)
    close(md.compute_com_batch(positions[0], masses, offsets=offsets)[3],
          md.compute_com_single(positions[0, 4:], masses[4:]))
    for bad in ([0, 3, 12], [3, 2, 4], [-1, 4]):
        with pytest.raises(collet.InvalidError, match="offsets"):
            md.observables(positions, masses, offsets=bad)


@pytest.mark.parametrize("where", ["worker:cpu_scalar", "worker:cpu_openmp", "opencl"])
def test_offsets_in_the_memory_of_a_device(where):
    """Offsets on a device are not checked before the call. Kernels must not read atoms that do not exist."""
    offsets = collet.asarray(np.array([-2 ** 62, 3, 2 ** 62, 1]))
    try:
        offsets.prefetch(where)
    except collet.Error as error:
        pytest.skip(str(error))
    with collet.using(where):
        found = collet.op.observables(positions, masses, None, None, offsets,
                                      out=(None, None, False, False, False))
        com = np.asarray(found.com)
    close(com[:, 0], md.compute_com_batch(positions[:, :3], masses[:3]))
    close(com[:, 1], md.compute_com_batch(positions[:, 3:], masses[3:]))
    assert np.isnan(com[:, 2]).all()


@pytest.mark.parametrize("mass", [masses[:5], masses[:10].reshape(2, 5),
                                  np.stack([masses[:10].reshape(2, 5)] * FRAMES)])
def test_bodies_of_equal_numbers(mass):
    r, v = (a[:, :10].reshape(FRAMES, 2, 5, 3) for a in (positions, velocities))
    found = md.observables(r, mass, v)
    center = md.compute_com_batch(r, mass)
    close(found.com, center)
    close(found.inertia, md.inertia_tensor_batch(r, mass, center))
    close(found.L, md.cross_product_trajectory(r, v, mass, center))
    for b in range(2):
        m = np.broadcast_to(mass, (FRAMES, 2, 5))[0, b]
        close(found.kinetic[:, b], md.observables(r[:, b], m, v[:, b]).kinetic)
    moments, axes = md.principal_axes_batch(found.inertia)
    close(moments[:, 1], md.principal_axes_batch(found.inertia[:, 1])[0])
    close(axes[:, 1], md.principal_axes_batch(found.inertia[:, 1])[1])


@pytest.mark.parametrize("position", [np.float32, np.float64, np.int32, list, collet.asarray])
@pytest.mark.parametrize("mass", [np.float32, np.float64, list, collet.asarray])
@pytest.mark.parametrize("vector", [np.float32, np.float64])
def test_all_mixtures_of_dtypes(position, mass, vector):
    def convert(kind, values):
        return values.astype(kind) if isinstance(kind, type) and kind is not list else \
            values.tolist() if kind is list else kind(values)
    r, m = convert(position, np.round(positions * 8)), convert(mass, np.round(masses * 8))
    v = velocities.astype(vector)
    center = md.compute_com_batch(r, m)
    momentum = np.asarray(md.cross_product_trajectory(r, v, m, center))
    whole = np.round(positions * 8) - np.asarray(center)[:, None]
    close(momentum, np.einsum("a,fai->fi", np.round(masses * 8), np.cross(whole, v)))
    assert momentum.dtype == np.float64
    assert type(md.compute_com_single(r[0], m)) is type(center)


def test_principal_axes():
    moments, axes = md.principal_axes_batch(inertia)
    close(moments, np.linalg.eigvalsh(inertia))
    close(axes @ (moments[:, :, None] * np.swapaxes(axes, 1, 2)), inertia)
    close(np.linalg.det(axes), np.ones(FRAMES))
    one, _ = md.principal_axes_batch(inertia[3])
    close(one, moments[3])


def test_decompose():
    for axes in (com, com[0]):
        parallel, across = md.decompose_vector_batch(momentum, axes)
        close(parallel + across, momentum)
        close(np.sum(across * axes, axis=1), np.zeros(FRAMES))
        close(np.cross(parallel, np.broadcast_to(axes, parallel.shape)), np.zeros((FRAMES, 3)))
    parallel, across = md.decompose_vector_single([1, 2, 3], [0, 0, 5])
    assert parallel.tolist() == [0, 0, 3] and across.tolist() == [1, 2, 0]
    assert md.decompose_vector_batch_static_ref([[1, 2, 3]], [0, 0, 0])[0].tolist() == [[0, 0, 0]]


def test_magnitudes():
    for vectors in (positions, momentum, momentum[0], positions.astype("f4")):
        close(md.compute_magnitude_batch(vectors),
              np.linalg.norm(vectors.astype("f8"), axis=-1))


def test_solve():
    close(md.solve_linear_batch(inertia, momentum),
          np.linalg.solve(inertia, momentum[..., None])[..., 0])
    close(md.solve_linear_batch(inertia[0], momentum[0]), np.linalg.solve(inertia[0], momentum[0]))
    assert md.solve_linear_batch(inertia.astype("f4"), momentum.astype("f4")).dtype == np.float32
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        md.solve_linear_batch(np.zeros((2, 3, 3)), np.ones((2, 3)))


@pytest.mark.parametrize("data", [momentum, positions, positions[:, 0, 0], positions[:, :1, :2],
                                  np.zeros((FRAMES, 0)), momentum.astype("f4"), momentum[:1]])
def test_time_derivative(data):
    times = np.array([0, 1, 3, 4, 7, 8.])[:len(data)]
    expected = np.zeros(data.shape)
    if len(data) > 1:
        step = (slice(None),) + (None,) * (data.ndim - 1)
        index = np.arange(len(data))
        later, earlier = np.minimum(index + 1, len(data) - 1), np.maximum(index - 1, 0)
        expected = ((data[later].astype("f8") - data[earlier])
                    / (times[later] - times[earlier])[step])
    result = md.time_derivative_batch(data, times)
    assert result.shape == data.shape and result.dtype == np.float64
    close(result, expected)


def test_chunks():
    parts = []

    def double(part, factor):
        parts.append(len(part))
        return factor * part
    close(md.process_in_chunks(double, momentum, chunk_size=4, factor=2), 2 * momentum)
    assert parts == [4, 2]


def test_shapes_that_do_not_fit():
    with pytest.raises(collet.ShapeError, match="com"):
        md.compute_com_batch(positions, masses[:3])
    with pytest.raises(collet.ShapeError):
        md.cross_product_trajectory(positions, velocities[:2], masses, com)

# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/md/test_md.py
"""rotmd's kernels on collet.op."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _host, op
from .._core import Array

_REAL = (np.dtype(np.float32), np.dtype(np.float64))


def _real(values, dtype=None):
    """Converts the values to an array of float32 or float64, or of `dtype` if given."""
    array = values if isinstance(values, Array) else _host.array(values)
    if dtype is None:
        dtype = _REAL[array.dtype.name != "float32"]
    return (array.astype(dtype, copy=False) if isinstance(array, Array) else
            _host.array(array, dtype))


def _atoms(positions, masses, vectors=None):
    """Converts positions, masses and vectors to a combination of dtypes that the ops accept."""
    positions, masses = _real(positions), _real(masses)
    if vectors is not None:
        vectors = _real(vectors)
        dtype = np.promote_types(positions.dtype, vectors.dtype)
        positions, vectors = _real(positions, dtype), _real(vectors, dtype)
    if positions.dtype == _REAL[1]:
        masses = _real(masses, _REAL[1])
    return positions, masses, vectors


def _bodies(positions, masses, *others):
    """Merges frames and bodies into one axis: positions (frames, bodies, atoms, 3) become (frames x bodies,
    atoms, 3); masses (atoms,), (bodies, atoms) or (frames, bodies, atoms) and the other arrays are merged
    likewise. Also returns a function that splits the merged axis of results. Arrays with fewer axes stay
    unchanged."""
    if len(positions.shape) != 4:
        return positions, masses, others, lambda result: result
    frames, bodies, atoms, _ = positions.shape
    if len(masses.shape) > 1:
        masses = np.broadcast_to(np.asarray(masses), (frames, bodies, atoms)).reshape(-1, atoms)
    return (positions.reshape((frames * bodies, atoms, 3)), masses,
            tuple(a.reshape((frames * bodies,) + tuple(a.shape[2:])) for a in others),
            lambda result: result.reshape((frames, bodies) + tuple(result.shape[1:])))


def _rows(kernel, ndim, *arrays):
    """Calls kernel(*arrays). The first array has `ndim` axes. An array with one axis fewer is one frame, and the
    results are then of one frame."""
    if len(arrays[0].shape) != ndim - 1:
        return kernel(*arrays)
    results = kernel(*(a[None] for a in arrays))
    return tuple(r[0] for r in results) if isinstance(results, tuple) else results[0]


def compute_com_batch(positions: Any, masses: Any, offsets: Any = None) -> Any:
    """The centre of mass, sum m r / sum m.

    positions : (frames, atoms, 3) or (atoms, 3), or (frames, bodies, atoms, 3)
    masses : (atoms,) or (frames, atoms); for bodies (atoms,), (bodies, atoms) or (frames, bodies, atoms)
    offsets : the atoms of bodies, as in observables
    Returns (frames, 3) or (3,), for bodies (frames, bodies, 3), float64, in units of positions; NaN where
    the masses sum to 0.
    Raises collet.ShapeError.

    >>> positions = np.array([[[0.0, 0, 0], [2, 0, 0]], [[0, 1, 0], [2, 1, 0]]])
    >>> masses = np.array([1.0, 3])
    >>> collet.md.compute_com_batch(positions, masses)
    array([[1.5, 0. , 0. ],
           [1.5, 1. , 0. ]])"""
    if offsets is not None:
        return observables(positions, masses, offsets=offsets).com
    positions, masses, _ = _atoms(positions, masses)
    positions, masses, _, restore = _bodies(positions, masses)
    return restore(_rows(lambda p: op.com(p, masses), 3, positions))


def inertia_tensor_batch(positions: Any, masses: Any, com: Any) -> Any:
    """The inertia tensor about com, sum m (r^2 1 - r r^T) with r relative to com.

    positions : (frames, atoms, 3) or (atoms, 3), or (frames, bodies, atoms, 3)
    masses : (atoms,) or (frames, atoms); for bodies (atoms,), (bodies, atoms) or (frames, bodies, atoms)
    com : (frames, 3) or (3,), or (frames, bodies, 3)
    Returns (frames, 3, 3) or (3, 3), for bodies (frames, bodies, 3, 3), float64, symmetric, in units of
    masses times positions squared.
    Raises collet.ShapeError.

    >>> positions = np.array([[[0.0, 0, 0], [2, 0, 0]], [[0, 1, 0], [2, 1, 0]]])
    >>> masses = np.array([1.0, 3])
    >>> com = collet.md.compute_com_batch(positions, masses)
    >>> collet.md.inertia_tensor_batch(positions, masses, com)[0]
    array([[0., 0., 0.],
           [0., 3., 0.],
           [0., 0., 3.]])"""
    positions, masses, _ = _atoms(positions, masses)
    positions, masses, (com,), restore = _bodies(positions, masses, _real(com, _REAL[1]))
    return restore(_rows(lambda p, c: op.inertia(p, masses, c), 3, positions, com))


def cross_product_trajectory(positions: Any, vectors: Any, masses: Any, com: Any) -> Any:
    """Computes sum m (r - com) x v: the angular momentum from velocities, or the torque from forces and masses of 1.

    positions, vectors : (frames, atoms, 3) or (atoms, 3), or (frames, bodies, atoms, 3)
    masses : (atoms,) or (frames, atoms); for bodies (atoms,), (bodies, atoms) or (frames, bodies, atoms)
    com : (frames, 3) or (3,), or (frames, bodies, 3)
    Returns (frames, 3) or (3,), for bodies (frames, bodies, 3), float64, in units of masses times
    positions times vectors.
    Raises collet.ShapeError.

    >>> positions = np.array([[[0.0, 0, 0], [2, 0, 0]], [[0, 1, 0], [2, 1, 0]]])
    >>> masses = np.array([1.0, 3])
    >>> velocities = np.ones_like(positions)
    >>> com = collet.md.compute_com_batch(positions, masses)
    >>> collet.md.cross_product_trajectory(positions, velocities, masses, com)
    array([[0., 0., 0.],
           [0., 0., 0.]])"""
    positions, masses, vectors = _atoms(positions, masses, vectors)
    positions, masses, (com, vectors), restore = _bodies(positions, masses, _real(com, _REAL[1]),
                                                         vectors)
    return restore(_rows(lambda p, c, v: op.cross_sum(p, masses, c, v), 3, positions, com, vectors))


def observables(positions: Any, masses: Any, velocities: Any = None, forces: Any = None,
                offsets: Any = None) -> Any:
    """Computes com, inertia, L, torque and kinetic energies in one pass. Returns a named tuple.

    positions : (frames, atoms, 3) or (atoms, 3), or (frames, bodies, atoms, 3)
    masses : (atoms,) or (frames, atoms); for bodies (atoms,), (bodies, atoms) or (frames, bodies, atoms)
    velocities, forces : like positions, or None
    offsets : (bodies + 1,), ascending: body b has the atoms offsets[b] to offsets[b + 1] - 1 of
        positions (frames, atoms, 3) or (atoms, 3)
    Returns com, inertia, L, torque and kinetic as float64. They are (frames, 3), and inertia is (frames, 3, 3);
    for bodies (frames, bodies, 3) and (frames, bodies, 3, 3); for one frame without the first axis. kinetic
    has the total, translational and rotational energy. Without velocities L and kinetic are None, without
    forces torque is None.
    Raises collet.ShapeError, and collet.InvalidError for offsets that do not ascend or are out of range.

    >>> positions = np.array([[[0.0, 0, 0], [2, 0, 0]], [[0, 1, 0], [2, 1, 0]]])
    >>> masses = np.array([1.0, 3])
    >>> found = collet.md.observables(positions, masses)
    >>> found.com
    array([[1.5, 0. , 0. ],
           [1.5, 1. , 0. ]])
    >>> found.L is None
    True"""
    given = [_real(a) for a in (positions, velocities, forces) if a is not None]
    dtype = np.result_type(*(a.dtype for a in given))
    given = iter([_real(a, dtype) for a in given])
    positions, velocities, forces = (None if a is None else next(given)
                                     for a in (positions, velocities, forces))
    positions, masses, _ = _atoms(positions, masses)
    if offsets is not None:
        offsets = _host.array(offsets, np.dtype(np.int64))
    given = [a for a in (velocities, forces) if a is not None]
    positions, masses, given, restore = _bodies(positions, masses, *given)
    given = iter(given)
    velocities, forces = (None if a is None else next(given) for a in (velocities, forces))
    one = len(positions.shape) == 2
    fields = [None if a is None else a[None] if one else a
              for a in (positions, velocities, forces)]
    out = (None, None, None if velocities is not None else False,
           None if forces is not None else False, None if velocities is not None else False)
    found = op.observables(fields[0], masses, fields[1], fields[2], offsets, out=out)
    return type(found)(*(None if a is None else a[0] if one else restore(a) for a in found))


def principal_axes_batch(inertia_tensors: Any) -> Any:
    """The principal moments and axes.

    inertia_tensors : (frames, 3, 3) or (3, 3), or (frames, bodies, 3, 3); only the symmetric part is used
    Returns the moments, (frames, 3) or (3,), ascending, and the axes, (frames, 3, 3) or (3, 3), as columns,
    right-handed, with signs chosen to be continuous from frame to frame; for bodies (frames, bodies, ...).
    Both are float64. Raises collet.ShapeError.

    >>> moments, axes = collet.md.principal_axes_batch(np.array([np.diag([3.0, 1, 2])]))
    >>> moments
    array([[1., 2., 3.]])"""
    return _rows(lambda i: tuple(op.principal_axes(i)), 3, _real(inertia_tensors, _REAL[1]))


def decompose_vector_batch(vectors: Any, reference_axes: Any) -> Any:
    """The parts of vectors along and across reference axes of any length.

    vectors : (frames, 3) or (3,)
    reference_axes : (frames, 3), one for each vector, or (3,), the same for all
    Returns the parallel and the perpendicular parts, each with the shape of vectors, float64. For an axis of
    length 0 the parallel part is 0.
    Raises collet.ShapeError.

    >>> vectors, axes = np.array([[1.0, 2, 3]]), np.array([0.0, 0, 1])
    >>> collet.md.decompose_vector_batch(vectors, axes)
    (array([[0., 0., 3.]]), array([[1., 2., 0.]]))"""
    axes = _real(reference_axes, _REAL[1])
    return _rows(lambda v: tuple(op.decompose(v, axes)), 2, _real(vectors, _REAL[1]))


def compute_magnitude_batch(vectors: Any) -> Any:
    """Euclidean norms over the last axis.

    vectors : (..., 3), or another number of components
    Returns norms (...), float64, in units of vectors.

    >>> collet.md.compute_magnitude_batch(np.array([[3.0, 4, 0]]))
    array([5.])"""
    return op.magnitude(_real(vectors))


def solve_linear_batch(A: Any, b: Any) -> Any:
    """Solves A x = b for x.

    A : (frames, n, n) or (n, n)
    b : (frames, n) or (n,)
    Returns x, (frames, n) or (n,), float32 if A and b are float32, else float64.
    Raises numpy.linalg.LinAlgError if a matrix is singular or not finite, and collet.ShapeError.

    >>> collet.md.solve_linear_batch(np.array([2 * np.eye(3)]), np.array([[2.0, 4, 6]]))
    array([[1., 2., 3.]])"""
    A, b = _real(A), _real(b)
    dtype = np.promote_types(A.dtype, b.dtype)
    x, info = op.solve(_real(A, dtype), _real(b, dtype)[..., None])
    if int(info):
        raise np.linalg.LinAlgError(f"solve_linear_batch: the matrix of system {int(info) - 1} is "
                                    "singular or not finite")
    return x[..., 0]


def time_derivative_batch(data: Any, times: Any) -> Any:
    """Central differences over time, one-sided at the ends.

    data : (frames, ...)
    times : (frames,), ascending
    Returns derivatives with the shape of data, float64. For one frame: zeros. NaN where two times are equal.
    Raises collet.ShapeError.

    >>> collet.md.time_derivative_batch(np.array([[0.0], [1], [4]]), np.array([0.0, 1, 2]))
    array([[1.],
           [2.],
           [3.]])"""
    data, times = _real(data), _real(times, _REAL[1])
    if len(data.shape) in (2, 3) and data.shape[-1] == 3:
        return op.time_derivative(data, times).derivative
    flat = np.asarray(data).reshape(data.shape[0], -1)
    columns = flat.shape[1]
    padded = np.zeros((flat.shape[0], -(-columns // 3) * 3), flat.dtype)  # the op takes triples
    padded[:, :columns] = flat
    parts = [op.time_derivative(padded[:, i:i + 3], times).derivative
             for i in range(0, columns, 3)]
    joined = np.concatenate(parts, axis=1) if parts else padded.astype(np.float64)
    return joined[:, :columns].reshape(data.shape)


def process_in_chunks(func: Callable[..., Any], data: Any, chunk_size: int = 1000, **kwargs: Any) -> Any:
    """Calls func(part, **kwargs) for parts of at most chunk_size frames, and concatenates the results.

    data : (frames, ...)
    Returns an array; its first axis is as long as the first axes of the results together. ValueError without frames.

    >>> collet.md.process_in_chunks(lambda x: x.sum(axis=1), np.ones((4, 3)), chunk_size=2)
    array([3., 3., 3., 3.])"""
    parts = [func(data[i:i + chunk_size], **kwargs) for i in range(0, data.shape[0], chunk_size)]
    return np.concatenate(parts, axis=0)


compute_com_single = compute_com_batch
inertia_tensor_single = inertia_tensor_batch
cross_product_single_frame = cross_product_trajectory
decompose_vector_single = decompose_vector_batch
decompose_vector_batch_static_ref = decompose_vector_batch

# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_rules_md.py
"""The ops of molecular dynamics and the functions of collet.md, computed by functions that have rules.
Results are float64, and equal to the results of the ops except for rounding."""

import itertools

import numpy as np

from .. import _ops
from .. import functions as f
from .. import linalg
from .._array.creation import zeros
from .linalg_rules import _eigh_back
from .reduction_rules import _array
from .rules import E_, composite
from .tape import COMPOSITES, bottom, record


def _real(x):
    """An array of float64."""
    x = _array(x)
    return x if x.dtype == np.float64 else x.astype(np.float64)


def _weights(masses):
    """(N, 1) or (F, N, 1)."""
    return _real(masses)[..., None]


def _bodies(offsets, *arrays):
    """Splits arrays into one part for each body. The atoms are the last axis but one."""
    ends = np.asarray(offsets).tolist()
    for start, end in itertools.pairwise(ends):
        yield [None if a is None else a[..., start:end, :] for a in arrays]


def _of_op(name):
    """Returns the function that makes the op's named tuple of results from a tuple."""
    return _ops.make(name)[1]._make


def _each(function, offsets, *arrays):
    """Calls the function for each body and joins the tuples of results: the bodies become axis 1. If offsets is None,
    calls the function once."""
    if offsets is None:
        return function(*arrays)
    found = [function(*part) for part in _bodies(offsets, *arrays)]
    return tuple(None if parts[0] is None else f.stack(parts, axis=1) for parts in zip(*found))


# ---- Sums over atoms: positions (F, N, 3), weights (N, 1) or (F, N, 1)


def _center(x, w):
    return f.sum(w * x, axis=-2) / f.sum(w, axis=-2)


def _moments(d, w):
    """sum w d d^T."""
    return f.matmul(f.matrix_transpose(w * d), d)


def _trace(t):
    return f.trace(t)[..., None, None]


def _inertia(x, w, com):
    moments = _moments(x - com[..., None, :], w)
    return _trace(moments) * np.eye(3) - moments


def _cross_sum(x, w, com, v):
    return f.sum(w * f.cross(x - com[..., None, :], v), axis=-2)


def _observables(x, w, v, forces):
    com = _center(x, w)
    inertia = _inertia(x, w, com)
    momentum = None if v is None else _cross_sum(x, w, com, v)
    torque = None if forces is None else f.sum(f.cross(x - com[..., None, :], forces), axis=-2)
    return com, inertia, momentum, torque, None if v is None else _energies(w, v, inertia, momentum)


def _energies(w, v, inertia, momentum):
    whole = f.sum(w * v, axis=-2)
    omega = linalg.solve(inertia, momentum[..., None])[..., 0]
    total, rotation = f.sum(w * v * v, axis=(-2, -1)), f.sum(omega * momentum, axis=-1)
    return 0.5 * f.stack([total, f.sum(whole * whole, axis=-1) / f.sum(w, axis=(-2, -1)), rotation], axis=-1)


@composite("op.com")
def _op_com(positions, masses):
    return _center(_real(positions), _weights(masses))


@composite("op.inertia")
def _op_inertia(positions, masses, com):
    return _inertia(_real(positions), _weights(masses), _real(com))


@composite("op.cross_sum")
def _op_cross_sum(positions, weights, com, vectors):
    return _cross_sum(_real(positions), _weights(weights), _real(com), _real(vectors))


@composite("op.kinetic")
def _op_kinetic(positions, masses, velocities):
    return _observables(_real(positions), _weights(masses), _real(velocities), None)[4]


@composite("op.observables")
def _op_observables(positions, masses, velocities=None, forces=None, offsets=None):
    velocities, forces = (None if a is None else _real(a) for a in (velocities, forces))
    fields = _real(positions), _weights(masses), velocities, forces
    return _of_op("observables")(_each(_observables, offsets, *fields))


def _gyration(x, w):
    tensor = _moments(x - _center(x, w)[..., None, :], w) / f.sum(w, axis=-2)[..., None]
    size = f.trace(tensor)
    squares = f.sum(tensor * tensor, axis=(-2, -1))  # equals the sum of the squared eigenvalues
    return E_["sqrt"](size), tensor, 1.5 * squares / (size * size) - 0.5


@composite("op.gyration")
def _op_gyration(positions, masses, offsets=None):
    return _of_op("gyration")(_each(_gyration, offsets, _real(positions), _weights(masses)))


def _superposed(x, w, reference):
    """Computes the rmsd and the rotation from the singular values of the covariance."""
    d = x - _center(x, w)[..., None, :]
    r = reference - _center(reference, w)[..., None, :]
    covariance = f.matmul(f.matrix_transpose(w * d), r)
    u, s, vh = linalg.svd(covariance)
    signs = np.ones(s.shape)
    signs[..., 2] = np.sign(np.asarray(linalg.det(bottom(u)) * linalg.det(bottom(vh))))
    rotation = f.matmul(f.matrix_transpose(vh), signs[..., None] * f.matrix_transpose(u))
    apart = f.matmul(d, f.matrix_transpose(rotation)) - r
    return E_["sqrt"](f.sum(w * apart * apart, axis=(-2, -1)) / f.sum(w, axis=(-2, -1))), rotation


@composite("op.rmsd")
def _op_rmsd(positions, weights=None, reference=None, offsets=None):
    positions = _real(positions)
    w = np.ones((positions.shape[-2], 1)) if weights is None else _weights(weights)
    return _of_op("rmsd")(_each(_superposed, offsets, positions, w, _real(reference)))


# ---- Single vectors and tensors


def _principal_axes_rule(inertia, previous=None):
    from .. import op
    made = op.principal_axes(inertia) if previous is None else op.principal_axes(inertia, previous)
    back = _eigh_back(made.moments, made.axes)
    return made, lambda gradients: (back(gradients), None)


@composite("op.principal_axes")
def _op_principal_axes(inertia, previous=None):
    return record(_principal_axes_rule, (_real(inertia), previous), {})


def _positive(length):
    return E_["where"](length == 0, 1, length)


@composite("op.decompose")
def _op_decompose(vectors, axes):
    vectors, axes = _real(vectors), _real(axes)
    share = f.sum(vectors * axes, axis=-1) / _positive(f.sum(axes * axes, axis=-1))
    parallel = share[..., None] * axes
    return _of_op("decompose")((parallel, vectors - parallel))


@composite("op.magnitude")
def _op_magnitude(a):
    return linalg.vector_norm(_real(a), axis=-1)


@composite("op.angular_velocity")
def _op_angular_velocity(inertia, L):
    omega = linalg.solve(_real(inertia), _real(L)[..., None])[..., 0]
    return _of_op("angular_velocity")((omega, zeros(omega.shape[:1], "int32")))


@composite("op.time_derivative")
def _op_time_derivative(x, t):
    x, t = _real(x), _real(t)
    count = x.shape[0]
    after, before = np.minimum(np.arange(count) + 1, count - 1), np.maximum(np.arange(count) - 1, 0)
    change = f.take(x, after, axis=0) - f.take(x, before, axis=0)
    time = f.take(t, after) - f.take(t, before)
    made = x * 0.0 if count == 1 else change / f.reshape(time, [-1, *(1 for _ in x.shape[1:])])
    return _of_op("time_derivative")((made, zeros((), "int32")))


# ---- collet.md: the same for one frame, and for bodies in a separate axis


def _op(name):
    return COMPOSITES["op." + name]


@composite("md.compute_com_batch")
def _md_com(positions, masses, offsets=None):
    if offsets is not None:
        return _md_observables(positions, masses, offsets=offsets).com
    return _op("com")(positions, masses)


@composite("md.inertia_tensor_batch")
def _md_inertia(positions, masses, com):
    return _op("inertia")(positions, masses, com)


@composite("md.cross_product_trajectory")
def _md_cross(positions, vectors, masses, com):
    return _op("cross_sum")(positions, masses, com, vectors)


@composite("md.observables")
def _md_observables(positions, masses, velocities=None, forces=None, offsets=None):
    one = len(positions.shape) == 2 and offsets is not None
    fields = [a if a is None or not one else _array(a)[None] for a in (positions, velocities, forces)]
    made = _op("observables")(fields[0], masses, *fields[1:], offsets)
    return type(made)(*(a if a is None or not one else a[0] for a in made))


@composite("md.principal_axes_batch")
def _md_principal_axes(inertia_tensors):
    x = _real(inertia_tensors)
    one = len(x.shape) == 2
    made = _op("principal_axes")(x[None] if one else x)
    return tuple(a[0] if one else a for a in made)


@composite("md.decompose_vector_batch")
def _md_decompose(vectors, reference_axes):
    return tuple(_op("decompose")(vectors, reference_axes))


@composite("md.compute_magnitude_batch")
def _md_magnitude(vectors):
    return _op("magnitude")(vectors)


@composite("md.solve_linear_batch")
def _md_solve(A, b):
    return linalg.solve(A, _array(b)[..., None])[..., 0]


@composite("md.time_derivative_batch")
def _md_time_derivative(data, times):
    return _op("time_derivative")(data, times)[0]


@composite("md.process_in_chunks")
def _md_chunks(func, data, chunk_size=1000, **keywords):
    parts = [func(data[i:i + chunk_size], **keywords) for i in range(0, data.shape[0], chunk_size)]
    return f.concat(parts, axis=0)

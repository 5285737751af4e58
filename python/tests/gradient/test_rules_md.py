# SPDX-License-Identifier: Apache-2.0
"""Gradients of the ops of molecular dynamics and of collet.md agree with central differences. Values agree with the
results of the ops."""

import numpy as np
import pytest
from differences import compare, weighted

import collet
from collet import md, op

generator = np.random.default_rng(5)
X, V, F = generator.normal(size=(3, 2, 6, 3))
M, T = generator.uniform(1, 2, 6), np.array([0.0, 1, 3, 4, 5, 8])
OFFSETS, REFERENCE = np.array([0, 3, 6]), generator.normal(size=(6, 3))
COM, L = generator.normal(size=(2, 2, 3))
TENSOR = X.transpose(0, 2, 1) @ X
BODIES = X.reshape(2, 2, 3, 3)


def symmetric(x):
    return (x + x.mT) * 0.5


CASES = {
    "com": [(lambda x: op.com(x, M), X), (lambda m: op.com(X, m), M)],
    "inertia": [(lambda x: op.inertia(x, M, COM), X), (lambda c: op.inertia(X, M, c), COM)],
    "cross_sum": [(lambda v: op.cross_sum(X, M, COM, v), V), (lambda x: op.cross_sum(x, M, COM, V), X)],
    "observables": [(lambda x: op.observables(x, M, V, F), X), (lambda v: op.observables(X, M, v, F), V),
                    (lambda m: op.observables(X, m, V), M), (lambda x: op.observables(x, M, V, F, OFFSETS), X)],
    "gyration": [(lambda x: op.gyration(x, M), X), (lambda x: op.gyration(x, M, OFFSETS), X)],
    "rmsd": [(lambda x: op.rmsd(x, M, REFERENCE), X), (lambda x: op.rmsd(x, None, REFERENCE), X),
             (lambda r: op.rmsd(X, M, r), REFERENCE), (lambda x: op.rmsd(x, M, REFERENCE, OFFSETS), X)],
    "principal_axes": [(lambda i: op.principal_axes(symmetric(i)), TENSOR)],
    "kinetic": [(lambda v: op.kinetic(X, M, v), V)],
    "decompose": [(lambda v: op.decompose(v, L), COM), (lambda a: op.decompose(COM, a), L)],
    "magnitude": [(op.magnitude, X)],
    "time_derivative": [(lambda x: op.time_derivative(x, T).derivative, REFERENCE),
                        (lambda t: op.time_derivative(REFERENCE, t).derivative, T)],
    "angular_velocity": [(lambda i: op.angular_velocity(symmetric(i), L).omega, TENSOR)],
    "compute_com_batch": [(lambda x: md.compute_com_batch(x, M), X), (lambda x: md.compute_com_single(x, M), REFERENCE),
                          (lambda x: md.compute_com_batch(x, M[:3]), BODIES),
                          (lambda x: md.compute_com_batch(x, M, OFFSETS), X)],
    "inertia_tensor_batch": [(lambda x: md.inertia_tensor_batch(x, M.reshape(2, 3), x[:, :, 0]), BODIES)],
    "cross_product_trajectory": [(lambda v: md.cross_product_trajectory(X, v, M, COM), V)],
    "md.observables": [(lambda x: md.observables(x, M, V, F), X), (lambda x: md.observables(
        x, M, REFERENCE, REFERENCE, OFFSETS), REFERENCE), (lambda x: md.observables(
            x, M.reshape(2, 3), V.reshape(2, 2, 3, 3)), BODIES), (lambda x: md.observables(x, M), REFERENCE)],
    "principal_axes_batch": [(lambda i: md.principal_axes_batch(symmetric(i)), TENSOR),
                             (lambda i: md.principal_axes_batch(symmetric(i)), TENSOR[0])],
    "decompose_vector_batch": [(lambda v: md.decompose_vector_batch(v, L), COM)],
    "compute_magnitude_batch": [(md.compute_magnitude_batch, V)],
    "solve_linear_batch": [(lambda a: md.solve_linear_batch(a, COM), TENSOR)],
    "time_derivative_batch": [(lambda x: md.time_derivative_batch(x, T), generator.normal(size=(6, 4)))],
    "process_in_chunks": [(lambda x: md.process_in_chunks(lambda p: md.compute_com_batch(p, M), x, 1), X)],
}


@pytest.mark.parametrize("name", CASES)
def test_md(name):
    for function, x in CASES[name]:
        compare(lambda x: weighted(function(x)**2 if not isinstance(function(x), tuple) else function(x)), x)


def test_every_name():
    names = {f.__name__ for f in vars(md).values() if hasattr(f, "__wrapped__") and f.__module__ == "collet.md"}
    assert names - {"observables"} <= CASES.keys()


def test_second_derivatives():
    x, m, reference = X[:, :4], M[:4], REFERENCE[:4]
    for function in (lambda x: op.rmsd(x, m, reference), lambda x: op.gyration(x, m), lambda x: op.principal_axes(
            op.inertia(x, m, op.com(x, m)))):
        compare(lambda x: weighted(collet.grad(lambda y: weighted(function(y)))(x)), x, 1e-5)


def test_refused():
    with pytest.raises(collet.UnsupportedError, match=r"collet\.op\.euler_zyz has no rule"):
        collet.grad(lambda x: op.euler_zyz(x).sum())(TENSOR)

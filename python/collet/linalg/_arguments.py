# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/linalg/test_linalg.py
"""Shared by the functions: conversion of their arguments, the error of an op, adjoints."""

from numpy.linalg import LinAlgError

from .. import op
from .._core import ShapeError
from .._array.operands import floats, matrices, zeros_as
from ..functions import diagonal, matrix_transpose


def numbers(*values):
    return floats(*values, complex_too=True)


def matrix(a, square=False):
    return matrices(*numbers(a), square)


def check(info, what):
    """LinAlgError with the text if an info, or any info of a batch, is not 0."""
    if bool(op.any(info)):
        raise LinAlgError(what)


def columns(name, a, b):
    """The right sides b of a x = b as columns: (..., M, R). Raises ShapeError if they do not fit a's rows."""
    if not b.ndim or b.shape[-2:][0] != a.shape[-2]:
        raise ShapeError(f"{name}: a has the shape {a.shape} and b {b.shape}; b needs {a.shape[-2]} rows, one for each "
                         "row of a")
    return b.reshape((-1, 1)) if b.ndim == 1 else b


def like_sides(x, b):
    """A solution (..., N, R) with the axes of the right sides b: a vector if b is a vector."""
    return x.reshape(x.shape[:-1]) if b.ndim == 1 else x


def identity(a):
    """An identity matrix of the size of a's matrices."""
    made = zeros_as(a, (a.shape[-1],) * 2)
    op.fill(value=1, out=diagonal(made))
    return made


def conj(a):
    return op.conj(a) if a.dtype.kind == "c" else a


def adjoint(a):
    return conj(matrix_transpose(a))

# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/linalg/test_linalg.py, python/tests/linalg/test_linalg_equations.py
"""Equations with square matrices."""

from numpy.linalg import LinAlgError

from .. import op
from ..functions import concat, diagonal, matrix_transpose, triu
from ._arguments import adjoint, columns, identity, like_sides, matrix, numbers

_BLOCK = 64  # the order of the largest triangular matrix that op.solve gets


def solve(a, b):
    """Solves a x = b for x. a: square, (..., N, N). b: (N,) or (..., N, R). x: (..., N) or (..., N, R).

    Raises LinAlgError if a matrix is singular (an exact zero as pivot). NaN where a or b is not finite.

    >>> collet.linalg.solve([[2, 0], [0, 4]], [2, 2])
    array([1. , 0.5])"""
    a, b = numbers(matrix(a, square=True), b)
    return like_sides(_solution("solve", a, columns("solve", a, b)), b)


def _solution(name, a, b):
    x, info = op.solve(a, b)
    singular = int(info)
    if singular:
        raise LinAlgError(f"{name}: matrix {singular - 1} is singular")
    return x


def inv(a):
    """The inverse of square matrices. Raises LinAlgError if one is singular.

    >>> collet.linalg.inv([[2.0]])
    array([[0.5]])"""
    a = matrix(a, square=True)
    return _solution("inv", a, identity(a))


def _substituted(a, b, unit_diagonal):
    """Solves a x = b with the upper triangle of a, recursively by halves of a. op.solve exchanges no rows of an upper
    triangular matrix, so it computes a back substitution."""
    order = a.shape[-1]
    if order <= _BLOCK:
        a = triu(a)
        if unit_diagonal:
            op.fill(value=1, out=diagonal(a))
        return _solution("solve_triangular", a, b)
    half = order // 2
    last = _substituted(a[..., half:, half:], b[..., half:, :], unit_diagonal)
    rest = op.sub(b[..., :half, :], op.matmul(a[..., :half, half:], last))
    return concat([_substituted(a[..., :half, :half], rest, unit_diagonal), last], axis=-2)


def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False):
    """Solves a x = b for x, where a is triangular, as scipy.linalg.solve_triangular. a: (..., N, N). b: (N,) or
    (..., N, R). Only one triangle of a is read: the lower triangle if `lower`. trans: 0 or "N"; 1 or "T": solves
    a^T x = b; 2 or "C": solves a^H x = b. unit_diagonal: the diagonal is not read, its elements count as 1.

    Raises LinAlgError if an element of the diagonal is 0.

    >>> collet.linalg.solve_triangular([[2, 1], [0, 4]], [4, 8])
    array([1., 2.])"""
    a, b = numbers(matrix(a, square=True), b)
    trans = transposition("solve_triangular", trans)
    sides = columns("solve_triangular", a, b)
    if trans:
        a, lower = adjoint(a) if trans == 2 else matrix_transpose(a), not lower
    if lower:  # upper triangular in reverse order
        x = _substituted(a[..., ::-1, ::-1], sides[..., ::-1, :], unit_diagonal)[..., ::-1, :]
    else:
        x = _substituted(a, sides, unit_diagonal)
    return like_sides(x, b)


def transposition(name, trans):
    """0, 1 or 2 for the values of `trans`. Raises ValueError for another value."""
    for number, letter in enumerate("NTC"):
        if trans in (number, letter):
            return number
    raise ValueError(f"{name}: trans is {trans!r}; it can be 0 or 'N', 1 or 'T' (transposed), 2 or 'C' (adjoint)")

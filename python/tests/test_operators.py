# SPDX-License-Identifier: Apache-2.0
"""Where an object has no operator, Python has a default that is wrong for arrays: an error says so.
Besides, what copies of objects are."""

import copy
import operator
import pickle

import numpy as np
import pytest

import collet
from collet import op, random, scatter
from collet.md import _extract

X = collet.asarray(np.array([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("compare", [operator.eq, operator.ne, operator.lt, operator.le,
                                     operator.gt, operator.ge])
@pytest.mark.parametrize("other", [X, 1, 1.0, None, np.ones(3), np.float64(1), "a", [1, 2, 3]])
def test_comparisons(compare, other):
    for pair in (X, other), (other, X):
        with pytest.raises(TypeError, match="collet.Array has no operator .*to_numpy"):
            compare(*pair)


def test_what_compares_inside():
    info = op.cholesky(collet.asarray(np.eye(2))).info
    with pytest.raises(TypeError, match="has no operator =="):
        info == 0
    assert int(info) == 0
    with pytest.raises(TypeError, match="has no operator in"):
        1.0 in X
    for function in (min, max, sorted):
        with pytest.raises(TypeError, match="has no operator"):
            function(X)
    with pytest.raises(TypeError, match="has no operator =="):
        [collet.ones(3)].index(X)
    assert X in [X] and X is not +X
    with pytest.raises(TypeError, match="unhashable"):
        hash(X)


@pytest.mark.parametrize("other", [[1, 2], (1, 2), "ab", b"ab", bytearray(2)])
def test_sequences_are_not_repeated(other):
    two = collet.full((), 2, "i32")
    for multiply in (lambda: two * other, lambda: other * two):
        with pytest.raises(TypeError, match=f"not {type(other).__name__}: convert it by"):
            multiply()


def test_functions_of_numpy():
    calls = {"add.reduce": lambda: np.add.reduce(X), "exp": lambda: np.exp(X),
             "remainder": lambda: np.ones(3) % X, "add.at": lambda: np.add.at(np.ones(3), [0], X),
             "multiply.outer": lambda: np.multiply.outer(np.ones(2), X)}
    for name, call in calls.items():
        with pytest.raises(TypeError, match=f"numpy.{name} takes no collet.Array: .*to_numpy"):
            call()
    for call in (lambda: np.add(X, X, out=np.ones(3)), lambda: np.add(np.ones(3), 1, out=+X),
                 lambda: np.add(np.ones(3), X, out=np.ones(3))):
        with pytest.raises(TypeError, match="numpy.add takes no out= where .*collet.op.*to_numpy"):
            call()
    with pytest.raises(TypeError, match="numpy.add takes no where=, dtype= where"):
        np.add(X, X, where=np.ones(3, "?"), dtype="f4")
    host = np.ones(3)
    with pytest.raises(TypeError, match="numpy.add takes no out= "):
        host += X
    assert isinstance(host, np.ndarray) and host.tolist() == [1, 1, 1]


def test_arrays_of_numpy_on_the_left():
    two = np.full(3, 2.0)
    for left in two, np.float64(2):
        for made, expected in ((left + X, [3, 4, 5]), (left - X, [1, 0, -1]), (left * X, [2, 4, 6]),
                               (np.add(left, X), [3, 4, 5]), (np.subtract(X, left), [-1, 0, 1])):
            assert isinstance(made, collet.Array) and made.to_numpy().tolist() == expected
    assert np.allclose((two / X).to_numpy(), [2, 1, 2 / 3]) and float(two @ X) == 12
    assert np.add(X, X).to_numpy().tolist() == [2, 4, 6]


def test_scalars():
    two, one = collet.full((), 2, "i32"), collet.full((1,), 1, "i32")
    assert [5, 6, 7][two] == 7 and int(one) == 1 and bool(one) and float(one) == 1
    for use in (lambda: [5, 6][one], lambda: X[one], lambda: range(one), lambda: X[np.True_],
                lambda: X[collet.zeros(1, "i32")]):
        with pytest.raises((TypeError, IndexError)):
            use()
    for convert in (bool, int, float, complex):
        with pytest.raises((TypeError, ValueError)):
            convert(X)
    with pytest.raises(ValueError, match="truth value of an Array of 3 elements is ambiguous"):
        bool(X)
    with pytest.raises(TypeError, match="only an integer array without axes can be used"):
        [5, 6][one]
    assert bytes(two) == np.array(2, "i4").tobytes() and bytes(X) == X.to_numpy().tobytes()


def test_what_is_in_place_and_what_is_a_copy():
    a = collet.asarray(np.arange(4.0).reshape(2, 2))
    same, view, copied = a, a[0], +a
    a @= np.array([[0.0, 1.0], [1.0, 0.0]])
    assert a is same and view.to_numpy().tolist() == [1, 0]
    assert copied.to_numpy().tolist() == [[0, 1], [2, 3]]
    for other in (np.ones(2), np.ones((2, 3))):
        with pytest.raises(collet.ShapeError):
            a @= other


def test_copies():
    report, results = collet.doctor(), _extract.Results(com=np.ones(3))
    results.meta = {"a": 1}
    for twice in (copy.copy, copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))):
        assert str(twice(report)) == str(report) and twice(report) == report
        assert twice(results).meta == {"a": 1}
        assert twice(collet.backends()) == collet.backends()
        generator = random.Generator(3, 7)
        assert repr(twice(generator)) == repr(generator)
    assert results.copy().meta == {"a": 1} and type(results.copy()) is type(results)


def test_iterators_are_not_copied():
    sample = scatter.Sample([scatter.Material([1e-3, 0, 1e-3, 0], np.ones((4, 4, 4), "f4"))],
                            [285.0, 286.0], 2.0)
    with scatter.Patterns(sample) as patterns:
        for twice in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="Patterns cannot be copied"):
                twice(patterns)
    assert copy.copy(sample).energies == [285.0, 286.0]

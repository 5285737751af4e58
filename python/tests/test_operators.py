# SPDX-License-Identifier: Apache-2.0
"""The operators of Arrays, against NumPy's, and their errors. Also: copies of objects."""

import copy
import operator
import pickle

import numpy as np
import pytest

import collet
from collet import op, random, scatter
from collet.md import _extract

X = collet.asarray(np.array([1.0, 2.0, 3.0]))


VALUES = {"?": [True, False, True], "i1": [-7, 0, 3], "u1": [7, 0, 3], "i4": [-7, 2, 3], "u8": [1, 2, 3],
          "f2": [-1.5, 0, 2], "f4": [0.5, 2, -3], "f8": [2.5, -2, 3], "c8": [1j, 2, 3]}
ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
              operator.pow, divmod]
BITS = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


def both(compute, *values):
    """The results of Collet and of NumPy; (None, None) if NumPy refuses the operands."""
    with np.errstate(all="ignore"):
        try:
            expected = compute(*values)
        except TypeError:
            return None, None
    arrays = [collet.asarray(v) if isinstance(v, np.ndarray) else v for v in values]
    return compute(*arrays), expected


def same(made, expected):
    if isinstance(expected, tuple):
        return all(map(same, made, expected))
    assert isinstance(made, collet.Array) and made.dtype == expected.dtype
    return np.allclose(made.to_numpy(), expected, rtol=1e-3, equal_nan=True)


@pytest.mark.usefixtures("numpy_2")
@pytest.mark.parametrize("compute", ARITHMETIC + BITS + COMPARISONS)
def test_binary_operators(compute):
    orders = COMPARISONS[2:] + [operator.floordiv, operator.mod, divmod]
    for first in VALUES:
        a = np.array(VALUES[first], first)
        others = [np.array(VALUES[d], d) for d in VALUES] + [2, 2.5, True, np.float32(2), np.int64(3)]
        for b in others:
            if "c" in (a.dtype.kind, getattr(b, "dtype", a.dtype).kind) and compute in orders:
                continue  # complex numbers have no order
            zero = compute in (operator.floordiv, operator.mod, divmod) and not np.all(b)
            negative = compute in (operator.pow, operator.lshift, operator.rshift) and np.any(np.less(np.real(b), 0))
            if zero or (negative and a.dtype.kind in "biu"):
                continue  # defined by docs/KERNELS.md
            for pair in (a, b), (b, a):
                if compute is operator.pow and "b" in (a.dtype.kind, getattr(pair[0], "dtype", a.dtype).kind):
                    continue  # powers of bools are not compared: in NumPy they are int8
                if pair[1] is a and (compute in (operator.floordiv, operator.mod, divmod) and not a.all() or
                                     compute in BITS[3:] and (a < 0).any() or
                                     compute is operator.pow and (a.real < 0).any()):
                    continue
                made, expected = both(compute, *pair)
                if compute is operator.pow and type(b) is np.float32 and np.lib.NumpyVersion(np.__version__) < "2.3.0":
                    continue  # NumPy 1: scalars are weak in powers; before 2.3: squares of integers are float64
                assert expected is None or same(made, expected), (compute, first, b, made, expected)


def test_operators_that_are_refused():
    i = collet.asarray(np.arange(3))
    for compute in (lambda: X & 1, lambda: ~X, lambda: X << 1, lambda: -(X == 1), lambda: X < 1j):
        with pytest.raises(collet.DtypeError):
            compute()
    for compare in COMPARISONS[2:]:
        with pytest.raises(TypeError, match="not supported between"):
            compare(X, None)
    for compare in COMPARISONS:
        for other in "a", [1, 2, 3]:
            with pytest.raises(TypeError, match="operators take numbers, .*collet.asarray"):
                compare(X, other)
    assert (X == None) is False and (X != None) is True  # noqa: E711
    with pytest.raises(collet.DtypeError, match="does not fit int8"):
        i.astype("i1") + 300


def test_comparisons_inside():
    assert 2.0 in X and 1.5 not in X and X in [X] and X is not +X
    assert float(max(X)) == 3 and float(min(X)) == 1 and [float(v) for v in sorted(-X)] == [-3, -2, -1]
    with pytest.raises(ValueError, match="truth value of an Array of 3 elements is ambiguous"):
        X in [collet.ones(3)]
    info = op.cholesky(collet.asarray(np.eye(2))).info
    assert info == 0 and not info != 0
    with pytest.raises(TypeError, match="unhashable"):
        hash(X)


@pytest.mark.parametrize("compute", [operator.iadd, operator.isub, operator.imul, operator.itruediv,
                                     operator.ifloordiv, operator.imod, operator.ipow, operator.iand,
                                     operator.ior, operator.ixor, operator.ilshift, operator.irshift])
def test_in_place(compute):
    for first in VALUES:
        for second in "?", "i1", "i4", "u8", "f4", "f8", "c8":
            for b in np.array([1, 1, 1], second), np.array([1], second)[0].item():
                host, a = np.array(VALUES[first], first), collet.asarray(np.array(VALUES[first], first))
                with np.errstate(all="ignore"):
                    try:
                        expected = compute(host, b)
                    except TypeError:
                        expected = None
                view = a[:]
                if expected is None:
                    with pytest.raises(collet.DtypeError):
                        compute(a, b)
                else:
                    assert compute(a, b) is a and same(a, expected), (first, second, b)
                    assert (view == a).to_numpy().all() or np.isnan(expected).any()


def test_powers():
    x = np.array([0.5, 2, 9])
    for exponent in -2, -1, 0, 0.5, 1, 2, 2.0, 3, 7.5, 16, 17, 2.25:
        made = collet.asarray(x)**exponent
        assert np.allclose(made.to_numpy(), x**exponent, rtol=1e-12)
    assert (collet.asarray(np.arange(4))**2).dtype == np.int64
    assert (collet.asarray(np.arange(4))**2.0).dtype == np.float64


@pytest.mark.parametrize("other", [[1, 2], (1, 2), "ab", b"ab", bytearray(2)])
def test_sequences_are_not_repeated(other):
    two = collet.full((), 2, "int32")
    for multiply in (lambda: two * other, lambda: other * two):
        with pytest.raises(TypeError, match=f"not {type(other).__name__}: convert it by"):
            multiply()


def test_ufuncs_of_numpy():
    x = np.array([0.5, 0.25, -0.5])
    a = collet.asarray(x)
    for f in (np.sin, np.arccos, np.exp, np.absolute, np.isnan, np.rint, np.sign, np.conjugate, np.positive):
        assert same(f(a), f(x))
    for f in (np.add, np.remainder, np.maximum, np.arctan2, np.less, np.logical_and, np.matmul):
        for pair in (a, x), (x, a), (a, a):
            assert same(f(*pair), f(x, x))
    out = collet.empty(3)
    assert np.add(a, x, out=out) is out and same(out, x + x)
    host = np.ones(3)
    assert np.add(X, X, out=host) is host and host.tolist() == (2 * X).tolist()
    host += X
    assert type(host) is np.ndarray and host.tolist() == (3 * X).tolist()
    with pytest.raises(TypeError, match="casting rule 'no'"):
        np.add(X, np.ones(3, "f4"), casting="no")


def test_arrays_of_numpy_on_the_left():
    two = np.full(3, 2.0)
    for left in two, np.float64(2):
        for made, expected in ((left + X, [3, 4, 5]), (left - X, [1, 0, -1]), (left * X, [2, 4, 6]),
                               (np.add(left, X), [3, 4, 5]), (np.subtract(X, left), [-1, 0, 1])):
            assert isinstance(made, collet.Array) and made.to_numpy().tolist() == expected
    assert np.allclose((two / X).to_numpy(), [2, 1, 2 / 3]) and float(two @ X) == 12
    assert np.add(X, X).to_numpy().tolist() == [2, 4, 6]


def test_scalars():
    two, one = collet.full((), 2, "int32"), collet.full((1,), 1, "int32")
    assert [5, 6, 7][two] == 7 and int(one) == 1 and bool(one) and float(one) == 1
    assert X[one].shape == (1,) and X[two].shape == () and X[np.True_].shape == (1, 3)
    for use in (lambda: [5, 6][one], lambda: range(one)):
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


IN_PLACE = ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor", "ilshift", "irshift",
            "imatmul"]
DTYPES = "? i1 u1 i4 u4 i8 u8 f2 f4 f8 c8 c16".split()


def numpy_in_place(name, values, other):
    """The result of NumPy 2. None if NumPy cannot store the result."""
    copy = values.copy()
    try:
        if name != "imatmul":
            return getattr(operator, name)(copy, other)
        product = values @ other
        return product.astype(values.dtype) if np.can_cast(product.dtype, values.dtype, "same_kind") else None
    except (TypeError, OverflowError):
        return None


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_keeps_the_dtype_or_refuses(name, numpy_2):
    for dtype in DTYPES:
        values = np.array([[1, 2], [3, 1]]).astype(dtype)
        for other in [np.array([[1, 2], [3, 1]]).astype(d) for d in DTYPES] + [True, 2, 2.5, 1j]:
            if name == "imatmul" and not isinstance(other, np.ndarray):
                continue
            with np.errstate(all="ignore"):
                expected = numpy_in_place(name, values, other)
            for given in (other, collet.asarray(other)) if isinstance(other, np.ndarray) else (other,):
                x = collet.asarray(values.copy())
                if expected is None:
                    with pytest.raises((TypeError, ValueError, OverflowError)):
                        getattr(operator, name)(x, given)
                    assert np.array_equal(x.to_numpy(), values)
                else:
                    assert getattr(operator, name)(x, given) is x
                    assert np.allclose(x.to_numpy(), expected, equal_nan=True), (dtype, other)

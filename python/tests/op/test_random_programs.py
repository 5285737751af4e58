# SPDX-License-Identifier: Apache-2.0
"""Random programs of functions of the array API standard, on collet, NumPy 2 and array-api-strict: equal shapes, dtypes and
values, statement by statement. `python test_random_programs.py SEED STATEMENTS` runs longer programs."""

import math
import random
import sys
import warnings

import numpy as np
import pytest

import collet

try:
    import array_api_strict as strict
except ImportError:
    strict = None

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128".split()
UNARY = """abs acos acosh asin asinh atan atanh ceil conj cos cosh exp expm1 floor imag isfinite isinf isnan log log1p log2 log10
logical_not negative positive real sign signbit sin sinh square sqrt tan tanh trunc bitwise_invert""".split()
BINARY = """add subtract multiply divide atan2 bitwise_and bitwise_or bitwise_xor copysign equal floor_divide greater greater_equal hypot
less less_equal logaddexp logical_and logical_or logical_xor maximum minimum not_equal remainder pow bitwise_left_shift
bitwise_right_shift""".split()
ORDER = "greater greater_equal less less_equal maximum minimum logaddexp lt le gt ge".split()  # not of complex numbers
NUMBERS = (0, 1, 2, 3, -1, 1.5, 0.25, -2.5, True, 1j)


class Program:
    """Each item of `pool` is the same array in collet, NumPy and array-api-strict; the third may be None."""

    def __init__(self, seed):
        self.choose, self.pool, self.count = random.Random(seed), [], 0

    def shape(self):
        return tuple(self.choose.choice((0, 1, 1, 2, 2, 3, 3, 4, 5)) for _ in range(self.choose.randrange(4)))

    def fresh(self, dtype=None, shape=None, special=0.05):
        """A new array of small numbers, rarely with infinities and NaN."""
        choose = self.choose
        dtype = np.dtype(dtype or choose.choice(DTYPES))
        shape = self.shape() if shape is None else shape
        rng = np.random.default_rng(choose.randrange(2**32))
        low = 0 if dtype.kind in "bu" else -4
        a = np.asarray(rng.integers(low, 5, shape)) if dtype.kind in "biu" else np.asarray(rng.normal(size=shape).round(3))
        if dtype.kind == "c":
            a = a + 1j * rng.normal(size=shape).round(3)
        a = np.asarray(a).astype(dtype)
        if dtype.kind == "f" and a.size and choose.random() < special:
            a.flat[choose.randrange(a.size)] = choose.choice((np.inf, -np.inf, np.nan, -0.0))
        return self.keep(collet.asarray(a), a)

    def keep(self, made, expected):
        third = None if strict is None or expected.dtype == np.float16 else strict.asarray(expected)
        entry = made, expected, third
        if len(self.pool) > 12:
            self.pool.pop(self.choose.randrange(len(self.pool)))
        self.pool.append(entry)
        return entry

    def one(self, kinds="biufc", ndim=None):
        fits = [e for e in self.pool if e[1].dtype.kind in kinds and (ndim is None or e[1].ndim in ndim)]
        if fits and self.choose.random() < 0.8:
            return self.choose.choice(fits)
        dtype = self.choose.choice([d for d in DTYPES if np.dtype(d).kind in kinds])
        shape = None if ndim is None else tuple(self.choose.randrange(1, 5) for _ in range(self.choose.choice(ndim)))
        return self.fresh(dtype, shape)

    def mate(self, entry):
        """An array that broadcasts with the given array."""
        a = entry[1]
        fits = [e for e in self.pool if broadcasts(e[1].shape, a.shape)]
        if fits and self.choose.random() < 0.5:
            return self.choose.choice(fits)
        shape = [1 if self.choose.random() < 0.2 else n for n in a.shape][self.choose.randrange(a.ndim + 1):]
        return self.fresh(a.dtype if self.choose.random() < 0.7 else None, tuple(shape))

    def statement(self):
        make = self.choose.choice(MAKERS)
        text, operands, call = make(self)
        self.count += 1
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected, refused = attempt(call, np, [e[1] for e in operands])
            made, ours = attempt(call, collet, [e[0] for e in operands])
            third, _ = attempt(call, strict, [e[2] for e in operands]) if all(e[2] is not None for e in operands) and \
                strict else (None, None)
        where = f"{self.count}: {text} of " + ", ".join(f"{e[1].dtype}{e[1].shape}" for e in operands)
        if refused or ours:
            assert refused and ours, f"{where}: NumPy {refused or 'computes it'}, collet {ours or 'computes it'}"
            return
        compare(where, made, expected, [e[1] for e in operands], text)
        if third is not None:
            compare(where + " (strict)", made, third, [e[1] for e in operands], text)
        for m, e in zip(*(v if isinstance(v, (tuple, list)) else (v,) for v in (made, expected))):
            e = np.asarray(e)
            finite = np.abs(e[np.isfinite(e)]) if e.dtype.kind in "fc" else np.zeros(1)
            if e.size <= 200 and e.ndim <= 4 and (not finite.size or finite.max() < 1e4):
                self.keep(collet.asarray(e) if e.dtype.kind in "fc" else m, np.array(e))


def broadcasts(a, b):
    return all(n == m or 1 in (n, m) for n, m in zip(a[::-1], b[::-1]))


def attempt(call, xp, operands):
    try:
        return call(xp, *operands), None
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


def compare(where, made, expected, inputs, text):
    if isinstance(expected, (tuple, list)):
        assert len(made) == len(expected), where
        for m, e in zip(made, expected):
            compare(where, m, e, inputs, text)
        return
    e = np.asarray(expected)
    assert isinstance(made, collet.Array), f"{where}: {type(made)}"
    m = made.to_numpy()
    assert m.shape == e.shape and m.dtype == e.dtype, f"{where}: {m.dtype}{m.shape}, expected {e.dtype}{e.shape}"
    if e.dtype.kind not in "fc":
        assert np.array_equal(m, e), f"{where}: {m}, expected {e}; inputs {inputs}"
        return
    single = e.dtype.itemsize <= 4 or e.dtype == np.complex64 or any(x.dtype in (np.float32, np.complex64) for x in inputs)
    scale = max([1.0, float(np.abs(e[np.isfinite(e)]).max(initial=0)), *(float(np.abs(x[np.isfinite(x)]).max(initial=0)) * max(1, math.sqrt(x.size)) for x in inputs
                        if x.dtype.kind in "fciu")])
    tolerance = 2e-2 if e.dtype == np.float16 else 2e-4 if single else 1e-9
    parts = ((m.real, e.real), (m.imag, e.imag)) if e.dtype.kind == "c" else ((m, e),)
    for got, wanted in parts:
        if e.dtype.kind == "c" and not np.isfinite(e).all():
            continue  # libraries differ in which part is NaN
        assert np.allclose(got, wanted, rtol=tolerance, atol=tolerance * scale, equal_nan=True), \
            f"{where}: {m}, expected {e}; inputs {inputs}"


# ---- Statements: (text, operands, call(xp, *operands)), with all choices made


def unary(p):
    name = p.choose.choice(UNARY)
    return name, [p.one("iufc" if name in ("conj", "positive") else "biufc")], lambda xp, x: getattr(xp, name)(x)


def binary(p):
    name, a = p.choose.choice(BINARY), p.one()
    b = p.mate(a)
    if name in ORDER and "c" in a[1].dtype.kind + b[1].dtype.kind:
        return binary(p)
    if name in ("atan2", "copysign", "hypot", "logaddexp") and {a[1].dtype.kind, b[1].dtype.kind} == {"i", "u"}:
        return binary(p)  # i1 and u1 give f2 in NumPy, but f4 here, because their common integer dtype is i2
    if name == "pow":
        if a[1].dtype.kind in "biu" or b[1].dtype.kind in "biu":
            return binary(p)
    if "shift" in name and (b[1].dtype.kind not in "iu" or not ((0 <= b[1]) & (b[1] < 8)).all()):
        return binary(p)
    return name, [a, b], lambda xp, x, y: getattr(xp, name)(x, y)


def operators(p):
    import operator
    name = p.choose.choice("add sub mul truediv floordiv mod lt le eq ne ge gt and_ or_ xor".split())
    a, number = p.one(), p.choose.choice(NUMBERS)
    function = getattr(operator, name)
    if name in "lt le eq ne ge gt".split() and a[1].dtype.kind in "iu":
        number = p.choose.choice((*NUMBERS, 300, -200, 2**40, -2**70))
    elif type(number) is int and number < 0 and a[1].dtype.kind in "bu" or type(number) is bool and a[1].dtype.kind != "b":
        number = 1
    if name in ORDER and (a[1].dtype.kind == "c" or type(number) is complex):
        return operators(p)
    if p.choose.random() < 0.5:
        return f"operator {name} {number}", [a], lambda xp, x: function(x, number)
    if p.choose.random() < 0.5:
        return f"operator {name} {number} reversed", [a], lambda xp, x: function(number, x)
    b = p.mate(a)
    if name in ORDER and b[1].dtype.kind == "c":
        return operators(p)
    return f"operator {name}", [a, b], function_of(function)


def function_of(function):
    return lambda xp, *operands: function(*operands)


def power_of_number(p):
    number = p.choose.choice((0, 1, 2, 3, 0.5, 2.0, -1.0, -2))
    a = p.one("fc") if isinstance(number, float) or number < 0 else p.one("iufc")
    return f"operator pow {number}", [a], lambda xp, x: x**number


def in_place(p):
    import operator
    name = p.choose.choice("iadd isub imul itruediv".split())
    a = p.one("iufc")
    b = p.mate(a)
    function = getattr(operator, name)

    def call(xp, x, y):
        x = xp.asarray(x, copy=True)
        return function(x, y)
    return f"in-place {name}", [a, b], call


def where(p):
    c = p.one()
    a = p.mate(c)
    b = p.mate(a)
    if not broadcasts(np.broadcast_shapes(c[1].shape, a[1].shape), b[1].shape):
        return where(p)
    return "where", [c, a, b], lambda xp, c, x, y: xp.where(xp.astype(c, xp.bool), x, y)


def clip(p):
    a, low, high = p.one("iuf"), p.choose.choice((None, 0, 1)), p.choose.choice((None, 2, 3))
    if low is high is None:
        low = 1
    return f"clip {low} {high}", [a], lambda xp, x: xp.clip(x, low, high)


def astype(p):
    a, dtype = p.one("biuf"), p.choose.choice(DTYPES)
    if a[1].dtype.kind == "f" and dtype[0] in "iu":
        return astype(p)  # undefined in NumPy if a number does not fit
    return f"astype {dtype}", [a], lambda xp, x: xp.astype(x, getattr(xp, dtype))


def axis_of(p, a, several=False):
    if not a.ndim or p.choose.random() < 0.3:
        return None
    if several and p.choose.random() < 0.3:
        return tuple(p.choose.sample(range(a.ndim), p.choose.randrange(1, a.ndim + 1)))
    return p.choose.randrange(-a.ndim, a.ndim)


def reduction(p):
    name = p.choose.choice("sum prod mean std var max min any all argmax argmin count_nonzero".split())
    a = p.one("biuf" if name in ("max", "min", "argmax", "argmin") else "biufc")
    keywords = {"axis": axis_of(p, a[1], "arg" not in name), "keepdims": p.choose.random() < 0.3}
    if name in ("std", "var") and p.choose.random() < 0.5:
        keywords["correction"] = 1
    if name == "argmax" or name == "argmin":
        if a[1].dtype.kind == "b":
            return reduction(p)
    return f"{name} {keywords}", [a], lambda xp, x: getattr(xp, name)(x, **keywords)


def cumulative(p):
    name, a = p.choose.choice(("cumulative_sum", "cumulative_prod")), p.one("iufc", (1, 2, 3))
    keywords = {"axis": p.choose.randrange(-a[1].ndim, a[1].ndim), "include_initial": p.choose.random() < 0.3}
    return f"{name} {keywords}", [a], lambda xp, x: getattr(xp, name)(x, **keywords)


def sorting(p):
    name, a = p.choose.choice(("sort", "argsort")), p.one("biuf", (1, 2, 3))
    axis, unique = p.choose.randrange(-a[1].ndim, a[1].ndim), np.unique(a[1]).size == a[1].size
    keywords = {"stable": True} if name == "argsort" or not unique else {}
    return f"{name} {axis}", [a], lambda xp, x: getattr(xp, name)(x, axis=axis, **keywords)


def sets(p):
    name, a = p.choose.choice("unique_values unique_counts unique_inverse unique_all".split()), p.one("biu")
    return name, [a], lambda xp, x: tuple(r) if isinstance(r := getattr(xp, name)(x), tuple) else xp.sort(r)


def searching(p):
    name = p.choose.choice("nonzero searchsorted take take_along_axis isin".split())
    if name == "nonzero":
        return name, [p.one(ndim=(1, 2, 3))], lambda xp, x: tuple(xp.nonzero(x))
    if name == "searchsorted":
        a, side = p.one("iuf", (1,)), p.choose.choice(("left", "right"))
        return f"{name} {side}", [a, p.fresh(a[1].dtype)], lambda xp, x, v: xp.searchsorted(xp.sort(x), v, side=side)
    if name == "isin":
        a = p.one("iu")
        return name, [a, p.fresh(a[1].dtype)], lambda xp, x, y: xp.isin(x, y)
    a = p.one(ndim=(1, 2, 3))
    axis = p.choose.randrange(-a[1].ndim, a[1].ndim)
    n = a[1].shape[axis]
    if name == "take":
        places = [p.choose.randrange(-n, n) for _ in range(p.choose.randrange(4))] if n else []
        return f"take {places} {axis}", [a], lambda xp, x: xp.take(x, xp.asarray(places, dtype=xp.int64), axis=axis)
    shape = list(a[1].shape)
    shape[axis] = 2
    rng = np.random.default_rng(p.choose.randrange(2**32))
    places = rng.integers(0, max(n, 1), shape).tolist()
    if 0 in a[1].shape:
        return searching(p)
    return f"take_along_axis {axis}", [a], lambda xp, x: xp.take_along_axis(x, xp.asarray(places, dtype=xp.int64), axis=axis)


def manipulation(p):
    name = p.choose.choice("""concat stack flip roll permute_dims reshape squeeze expand_dims broadcast_to moveaxis repeat tile
                           matrix_transpose unstack tril triu diff T meshgrid broadcast_arrays""".split())
    choose, a = p.choose, p.one()
    x = a[1]
    axis = choose.randrange(-x.ndim, x.ndim) if x.ndim else 0
    if name in ("concat", "stack", "meshgrid"):
        b = p.fresh(x.dtype if choose.random() < 0.6 else None, x.shape)
        if name == "meshgrid":
            a, b = p.one(ndim=(1,)), p.one(ndim=(1,))
            indexing = choose.choice(("xy", "ij"))
            return f"meshgrid {indexing}", [a, b], lambda xp, x, y: tuple(xp.meshgrid(x, y, indexing=indexing))
        axis = choose.choice((None, axis)) if name == "concat" and x.ndim else axis
        return f"{name} {axis}", [a, b], lambda xp, x, y: getattr(xp, name)([x, y], axis=axis)
    if name == "flip":
        axis = axis_of(p, x, True)
        return f"flip {axis}", [a], lambda xp, x: xp.flip(x, axis=axis)
    if name == "roll":
        axis, shift = axis_of(p, x), choose.randrange(-5, 6)
        return f"roll {shift} {axis}", [a], lambda xp, x: xp.roll(x, shift, axis=axis)
    if name == "permute_dims":
        order = tuple(choose.sample(range(x.ndim), x.ndim))
        return f"permute_dims {order}", [a], lambda xp, x: xp.permute_dims(x, order)
    if name == "reshape":
        shape = choose.choice(((-1,), (x.size,), (1, -1), x.shape[::-1]))
        return f"reshape {shape}", [a], lambda xp, x: xp.reshape(x, shape)
    if name == "squeeze":
        ones = tuple(i for i, n in enumerate(x.shape) if n == 1)
        return f"squeeze {ones}", [a], lambda xp, x: xp.squeeze(x, axis=ones)
    if name == "expand_dims":
        place = choose.randrange(-x.ndim - 1, x.ndim + 1)
        return f"expand_dims {place}", [a], lambda xp, x: xp.expand_dims(x, axis=place)
    if name == "broadcast_to":
        shape = (2, *(n if n != 1 else 3 for n in x.shape))
        return f"broadcast_to {shape}", [a], lambda xp, x: xp.broadcast_to(x, shape)
    if name == "broadcast_arrays":
        return name, [a, p.mate(a)], lambda xp, x, y: tuple(xp.broadcast_arrays(x, y))
    if name == "repeat":
        count, axis = choose.randrange(4), axis_of(p, x)
        return f"repeat {count} {axis}", [a], lambda xp, x: xp.repeat(x, count, axis=axis)
    if name == "tile":
        counts = tuple(choose.randrange(1, 3) for _ in range(choose.randrange(1, 3)))
        return f"tile {counts}", [a], lambda xp, x: xp.tile(x, counts)
    if name == "T":
        return name, [p.one(ndim=(2,))], lambda xp, x: x.T
    if name in ("tril", "triu", "matrix_transpose"):
        k = choose.randrange(-2, 3)
        keywords = {"k": k} if name[0] == "t" else {}
        return f"{name} {keywords}", [p.one(ndim=(2, 3))], lambda xp, x: getattr(xp, name)(x, **keywords)
    a = p.one("biuf" if name == "diff" else "biufc", (1, 2, 3))
    axis = choose.randrange(-a[1].ndim, a[1].ndim)
    if name == "moveaxis":
        to = choose.randrange(-a[1].ndim, a[1].ndim)
        return f"moveaxis {axis} {to}", [a], lambda xp, x: xp.moveaxis(x, axis, to)
    if name == "diff":
        n = choose.randrange(3)
        return f"diff {n} {axis}", [a], lambda xp, x: xp.diff(x, axis=axis, n=n)
    return f"unstack {axis}", [a], lambda xp, x: tuple(xp.unstack(x, axis=axis))


def key_of(p, shape):
    """A key, and a function that builds the key from a library's arrays."""
    choose, keys = p.choose, []
    for n in shape[:choose.randrange(len(shape) + 1)]:
        kind = choose.randrange(6)
        if kind == 0 and n:
            keys.append(choose.randrange(-n, n))
        elif kind == 1 and n:
            keys.append([choose.randrange(-n, n) for _ in range(2)])
        elif kind == 2:
            keys.append(None)
            keys.append(slice(None))
        else:
            limits = None, *range(-n - 1, n + 2)
            keys.append(slice(choose.choice(limits), choose.choice(limits), choose.choice((None, 1, 2, -1, -2))))
    if choose.random() < 0.3:
        keys.append(Ellipsis)
    return keys, lambda xp: tuple(xp.asarray(k, dtype=xp.int64) if isinstance(k, list) else k for k in keys)


def reading(p):
    a = p.one()
    if p.choose.random() < 0.25:
        return "read a mask", [a], lambda xp, x: x[x != 0]
    keys, key = key_of(p, a[1].shape)
    return f"read {keys}", [a], lambda xp, x: x[key(xp)]


def writing(p):
    a = p.one()
    number = p.choose.choice((0, 1, 2)) if a[1].dtype.kind != "b" else True
    masked, (keys, key) = p.choose.random() < 0.25, key_of(p, a[1].shape)
    with_array = p.choose.random() < 0.4
    value = p.fresh(a[1].dtype, ())

    def call(xp, x, v):
        x = xp.asarray(x, copy=True)
        x[x != 0 if masked else key(xp)] = v if with_array else number
        return x
    return f"write {'a mask' if masked else keys}", [a, value], call


def matrices(p):
    name = p.choose.choice("matmul vecdot tensordot outer einsum trace solve inv det cholesky norm cross pinv qr svd eigh".split())
    choose = p.choose
    n, m, k = (choose.randrange(1, 5) for _ in range(3))
    dtype = choose.choice(("float32", "float64", "complex64", "complex128", "int32", "int64", "uint8"))
    floating = choose.choice(("float32", "float64", "complex64", "complex128"))
    if name == "matmul":
        lead = choose.choice(((), (2,), (2, 1)))
        a, b = p.fresh(dtype, choose.choice(((*lead, n, k), (k,)))), p.fresh(dtype, choose.choice(((k, m), (k,), (2, k, m))))
        return name, [a, b], function_of(lambda x, y: x @ y)
    if name == "vecdot":
        a = p.fresh(dtype, (m, n))
        return name, [a, p.fresh(dtype, choose.choice(((m, n), (n,))))], lambda xp, x, y: xp.vecdot(x, y)
    if name == "tensordot":
        return name, [p.fresh(dtype, (n, m, k)), p.fresh(dtype, (m, k, n))], lambda xp, x, y: xp.tensordot(x, y, axes=((1, 2), (0, 1)))
    if name == "outer":
        return name, [p.fresh(dtype, (n,)), p.fresh(dtype, (m,))], lambda xp, x, y: xp.linalg.outer(x, y)
    if name == "cross":
        return name, [p.fresh(dtype, (n, 3)), p.fresh(dtype, (n, 3))], lambda xp, x, y: xp.linalg.cross(x, y)
    if name == "trace":
        return name, [p.fresh(dtype, (2, n, m))], lambda xp, x: xp.linalg.trace(x, offset=1)
    if name == "einsum":
        text = choose.choice(("ij,jk->ik", "ij,jk->ki", "ij,jk->i", "ij,jk->", "ij,jk"))
        return f"einsum {text}", [p.fresh(dtype, (n, m)), p.fresh(dtype, (m, k))], lambda xp, x, y: xp.einsum(text, x, y)
    if name == "norm":
        order = choose.choice((1, 2, math.inf, 3))
        return f"norm {order}", [p.fresh(floating, (n, m))], lambda xp, x: xp.linalg.vector_norm(x, ord=order, axis=-1) \
            if xp is not np else np.linalg.vector_norm(x, ord=order, axis=-1)
    square = p.fresh(floating, (n, n), 0)[1]
    positive = np.asarray(square @ square.conj().T + 2 * np.eye(n), square.dtype)
    a = p.keep(collet.asarray(positive), positive)
    if name == "solve":
        return name, [a, p.fresh(floating, (n, m), 0)], lambda xp, x, y: xp.linalg.solve(x, y)
    if name in ("qr", "svd", "eigh"):  # the signs of the factors are arbitrary, their product is not
        return f"{name} product", [a], PRODUCTS[name]
    return name, [a], lambda xp, x: getattr(xp.linalg, name)(x)


def of_qr(xp, x):
    q, r = xp.linalg.qr(x)
    return q @ r, xp.abs(r)


def of_svd(xp, x):
    u, s, v = xp.linalg.svd(x, full_matrices=False)
    return (u * xp.astype(s, u.dtype)) @ v, s


def of_eigh(xp, x):
    w, v = xp.linalg.eigh(x)
    return v @ (xp.astype(w, v.dtype)[:, None] * xp.conj(xp.matrix_transpose(v))), w


PRODUCTS = {"qr": of_qr, "svd": of_svd, "eigh": of_eigh}


def fourier(p):
    name = p.choose.choice("fft ifft rfft hfft irfft fftshift fft2".split())
    a = p.fresh("complex128" if name in ("hfft", "irfft") else p.choose.choice(("float64", "complex128", "complex64", "float32")),
                tuple(p.choose.randrange(2, 7) for _ in range(2)))
    if name == "rfft":
        a = p.fresh(p.choose.choice(("float64", "float32")), (3, 5))
    if name == "fft2":
        return "fftn", [a], lambda xp, x: xp.fft.fftn(x)
    return name, [a], lambda xp, x: getattr(xp.fft, name)(x)


def creation(p):
    name, choose = p.choose.choice("arange linspace full eye zeros_like full_like asarray".split()), p.choose
    dtype = choose.choice(DTYPES[1:11])
    if name == "arange":
        start, stop, step = choose.randrange(0, 5), choose.randrange(5, 20), choose.choice((1, 2, 3))
        return f"arange {dtype}", [], lambda xp: xp.arange(start, stop, step, dtype=getattr(xp, dtype))
    if name == "linspace":
        n, end = choose.randrange(1, 8), choose.random() < 0.5
        return name, [], lambda xp: xp.linspace(-1, 2.5, n, endpoint=end)
    if name == "full":
        value, shape = choose.choice((1, 2.5, True, 1j)), p.shape()
        return f"full {value}", [], lambda xp: xp.full(shape, value)
    if name == "eye":
        k = choose.randrange(-2, 3)
        return f"eye {k}", [], lambda xp: xp.eye(3, 4, k=k, dtype=getattr(xp, dtype))
    if name == "asarray":
        value = choose.choice(([1, 2], [1.5, 2], [[True], [False]], [1j, 2], 3, [], [[]]))
        return f"asarray {value}", [], lambda xp: xp.asarray(value)
    a = p.one()
    value = () if name == "zeros_like" else (1,)
    return name, [a], lambda xp, x: getattr(xp, name)(x, *value)


MAKERS = [unary, unary, binary, binary, binary, operators, operators, power_of_number, in_place, where, clip, astype, reduction,
          reduction, cumulative, sorting, sets, searching, manipulation, manipulation, manipulation, reading, reading, writing,
          writing, matrices, fourier, creation]

SMALL = (0, 128)  # Arrays of fewer elements are computed at once; other Arrays wait


def run(seed, statements):
    program = Program(seed)
    before = collet._core.wait_from(SMALL[seed % 2])
    while program.count < statements:
        program.statement()
    collet._core.wait_from(before)


@pytest.mark.skipif(int(np.__version__.split(".")[0]) < 2, reason="NumPy 2 is the reference")
@pytest.mark.parametrize("seed", range(8))
def test_random_programs(seed):
    run(seed, 100)


if __name__ == "__main__":
    first, count = map(int, sys.argv[1:])
    found = {}
    for seed in range(first, first + max(1, count // 100)):
        program = Program(seed)
        collet._core.wait_from(SMALL[seed % 2])
        while program.count < 100:
            try:
                program.statement()
            except Exception as error:
                text = f"{type(error).__name__} {error}"
                found.setdefault(text.split(" of ")[0].split(": ", 1)[-1].strip("0123456789 :")[:40], f"seed {seed}, {text}")
    for text in found.values():
        print(text, "\n")
    print(f"{count} statements, {len(found)} kinds of differences")

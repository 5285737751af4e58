# SPDX-License-Identifier: Apache-2.0
"""Masks, units, imaginary parts and digits of arrays are never dropped silently."""

import fractions
import pathlib
from collections import UserList, deque

import numpy as np
import pytest

import collet
from collet import fft, linalg, md, op, random, scatter, ternary
from collet.compat import rotor

WATER = pathlib.Path(__file__).parents[2] / "tests/data/md/water/conf.gro"
M = np.ma.array([[1.0, 2.0], [3.0, 1e20]], mask=[[0, 0], [0, 1]])
ONES = np.ones((2, 2))
WAYS = {
    "op": op.mean, "op by keyword": lambda a: op.add(ONES, b=a), "a list": lambda a: op.neg([a, a]),
    "nested lists": lambda a: op.neg([[a], [a]]), "asarray": collet.asarray,
    "shared": lambda a: collet.asarray(a, copy=False), "dlpack": collet.from_dlpack,
    "operator": lambda a: collet.ones((2, 2)) + a,
    "product": lambda a: collet.ones((2, 2)) @ a, "in place": lambda a: collet.ones((2, 2)).__iadd__(a),
    "item": lambda a: collet.ones((2, 2)).__setitem__(..., a), "out": lambda a: op.neg(ONES, out=a),
    "linalg": linalg.norm, "solve": lambda a: linalg.solve(ONES, a), "fft": fft.fft,
    "md": md.compute_magnitude_batch, "md masses": lambda a: md.compute_com_batch(np.ones((2, 3)), a[0]),
    "extract": lambda a: md.extract(WATER, WATER, masses=a[0]),
    "quantize": ternary.quantize, "Weights": ternary.Weights.quantize,
    "codes": ternary.Weights.from_codes, "bytes": lambda a: ternary.Weights.from_bytes(a, 2),
    "bias": lambda a: ternary.Linear(ternary.Weights.quantize(ONES), a[0]),
    "network": lambda a: ternary.Linear(ternary.Weights.quantize(ONES))(a),
    "rotor": lambda a: rotor.matmul(ONES, ONES, a[0]),
    "constants": lambda a: scattered(a.reshape(4), np.ones((2, 2, 2), "f4")),
    "voxels": lambda a: scattered([1e-3, 0, 1e-3, 0], a.reshape((1, 2, 2))),
    "energies": lambda a: scattered([1e-3, 0, 1e-3, 0], np.ones((2, 2, 2), "f4"), a[0]),
    "integrate": lambda a: scatter.integrate(a, [285.0], 1.0),
    "write": lambda a: scatter.write("/nowhere", 285.0, a),
}


def scattered(constants, volume, energies=(285.0,), voxel=1.0):
    return scatter.Patterns(scatter.Sample([scatter.Material(constants, volume)], energies, voxel))


@pytest.mark.parametrize("way", WAYS)
def test_masks(way):
    with pytest.raises(TypeError, match="masked array, .*filled|not <class 'numpy.ma"):
        WAYS[way](M)


FIELDS = {scatter.Material: ("volume", "alignment", "theta", "psi", "direction", "unaligned", "constants"),
          scatter.Sample: ("energies", "angles", "beams", "detector", "voxel")}


@pytest.mark.parametrize("kind, name", [(kind, name) for kind, names in FIELDS.items() for name in names])
def test_masks_are_not_stored(kind, name):
    """The error comes when the mask is given, not when the patterns are computed."""
    given = {"constants": [0, 0, 0, 0]} if kind is scatter.Material else {
        "materials": [], "energies": [285.0], "voxel": 1.0}
    made = kind(**given)
    for value in M, [M[0], M[1]], {285.0: M[1]}:
        with pytest.raises(TypeError, match=f"{name} is a masked array"):
            kind(**{**given, name: value})
        with pytest.raises(TypeError, match=f"{name} is a masked array"):
            setattr(made, name, value)
    with pytest.raises(TypeError, match=f"{name} has the unit"):
        kind(**{**given, name: [1.0, Pint()]})


def test_masks_that_are_gone():
    assert float(op.mean(M.filled(0.0))) == 1.5 and float(op.mean(M.compressed())) == 2
    with pytest.raises(TypeError, match="a is a masked array"):
        op.neg(np.ma.ones(3))  # refused for its type, although no element is masked
    assert op.neg([1.0, 2.0]).tolist() == [-1, -2] and op.neg([]).shape == (0,)


class Sequence:
    """A sequence. NumPy converts it item by item."""

    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


ITEM = np.ma.array(7.0, mask=True)
SEQUENCES = {
    "deque": deque([M, M]), "UserList": UserList([M, M]), "class": Sequence(M, M),
    "nested": deque([Sequence([0.0, 1.0], M[1])]), "after a complex number": [1j, ITEM],
    "after a number": [1.0, np.ma.masked], "after a number of NumPy": [np.float32(1), ITEM],
    "integers": [1, np.ma.array(7, mask=True)], "in a row": [[1.0, M[1, 1]], [2.0, 3.0]],
    "after an array": [np.ones(2), M[1]], "deque of lists": deque([[1.0, 2.0], [3.0, ITEM]]),
}


@pytest.mark.parametrize("kind", SEQUENCES)
def test_masks_in_sequences(kind):
    with pytest.raises(TypeError, match="is a masked array"):
        collet.asarray(SEQUENCES[kind])
    with pytest.raises(TypeError, match="b is a masked array"):
        op.add(ONES, SEQUENCES[kind])


def test_sequences():
    for values in deque([1.0, 2.0]), UserList([1.0, 2.0]), Sequence(1.0, np.float32(2)):
        assert op.neg(values).tolist() == [-1, -2]
    assert collet.asarray(memoryview(b"ab")).to_numpy().tolist() == [97, 98]


class Quantity(np.ndarray):
    """A stand-in for the quantities of astropy and unyt."""

    unit = "kpc"


class Pint:
    """A stand-in for a quantity of pint, which is not an ndarray."""

    units = "meter"

    def to_base_units(self):
        return self

    def __array__(self, dtype=None, copy=None):
        return np.ones(3)


class Lazy:
    """An array of another library that contains a masked array."""

    def __array__(self, dtype=None, copy=None):
        return M


@pytest.mark.parametrize("way", [w for w in WAYS if w != "out"])
def test_units(way):
    with pytest.raises(TypeError, match="has the unit kpc"):
        WAYS[way](np.ones((2, 2)).view(Quantity))


PARAMETERS = {
    "alpha": lambda v: op.axpy(np.ones(2), np.ones(2), alpha=v),
    "seed": lambda v: op.uniform(shape=2, seed=v), "threshold": lambda v: op.ternary_quantize(
        np.ones((1, 256), "f4"), threshold=v), "axes": lambda v: op.sum(ONES, axes=(v,)),
    "inverse": lambda v: op.fft(np.ones(2, "c8"), last_axes=1, inverse=v),
    "value": lambda v: op.fill(shape=2, value=v), "seed of a generator": random.default_rng,
    "voxel": lambda v: scattered([1e-3, 0, 1e-3, 0], np.ones((2, 2, 2), "f4"), voxel=v),
    "threshold of a layer": lambda v: ternary.Linear(ternary.Weights.quantize(ONES),
                                                     activations="ternary", threshold=v),
    "loc": lambda v: random.normal(v, 1.0, 2, seed=1), "high": lambda v: random.uniform(0, v, 2, seed=1),
}


@pytest.mark.parametrize("way", PARAMETERS)
def test_parameters(way):
    name, function = way.partition(" ")[0], PARAMETERS[way]
    for value in ITEM, np.ma.masked, np.ma.array(1, mask=True), np.ma.array([1], mask=[True]):
        with pytest.raises(TypeError, match=f"{name} is a masked array"):
            function(value)
    with pytest.raises(TypeError, match=f"{name} has the unit meter"):
        function(Pint())
    with pytest.raises(TypeError, match=f"{name} has the unit kpc"):
        function(np.array(1.0).view(Quantity))
    for value in np.ones(2), np.array(["1"]), np.datetime64("2020"), collet.ones(2):
        with pytest.raises(TypeError, match=f"{name} is .*; it must be an? (number|integer)"):
            function(value)
    for value in np.array(1), np.int8(1), collet.full((), 1, "i4"), np.ma.array([1])[0]:
        expected, found = function(1), function(value)
        assert type(found) is type(expected)
        assert isinstance(found, (scatter.Patterns, ternary.Linear)) or repr(found) == repr(expected)


@pytest.mark.parametrize("name, function", [
    ("axis", lambda v: md.extract(WATER, WATER, axis=v)),
    ("angles", lambda v: scatter.Patterns(scatter.Sample([scatter.Material(
        [1e-3, 0, 1e-3, 0], np.ones((2, 2, 2), "f4"))], [285.0], 1.0, angles=v)))])
def test_vectors(name, function):
    for vector in [0.0, 0.0, np.ma.masked], np.ma.array([0.0, 0.0, 1.0], mask=[0, 1, 0]):
        with pytest.raises(TypeError, match=f"{name} is a masked array"):
            function(vector)
    with pytest.raises(TypeError, match=f"{name} has the unit"):
        function([0, 0, Pint()])


def test_parameters_of_the_wrong_type():
    with pytest.raises(TypeError, match="seed is 1.5; it must be an integer"):
        op.uniform(shape=2, seed=1.5)
    with pytest.raises(TypeError, match="threshold is 'x'; it must be a number"):
        op.ternary_quantize(np.ones((1, 256), "f4"), threshold="x")
    with pytest.raises(TypeError, match=r"alpha is \[1.0\]; it must be a number"):
        op.axpy(np.ones(2), np.ones(2), alpha=[1.0])
    for value in np.array(2.0), np.float32(2), collet.asarray(2.0), collet.full((), 2, "f4"):
        assert op.axpy(np.ones(2), np.ones(2), alpha=value).tolist() == [3, 3]
    assert op.fill(shape=1, dtype="c8", value=np.complex64(1 + 2j)) == 1 + 2j


@pytest.mark.parametrize("dtype, values", [
    ("i4", (1.5, np.nan, np.inf, 2**31, -2.0**32, np.float32(0.5), np.array(1.5), np.uint64(2**63))),
    ("i2", (np.int64(70000), np.array(99999), np.float32(np.nan), np.float16(0.5))),
    ("u1", (300, -1, 256.0, np.int8(-1))), ("int64", (2**63, 2.0**63, -2**63 - 1)),
    ("uint64", (-1, 2**64))])
def test_integers_hold_a_value(dtype, values):
    for value in values:
        with pytest.raises(collet.DtypeError, match="value is .*, which .* does not have"):
            collet.full(2, value, dtype)
        with pytest.raises(collet.DtypeError, match="value is"):
            collet.zeros(2, dtype)[0] = value
        if not isinstance(value, int):
            with pytest.raises(collet.DtypeError, match="value is"):
                collet.zeros(2, dtype)[:] = collet.full((), value, "f8")
        for more in {"shape": 2, "dtype": dtype}, {"out": np.zeros(2, dtype)}:
            with pytest.raises(collet.DtypeError, match="value is .*, which .* does not have"):
                op.fill(value=value, **more)
    edges = (np.iinfo(dtype).min, np.iinfo(dtype).max, 2.0, np.float64(3), True, np.array(7),
             np.float32(5), np.True_)
    for value in edges:
        x = collet.zeros(2, dtype)
        x[0], x[1:] = value, collet.full((), 4.0)
        assert x.to_numpy().tolist() == [value, 4]
        assert (collet.full(2, value, dtype).to_numpy() == value).all()
        assert (op.fill(shape=2, value=value, dtype=dtype) == value).all()


def test_digits_of_a_number():
    for use in (lambda v: collet.full(2, v, "f8"), lambda v: collet.zeros(2).__setitem__(0, v)):
        for number in np.longdouble("0.1"), np.clongdouble(1j):
            with pytest.raises(collet.DtypeError, match="value is .*, which collet does not support"):
                use(number)


def test_floats_hold_large_integers():
    assert collet.full(1, 10**30, "f8").to_numpy() == 1e30 and op.fill(shape=1, value=-2**64) == -2.0**64


@pytest.mark.parametrize("number", [10**400, -10**5000, fractions.Fraction(10**400)],
                         ids=["int", "digits", "fraction"])
def test_numbers_beyond_f64(number):
    for dtype in "i1", "u8", "f4", "f8", "c8":
        for use in (lambda: collet.full(2, number, dtype),
                    lambda: op.fill(shape=2, value=number, dtype=dtype)):
            with pytest.raises(collet.DtypeError, match="value is beyond the range of float64"):
                use()
    if isinstance(number, int):
        for dtype in "i1", "f4", "f8":
            with pytest.raises(collet.DtypeError, match="b is .*beyond the (range of float64|integers of 64 bits)"):
                collet.ones(2, dtype) + number
    with pytest.raises(ValueError, match="threshold is .* within the range of its type|digits"):
        op.ternary_quantize(np.ones((1, 256), "f4"), threshold=number)
    with pytest.raises((TypeError, ValueError), match="seed is|digits"):
        op.uniform(shape=2, seed=number)


def test_seeds_of_64_bits():
    for seed in -1, 2**64:
        with pytest.raises(ValueError, match=f"seed is {seed}; it must be within the range"):
            op.uniform(shape=2, seed=seed)


class Unitless(np.ndarray):
    """A subclass whose attribute `units` is None: it has no unit."""

    units = None


class Broken(np.ndarray):
    @property
    def unit(self):
        raise RuntimeError("unit")


def test_no_unit_and_no_mask():
    for kind in Unitless, Broken:
        assert op.neg(np.ones(3).view(kind)).tolist() == [-1, -1, -1]
    for values in np.ma.ones(3), M:
        with pytest.raises(TypeError) as error:
            op.neg(values)
        assert "lost" not in str(error.value)


def test_units_and_masks_of_other_libraries():
    with pytest.raises(TypeError, match="has the unit meter"):
        op.neg(Pint())
    with pytest.raises(TypeError, match="has the unit meter"):
        op.neg([Pint(), Pint()])
    with pytest.raises(TypeError, match="masked array"):
        op.neg(Lazy())
    plain = np.ones(3).view(Quantity)
    plain.unit = ""
    assert op.neg(plain).tolist() == [-1, -1, -1]
    assert (op.neg(np.matrix([[1.0, 2.0]])) == [[-1, -2]]).all()


@pytest.mark.parametrize("dtype", ["c16", "g", "G", "M8[s]", "m8[s]", "U1", "S1", "O", "f4,f4"])
@pytest.mark.parametrize("way", [w for w in WAYS if w not in ("op by keyword", "out",
                                                              "rotor")])
def test_other_dtypes(way, dtype):
    if dtype == "c16" and way in ("asarray", "shared", "dlpack", "operator", "fft", "linalg",
                                  "a list", "nested lists", "product", "solve"):
        pytest.skip("complex numbers are taken")
    if (way, dtype) == ("voxels", "g"):
        pytest.skip("converted to float64, with a warning: scatter/test_scatter_input.py")
    values = np.array([[1, 2], [3, 4]]).astype("S1" if dtype in "U1S1" else "i8").astype(dtype)
    with pytest.raises((TypeError, ValueError, BufferError)):
        WAYS[way](values)


def test_numbers_for_integers():
    a = np.ones((2, 2), "i1")
    with pytest.raises(collet.DtypeError):
        op.matmul(a, 1.5)
    with pytest.raises(collet.DtypeError, match="without loss"):
        op.matmul(a, 300)


def test_byte_orders():
    a = np.arange(4.0).reshape(2, 2)
    for dtype in ("f4", "f8"):
        swapped = a.astype(">" + dtype)
        for function in (op.neg, linalg.inv, fft.fft, lambda m: linalg.matmul(m, m),
                         lambda m: md.solve_linear_batch(m + np.eye(2), m[0])):
            assert (function(swapped) == function(a.astype(dtype))).all()
            assert function(swapped).dtype == function(a.astype(dtype)).dtype
    assert (collet.asarray(a.astype(">f4")).to_numpy() == a).all()
    bfloat16 = getattr(pytest.importorskip("ml_dtypes"), "bfloat16")
    swapped = a.astype(bfloat16).astype(np.dtype(bfloat16).newbyteorder(">"))
    with pytest.raises(collet.DtypeError, match=">V2"):
        collet.asarray(swapped)


def test_optional_libraries():
    pandas = pytest.importorskip("pandas")
    assert op.neg(pandas.Series([1.0, 2.0])).tolist() == [-1, -2]
    frame = pandas.DataFrame({"mask": [1.0], "filled": [2.0], "unit": [3.0], "units": [4.0]})
    assert op.neg(frame).tolist() == [[-1, -2, -3, -4]]
    for values in (pandas.Series(["a"]), pandas.Series([1.5, pandas.NA], dtype=object),
                   pandas.Series(pandas.to_datetime(["2020-01-01"]))):
        with pytest.raises(collet.DtypeError):
            op.neg(values)

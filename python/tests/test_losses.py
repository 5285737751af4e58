# SPDX-License-Identifier: Apache-2.0
"""What an array has besides its numbers is not dropped without a word: masks, units, imaginary
parts, digits."""

import pathlib

import numpy as np
import pytest

import collet
from collet import fft, linalg, md, op, scatter, ternary
from collet.compat import rotor

WATER = pathlib.Path(__file__).parents[2] / "tests/data/md/water/conf.gro"
M = np.ma.array([[1.0, 2.0], [3.0, 1e20]], mask=[[0, 0], [0, 1]])
ONES = np.ones((2, 2))
WAYS = {
    "op": op.mean, "op by keyword": lambda a: op.add(ONES, b=a), "a list": lambda a: op.neg([a, a]),
    "nested lists": lambda a: op.neg([[a], [a]]), "asarray": collet.asarray,
    "shared": lambda a: collet.asarray(a, copy=False), "dlpack": collet.from_dlpack,
    "operator": lambda a: collet.ones((2, 2)) + a, "on the left": lambda a: a + collet.ones((2, 2)),
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


def scattered(constants, volume, energies=(285.0,)):
    return scatter.Patterns(scatter.Sample([scatter.Material(constants, volume)], energies, 1.0))


@pytest.mark.parametrize("way", WAYS)
def test_masks(way):
    with pytest.raises(TypeError, match="masked array, .*filled|not <class 'numpy.ma"):
        WAYS[way](M)


def test_masks_that_are_gone():
    assert float(op.mean(M.filled(0.0))) == 1.5 and float(op.mean(M.compressed())) == 2
    with pytest.raises(TypeError, match="a is a masked array"):
        op.neg(np.ma.ones(3))  # whose elements are all there: the type decides
    assert op.neg([1.0, 2.0]).tolist() == [-1, -2] and op.neg([]).shape == (0,)


class Quantity(np.ndarray):
    """As astropy's and unyt's."""

    unit = "kpc"


class Pint:
    """As pint's, which is no ndarray."""

    units = "meter"

    def to_base_units(self):
        return self

    def __array__(self, dtype=None, copy=None):
        return np.ones(3)


class Lazy:
    """An array of another library, in which a masked one is."""

    def __array__(self, dtype=None, copy=None):
        return M


@pytest.mark.parametrize("way", [w for w in WAYS if w != "out"])
def test_units(way):
    with pytest.raises(TypeError, match="has the unit kpc"):
        WAYS[way](np.ones((2, 2)).view(Quantity))


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
@pytest.mark.parametrize("way", [w for w in WAYS if w not in ("op by keyword", "on the left", "out",
                                                              "rotor")])
def test_other_dtypes(way, dtype):
    if dtype == "c16" and way in ("asarray", "shared", "dlpack", "operator", "fft", "linalg",
                                  "a list", "nested lists", "product"):
        pytest.skip("complex numbers are taken")
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
    bf16 = getattr(pytest.importorskip("ml_dtypes"), "bfloat16")
    swapped = a.astype(bf16).astype(np.dtype(bf16).newbyteorder(">"))
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

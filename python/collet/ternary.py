# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_ternary.py
"""Ternary weights and networks of ternary layers, as in collet-ternary. A weight is -1, 0 or 1, in 2 bits.

    layer = ternary.Linear(ternary.Weights.quantize(w), bias, relu=True)      # w (M, K), x (..., K)
    y = ternary.Network([layer, ternary.Linear(ternary.Weights.quantize(w2))])(x)
    y = ternary.Network.load("model.t2")(x)

Results are collet.Arrays for collet.Arrays, else NumPy arrays. Functions run on the backend that
collet.using or collet.set_backend chose. Errors are subclasses of collet.Error: InvalidError for values,
ShapeError for shapes, FileError and FormatError for files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from . import _core, _host, _job, _ternary, op
from . import _hook as hook
from ._array.creation import asarray
from ._listing import own
from ._standard.array import Array
from .functions import count_nonzero

FORMATS = ("t2", "planes", "rotor", "tq2_0", "tq1_0")
ACTIVATIONS = ("int8", "ternary", "f32", "int4")
MODES = ("threshold", "absmean")
_KINDS = ("", "t2", "npy", "gguf", "safetensors")
_FILE_FORMATS = {64: "q2_0", 65: "q2_0_128", 66: "bitnet"}  # of matrices in files
_CONTENTS = ("other", "numbers", "codes", "packed")
_AS_STORED = 2**32 - 1


def _index(words: Sequence[str], word: str, what: str) -> int:
    if word not in words:
        raise _core.InvalidError(f"{what} is {word!r}; it is one of {', '.join(words)}")
    return words.index(word)


def _like(source: Any, result: Any) -> Any:
    """Returns `result` as an Array if `source` is an Array, else as a NumPy array."""
    return result if isinstance(source, Array) else result.to_numpy()


def _bad(count: Any, text: str) -> None:
    """Raises InvalidError if `count`, which comes from an op's output `info`, is not 0."""
    if int(count):
        raise _core.InvalidError(f"{int(count)} {text}")


# ---- Codes


class Quantized(NamedTuple):
    codes: Any
    scale: Any


def _way(mode: str | None, threshold: float | None) -> tuple[int, float] | None:
    """The parameters that quantize() describes, for the extension."""
    if mode is None and threshold is None:
        return None
    number = _index(MODES, "threshold" if mode is None else mode, "mode")
    return number, (0.3 if threshold is None else threshold) if number == 0 else 0.0


def _warn_of(codes: Any) -> None:
    """Returns the weights, with the warnings that libcollet-ternary gives for Weights and files."""
    size = codes.size
    nonzero = int(count_nonzero(codes))
    if size > 0 and nonzero < size // 10:
        text = f"weights: {100 * (size - nonzero) / size:.4g} % of the {size} codes are 0"
    elif size > 0 and nonzero == size and int(codes.max()) == int(codes.min()):
        text = f"weights: all {size} codes are {int(codes.max())}"
    else:
        return
    from ._suspicious import warn
    warn([f"{text}; try absmean or another threshold"])


def quantize(weights: Any, mode: str | None = None, threshold: float | None = None) -> Quantized:
    """The codes, int8 (..., K), and the scale of each row, float32 (...), of floating-point weights (..., K).

    mode "threshold": weights above `threshold` (0.3) become 1, weights below its negative become -1; the scale is 1.
    mode "absmean": the scale is the mean magnitude of the row, and the threshold is half the scale. None: "threshold".
    Exception: if each row of the weights has only the values -s, 0 and s, with an s of its own, the values are kept
    exactly and the scale is s, unless `mode` is "threshold" or `threshold` is given. A RuntimeWarning says if more than
    90 % of the codes are 0, or all are equal.

    >>> codes, scale = collet.ternary.quantize([[0.5, -0.7, 0.1]])
    >>> codes
    array([[ 1, -1,  0]], dtype=int8)
    >>> scale
    array([1.], dtype=float32)"""
    way = _way(mode, threshold)
    exact = _ternary.weights_recognise(weights) if way is None or way[0] else None
    index, number = (0, 0.0) if exact is not None else way or (0, 0.3)
    codes, scale, info = op.ternary_quantize(weights, mode=MODES[index], threshold=number)
    _bad(info, "weights are not finite")
    _warn_of(codes)
    return Quantized(codes, scale if exact is None else _like(codes, exact))


def pack(codes: Any, format: str = "t2", scale: Any = None) -> Any:
    """The bytes, uint8 (..., B), of codes int8 (..., K). scale: float32 (...), stored in the blocks of tq2_0 and tq1_0.

    >>> packed = collet.ternary.pack(np.array([[1, -1, 0, 1]], np.int8))
    >>> packed.dtype, packed.shape[0]
    (dtype('uint8'), 1)"""
    packed, info = op.ternary_pack(codes, scale, format=format)
    _bad(info, "codes are not -1, 0 or 1")
    return packed


def unpack(packed: Any, columns: int | None = None, format: str = "t2") -> Any:
    """The codes int8 (..., columns) of packed bytes. columns None: as many as the bytes hold.

    >>> packed = collet.ternary.pack(np.array([[1, -1, 0, 1]], np.int8))
    >>> collet.ternary.unpack(packed, columns=4)
    array([[ 1, -1,  0,  1]], dtype=int8)"""
    shape = None if columns is None else (*packed.shape[:-1], columns)
    codes, _, info = op.ternary_unpack(packed, format=format, shape=shape, out=(None, False, None))
    _bad(info, "weights have an invalid code")
    return codes


def dot(a: Any, b: Any) -> int:
    """The inner product of two vectors that are packed as "t2".

    >>> codes = np.array([1, -1, 0, 1], np.int8)
    >>> collet.ternary.dot(collet.ternary.pack(codes), collet.ternary.pack(codes))
    3"""
    return int(op.ternary_dot(a, b))


def matmul(packed: Any, x: Any) -> Any:
    """The product of `packed` (M, B), in the format "t2", and x. For codes int8 (..., K) or packed codes uint8
    (..., B) it is exact, int32 (..., M); for x float32 (..., K) it is float32 (..., M).

    >>> packed = collet.ternary.pack(np.array([[1, -1, 0, 1]], np.int8))
    >>> collet.ternary.matmul(packed, np.array([3, 1, 7, 2], np.int8))
    array([4], dtype=int32)"""
    return op.ternary_matmul(packed, x)


def linear(packed: Any, x: Any, scale: Any = None, bias: Any = None, *, activations: str = "int8",
           relu: bool = False, threshold: float = 0.0) -> Any:
    """Computes y = scale (packed q(x)) + bias, float32 (..., M); with relu max(y, 0). packed is (M, B), in the format
    "t2", x float32 (..., K), and scale and bias are float32 (M) or None. `activations` chooses q: "int8", 8 bits and
    a scale for each row of x; "int4", the same with 4 bits, -7 to 7; "ternary", codes by `threshold`; "f32", x
    itself.

    >>> packed = collet.ternary.pack(np.array([[1, -1, 0, 1]], np.int8))
    >>> x = np.array([3, 1, 7, 2], np.float32)
    >>> collet.ternary.linear(packed, x, activations="f32")
    array([4.], dtype=float32)"""
    return op.ternary_linear(packed, x, scale, bias, activations=activations, relu=relu,
                             threshold=threshold)


# ---- Weights and layers


class Weights:
    """An immutable packed matrix of M x K weights. `bytes` (M, B) and `scale` (M) or None are collet.Arrays
    that must not be written.

    >>> w = collet.ternary.Weights.quantize([[0.5, -0.7, 0.1], [-0.4, 0.0, 0.9]])
    >>> w.rows, w.columns
    (2, 3)
    >>> w.codes()
    array([[ 1, -1,  0],
           [-1,  0,  1]], dtype=int8)"""

    def __init__(self, handle: Any) -> None:
        """Private: quantize, from_codes, from_bytes and File.load create Weights."""
        self._handle = handle
        self.rows, self.columns, self.bytes, self.scale = _ternary.weights_describe(handle)

    @classmethod
    def quantize(cls, weights: Any, mode: str | None = None, threshold: float | None = None) -> Weights:
        """Quantizes a matrix (M, K) of floats as quantize() does. Raises InvalidError if an element is not finite.

        >>> w = collet.ternary.Weights.quantize([[0.5, -0.7, 0.1], [-0.4, 0.0, 0.9]])
        >>> w.shape
        (2, 3)"""
        return cls(_ternary.weights_quantize(weights, _way(mode, threshold)))

    @classmethod
    def from_codes(cls, codes: Any, scale: Any = None) -> Weights:
        """Weights of codes (M, K), int8 or other integers, and a scale (M) or None.

        >>> collet.ternary.Weights.from_codes(np.array([[1, 0, -1]], np.int8)).shape
        (1, 3)"""
        return cls(_ternary.weights_from_codes(_exact(codes, "int8"), _copy(scale)))

    @classmethod
    def from_bytes(cls, packed: Any, columns: int, scale: Any = None) -> Weights:
        """Weights of packed rows (M, B), as "t2", with `columns` weights each; they are copied.

        >>> packed = collet.ternary.pack(np.array([[1, 0, -1]], np.int8))
        >>> collet.ternary.Weights.from_bytes(packed, 3).codes()
        array([[ 1,  0, -1]], dtype=int8)"""
        return cls(_ternary.weights_from_bytes(_copy(_exact(packed, "uint8"), "uint8"), columns,
                                               _copy(scale)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Weights.from_bytes, (self.bytes, self.columns, self.scale)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns.

        >>> w = collet.ternary.Weights.quantize([[0.5, -0.7, 0.1], [-0.4, 0.0, 0.9]])
        >>> w.shape
        (2, 3)"""
        return self.rows, self.columns

    def codes(self) -> Any:
        """The codes, as a NumPy array: int8 (M, K).

        >>> w = collet.ternary.Weights.quantize([[0.5, -0.7, 0.1], [-0.4, 0.0, 0.9]])
        >>> w.codes()
        array([[ 1, -1,  0],
               [-1,  0,  1]], dtype=int8)"""
        return unpack(self.bytes, self.columns).to_numpy()

    def __repr__(self) -> str:
        return f"Weights({self.rows} x {self.columns}{'' if self.scale is None else ', scale'})"


def _exact(values: Any, dtype: str) -> Any:
    """Converts numbers to `dtype`. Raises an exception if `dtype` cannot hold one of them."""
    if isinstance(values, Array):
        return values
    import numpy as np
    given = _host.array(values)
    if given.dtype.kind not in "biuf":
        raise _core.DtypeError(f"the codes or bytes are {given.dtype}, not integers")
    made = given.astype(_core.dtype(dtype), copy=False)
    if made is not given and not np.array_equal(made, given):
        raise _core.InvalidError(f"some numbers of {given.dtype} cannot be represented in {dtype}")
    return made


def _copy(values: Any, dtype: str = "float32") -> Any:
    """Copies to an Array that does not share the caller's memory. None stays None."""
    return None if values is None else asarray(values, dtype, copy=True)


class Linear:
    """A layer: linear() with Weights. A call with x (..., K), float32, returns y (..., M).

    >>> w = collet.ternary.Weights.quantize([[0.5, -0.7, 0.1], [-0.4, 0.0, 0.9]])
    >>> layer = collet.ternary.Linear(w, relu=True, activations="f32")
    >>> layer(np.array([1, 2, 3], np.float32))
    array([0., 2.], dtype=float32)
    >>> layer
    Linear(3 -> 2, f32, relu)"""

    def __init__(self, weights: Weights, bias: Any = None, *, activations: str = "int8",
                 relu: bool = False, threshold: float = 0.0, name: str | None = None) -> None:
        self.weights, self.bias, self.name = weights, _copy(bias), name
        self.activations, self.relu = activations, bool(relu)
        self.threshold = float(_host.number(threshold, "threshold"))
        self._network = Network([self])  # checks the arguments

    def __call__(self, x: Any) -> Any:
        return self._network(x)

    def __reduce__(self) -> tuple[Any, ...]:
        options = {"activations": self.activations, "relu": self.relu, "threshold": self.threshold,
                   "name": self.name}
        return partial(Linear, **options), (self.weights, self.bias)

    def _row(self) -> tuple[Any, ...]:
        kind = _index(ACTIVATIONS, self.activations, "activations")
        return self.weights._handle, self.bias, kind, int(self.relu), self.threshold

    def __repr__(self) -> str:
        return (f"Linear({self.weights.columns} -> {self.weights.rows}, {self.activations}"
                f"{', bias' if self.bias is not None else ''}{', relu' if self.relu else ''})")


class Network:
    """A sequence of layers. The number of columns of a layer equals the number of rows of the layer before.
    A call with x float32 (..., inputs) returns y float32 (..., outputs). Threads that call it take turns.

    devices: choices, such as ["cpu_openmp", "opencl:0"], that share the vectors of x by their measured speed; None:
        the chosen backend. If a device fails, a RuntimeWarning says so, and the other devices compute its vectors.
        Activations "int8" and "ternary" give the same bits on all devices.

    >>> w = collet.ternary.Weights.quantize([[0.5, -0.7, 0.1], [-0.4, 0.0, 0.9]])
    >>> network = collet.ternary.Network([collet.ternary.Linear(w, activations="f32")])
    >>> network(np.array([1, 2, 3], np.float32))
    array([-1.,  2.], dtype=float32)
    >>> network.inputs, network.outputs
    (3, 2)
    >>> network(np.array([[1, 2, 3], [4, 5, 6]], np.float32), devices=["cpu_scalar"])
    array([[-1.,  2.],
           [-1.,  2.]], dtype=float32)"""

    def __init__(self, layers: Sequence[Linear]) -> None:
        for layer in layers:
            if not isinstance(layer, Linear):
                raise TypeError(f"layers must be ternary.Linear, not {type(layer).__name__}")
        self._set(_ternary.network_create([layer._row() for layer in layers]), list(layers))

    def _set(self, handle: Any, layers: list[Linear]) -> None:
        self._handle, self.layers = handle, layers
        self.inputs, self.outputs = _ternary.network_describe(handle)

    @classmethod
    def load(cls, path: str | os.PathLike[str], activations: str | None = None,
             threshold: float = 0.0) -> Network:
        """Loads all layers of a .t2 file. The file may be larger than memory. It must not be truncated
        while the Network exists. `activations` and `threshold` replace the values of every layer. The
        Network has no `layers`: File.load reads single layers.

        >>> import os, tempfile
        >>> w = collet.ternary.Weights.quantize([[0.5, -0.7, 0.1], [-0.4, 0.0, 0.9]])
        >>> network = collet.ternary.Network([collet.ternary.Linear(w, activations="f32")])
        >>> path = os.path.join(tempfile.mkdtemp(), "model.t2")
        >>> network.save(path)
        >>> collet.ternary.Network.load(path).outputs
        2"""
        network = cls.__new__(cls)
        kind = _AS_STORED if activations is None else _index(ACTIVATIONS, activations,
                                                             "activations")
        file, _ = _ternary.file_open(path)
        network._set(_ternary.network_load(file, kind, threshold), [])
        return network

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the layers to a .t2 file. The file gets its name when it is complete.

        >>> import os, tempfile
        >>> w = collet.ternary.Weights.quantize([[0.5, -0.7, 0.1], [-0.4, 0.0, 0.9]])
        >>> network = collet.ternary.Network([collet.ternary.Linear(w, activations="f32")])
        >>> path = os.path.join(tempfile.mkdtemp(), "model.t2")
        >>> network.save(path)
        >>> collet.ternary.Network.load(path)(np.array([1, 2, 3], np.float32))
        array([-1.,  2.], dtype=float32)"""
        if not self.layers:
            raise _core.InvalidError("Network.save: this network was loaded from a file; copy that file")
        _ternary.file_write(path, [layer._row() for layer in self.layers],
                            [layer.name for layer in self.layers])

    def __reduce__(self) -> tuple[Any, ...]:
        if not self.layers:
            raise TypeError("a Network that was loaded from a file cannot be pickled: load the file where the "
                            "network is used")
        return Network, (self.layers,)

    def __call__(self, x: Any, *, devices: Sequence[str] | None = None) -> Any:
        if devices is None:
            return _run(self, x)
        y, shares = _ternary.network_run_on(self._handle, x, ",".join(_job.check_devices(devices)))
        _job.warn_of_devices(shares, set(), 2)
        return asarray(y) if isinstance(x, Array) else y

    def __repr__(self) -> str:
        return f"Network({self.inputs} -> {self.outputs})"


def _run(network: Network, x: Any) -> Any:
    return _like(x, _ternary.network_run(network._handle, x))


_run = hook.hooked("ternary.Network", _run, __name__)


# ---- Files


class Counts(NamedTuple):
    minus: int
    zero: int
    plus: int
    invalid: int


class File:
    """An open file: .t2 (packed layers), .npy (one matrix), .gguf or .safetensors (tensors). It is mapped, not read
    into memory, and must not be truncated while it is open. `name` may be "FILE:TENSOR": `index` is then the tensor's
    index, else None. For the packed weights of BitNet models config.json must be in the folder of the file. Iteration
    yields a dict for each matrix, which describes it. For a part of a split GGUF file, `part` is the number of the
    part, from 1, and `parts` the number of parts; else both are 0.

    >>> import os, tempfile
    >>> w = collet.ternary.Weights.quantize([[0.5, -0.7, 0.1], [-0.4, 0.0, 0.9]])
    >>> network = collet.ternary.Network([collet.ternary.Linear(w, activations="f32")])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.t2")
    >>> network.save(path)
    >>> [layer['shape'] for layer in collet.ternary.File(path)]
    [(2, 3)]"""

    def __init__(self, name: str | os.PathLike[str]) -> None:
        self._handle, index = _ternary.file_open(name)
        self.index = None if index < 0 else index
        (kind, self.version, self._count, self.size, self.path, self.part,
         self.parts) = _ternary.file_describe(self._handle)
        self.kind = _KINDS[kind]

    def __len__(self) -> int:
        return self._count

    def _number(self, matrix: int | str) -> int:
        if not isinstance(matrix, str):
            return matrix
        for index, about in enumerate(self):
            if about["name"] == matrix:
                return index
        raise _core.NotFoundError(f"{self.path} has no matrix '{matrix}'; "
                                  "[m['name'] for m in file] lists them")

    def __getitem__(self, index: int | str) -> dict[str, Any]:
        """A dict that describes a matrix, which is given by number or name: the name, the type in the file, the shape,
        the parameters of a layer, the format of packed rows ("q2_0", "q2_0_128" and "bitnet" are only in files), and `fault`,
        the reason why a tensor cannot be read, or None."""
        index = self._number(index)
        if not 0 <= index < self._count:
            raise IndexError(f"{self.path}: matrix {index} is out of range; there are {self._count}")
        found = _ternary.file_matrix(self._handle, index)
        content = found["content"] = _CONTENTS[found["content"]]
        formats = dict(enumerate(FORMATS)) | _FILE_FORMATS
        found["format"] = formats[found["format"]] if content == "packed" else None
        found["activations"] = ACTIVATIONS[found["activations"]] if found["in_network"] else None
        return found

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[i] for i in range(self._count))

    def count(self, index: int | str = 0) -> Counts:
        """Counts the codes -1, 0 and 1 in a matrix of codes. Chooses the matrix by number or name.

        >>> import os, tempfile
        >>> w = collet.ternary.Weights.quantize([[0.5, -0.7, 0.1], [-0.4, 0.0, 0.9]])
        >>> network = collet.ternary.Network([collet.ternary.Linear(w, activations="f32")])
        >>> path = os.path.join(tempfile.mkdtemp(), "model.t2")
        >>> network.save(path)
        >>> collet.ternary.File(path).count()
        Counts(minus=2, zero=2, plus=2, invalid=0)"""
        return Counts(*_ternary.file_count(self._handle, self._number(index)))

    def load(self, index: int | str | None = None, mode: str | None = None,
             threshold: float | None = None) -> Linear:
        """Loads a matrix as a layer. Chooses the matrix by number or name; None: the matrix that the path names, or
        the first. Numbers become codes as in quantize(). Codes do not change unless `mode` or `threshold`
        is given.

        >>> import os, tempfile
        >>> w = collet.ternary.Weights.quantize([[0.5, -0.7, 0.1], [-0.4, 0.0, 0.9]])
        >>> network = collet.ternary.Network([collet.ternary.Linear(w, activations="f32")])
        >>> path = os.path.join(tempfile.mkdtemp(), "model.t2")
        >>> network.save(path)
        >>> collet.ternary.File(path).load()
        Linear(3 -> 2, f32)"""
        index = (self.index or 0) if index is None else self._number(index)
        about = self[index]
        handle, bias = _ternary.file_load(self._handle, index, _way(mode, threshold))
        return Linear(Weights(handle), bias, activations=about["activations"] or "int8",
                      relu=about["relu"], threshold=about["threshold"], name=about["name"] or None)


hook.hook(globals(), __name__, "ternary.")


def __dir__() -> list[str]:
    return own(globals())

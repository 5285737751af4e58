# SPDX-License-Identifier: Apache-2.0
"""collet.ternary against NumPy and against the program collet-ternary."""

import copy
import json
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import threading
import warnings

import numpy as np
import pytest

import collet
from collet import _plugins, ternary

DEVICES = [d.choice for b in collet.backends() if b.state != "unavailable" for d in b.devices]
RNG = np.random.default_rng(7)
W1 = RNG.normal(size=(40, 300)).astype("f4")
W2 = RNG.normal(size=(10, 40)).astype("f4")
BIAS = RNG.normal(size=40).astype("f4")
X = RNG.normal(size=(3, 7, 300)).astype("f4")
CODES = np.where(np.abs(W1) <= 0.3, 0, np.sign(W1)).astype("i1")


def network():
    return ternary.Network([
        ternary.Linear(ternary.Weights.quantize(W1, "absmean"), BIAS, relu=True),
        ternary.Linear(ternary.Weights.quantize(W2), activations="ternary", threshold=0.1)])


@pytest.fixture(name="tool")
def fixture_tool():
    """The program collet-ternary of the build; an installed package has none."""
    found = shutil.which(_plugins.tool("collet-ternary")[0])
    if not found:
        pytest.skip("there is no collet-ternary")

    def run(*arguments):
        done = subprocess.run([found, *map(str, arguments)], capture_output=True, text=True,
                              timeout=120, check=False)
        assert done.returncode == 0, done.stderr
    return run


def test_codes():
    codes, scale = ternary.quantize(W1)
    assert np.array_equal(codes, CODES) and codes.dtype == "i1" and np.all(scale == 1)
    means = ternary.quantize(W1, "absmean").scale
    assert np.allclose(means, np.abs(W1).mean(axis=1))
    for name in ternary.FORMATS:
        whole = np.repeat(CODES[:, :256], 2, axis=1)
        assert np.array_equal(ternary.unpack(ternary.pack(whole, name), 512, name), whole)
    assert np.array_equal(ternary.unpack(ternary.pack(CODES), 300), CODES)
    assert ternary.unpack(ternary.pack(CODES)).shape == (40, 512)
    with pytest.raises(collet.InvalidError, match="2 weights are not finite"):
        ternary.quantize(np.array([[1, np.nan, np.inf]]))
    with pytest.raises(collet.InvalidError, match="1 codes are not"):
        ternary.pack(np.array([[0, 1, 2]], "i1"))
    with pytest.raises(collet.InvalidError, match="invalid code"):
        ternary.unpack(np.full((1, 64), 255, "u1"))


@pytest.mark.parametrize("device", DEVICES)
def test_products(device):
    packed = ternary.pack(CODES)
    wide = CODES.astype("i4")
    signs = np.sign(X).astype("i1")
    with collet.using(device):
        assert np.array_equal(ternary.matmul(packed, signs), signs.astype("i4") @ wide.T)
        assert np.array_equal(ternary.matmul(packed, ternary.pack(signs)), signs @ wide.T)
        assert np.allclose(ternary.matmul(packed, X), X @ wide.T, atol=1e-3)
        assert ternary.dot(packed[0], packed[1]) == wide[0] @ wide[1]
        y = ternary.linear(packed, X, None, BIAS, activations="f32", relu=True)
        assert np.allclose(y, np.maximum(X @ wide.T + BIAS, 0), atol=1e-3)
        unit = np.abs(X).max(axis=-1, keepdims=True) / 127
        assert np.allclose(ternary.linear(packed, X), np.rint(X / unit) @ wide.T * unit, atol=1e-3)


def test_weights_and_layers():
    made = ternary.Weights.quantize(W1)
    assert made.shape == (40, 300) and np.array_equal(made.codes(), CODES)
    scale = np.arange(40, dtype="f4")
    again = ternary.Weights.from_bytes(made.bytes.to_numpy(), 300, scale)
    scale[:] = 9
    assert np.array_equal(again.scale.to_numpy(), np.arange(40)) and made.scale is None
    other = ternary.Weights.from_codes(CODES.astype("i8"), np.arange(40))
    bias = BIAS.copy()
    layer = ternary.Linear(other, bias, activations="f32")
    bias[:] = 0
    wanted = np.arange(40) * (X @ CODES.T.astype("f4")) + BIAS
    assert np.allclose(layer(X), wanted, atol=1e-2)
    kept = layer(collet.asarray(X))
    assert isinstance(kept, collet.Array) and np.array_equal(kept.to_numpy(), layer(X))
    assert repr(layer) == "Linear(300 -> 40, f32, bias)" and "scale" in repr(other)


@pytest.mark.parametrize("mode", [None, "absmean"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("each", [False, True])
def test_already_ternary(mode, dtype, each, tmp_path):
    """Weights -s, 0 and s, as converters of BitNet models write them, are kept exactly."""
    s = (0.0243 / (np.arange(1, 41) if each else np.ones(40))).astype("f4")[:, None]
    given = (CODES * s.astype(dtype)).astype(dtype)
    given[3] = 0
    wanted = s.astype(dtype)[:, 0].astype("f4")
    wanted[3] = 1
    codes, scale = ternary.quantize(given, mode)
    assert np.array_equal(codes * scale[:, None], given) and np.array_equal(scale, wanted)
    made = ternary.Weights.quantize(given, mode)
    assert np.array_equal(made.codes(), codes) and np.array_equal(made.scale.to_numpy(), wanted)
    nested = ternary.quantize(collet.asarray(given[None, :, None]), mode)
    assert np.array_equal(nested.codes.to_numpy()[0, :, 0], codes) and nested.scale.shape == (1, 40, 1)
    np.save(tmp_path / "w.npy", given)
    loaded = ternary.File(tmp_path / "w.npy").load(mode=mode).weights
    assert np.array_equal(loaded.codes(), codes) and np.array_equal(loaded.scale.to_numpy(), wanted)


def test_suspicious_codes(tmp_path):
    small = (CODES * 0.0243).astype("f4")
    np.save(tmp_path / "w.npy", small)
    for call in (lambda: ternary.quantize(small, threshold=0.3), lambda: ternary.quantize(small, "threshold"),
                 lambda: ternary.Weights.quantize(small, threshold=0.3),
                 lambda: ternary.File(tmp_path / "w.npy").load(threshold=0.3)):
        with pytest.warns(RuntimeWarning, match="100 % of the 12000 codes are 0") as caught:
            call()
        assert len(caught) == 1 and caught[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning):
                call()
    with pytest.warns(RuntimeWarning, match="all 6 codes are 1"):
        ternary.Weights.quantize(np.ones((2, 3)))
    with pytest.raises(collet.InvalidError, match="the scale of row 1 is too small"):
        ternary.Weights.quantize([[0, 1], [1e-60, 0]])


@pytest.mark.parametrize("call, error, text", [
    (lambda: ternary.Weights.from_codes([[2]]), collet.InvalidError, "not -1, 0 or 1"),
    (lambda: ternary.Weights.from_codes([[256]]), collet.InvalidError, "cannot be represented"),
    (lambda: ternary.Weights.from_codes([[0.5]]), collet.InvalidError, "cannot be represented"),
    (lambda: ternary.Weights.from_bytes(np.full((1, 64), 255), 256), collet.InvalidError, "code"),
    (lambda: ternary.Weights.quantize([[np.nan]]), collet.InvalidError, "not finite"),
    (lambda: ternary.Weights.quantize(W1, "mean"), collet.InvalidError, "threshold, absmean"),
    (lambda: ternary.Linear(ternary.Weights.quantize(W1), [1]), collet.ShapeError, "40 rows"),
    (lambda: ternary.Linear(ternary.Weights.quantize(W1), activations="u2"), collet.InvalidError,
     "int8, ternary, f32, int4"),
    (lambda: ternary.Network([]), collet.InvalidError, "at least one layer"),
    (lambda: network()(X[..., 1:]), collet.ShapeError, "299"),
    (lambda: network()(np.float32(1)), collet.ShapeError, "no axes"),
    (lambda: ternary.File("no_such_file.t2"), collet.FileError, "no_such_file"),
    (lambda: network().save("no_such_directory/m.t2"), collet.FileError, "no_such_directory"),
    (lambda: ternary.File(__file__), collet.FormatError, "test_ternary"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("device", DEVICES)
def test_files_and_the_program(tmp_path, tool, device, monkeypatch):
    monkeypatch.setenv("COLLET_BACKEND", device)
    for name, values in (("w1", W1), ("w2", W2), ("bias", BIAS), ("x", X)):
        np.save(tmp_path / name, values)
    model, x, y = tmp_path / "model.t2", tmp_path / "x.npy", tmp_path / "y.npy"
    tool("pack", tmp_path / "w1.npy", "--absmean", "--bias", tmp_path / "bias.npy", "--relu",
         tmp_path / "w2.npy", "--activations", "ternary:0.1", "-o", model)
    tool("run", model, x, "-o", y)
    with collet.using(device):
        assert np.array_equal(ternary.Network.load(model)(X), np.load(y))
        made = network()
        assert np.array_equal(made(X), np.load(y))
        made.save(tmp_path / "made.t2")
    tool("run", tmp_path / "made.t2", x, "-o", tmp_path / "made.npy")
    assert np.array_equal(np.load(tmp_path / "made.npy"), np.load(y))
    tool("run", model, x, "--activations", "f32", "-o", y, "--force")
    with collet.using(device):
        assert np.allclose(ternary.Network.load(model, "f32")(X), np.load(y), atol=1e-3)


def test_files(tmp_path):
    path = tmp_path / "m.t2"
    made = network()
    made.layers[0].name = "first"
    made.save(path)
    file = ternary.File(path)
    assert (file.kind, len(file), file.path, file.index) == ("t2", 2, str(path), None)
    first, second = file
    assert first["name"] == "first" and first["shape"] == (40, 300) and first["relu"] is True
    assert second["activations"] == "ternary" and second["threshold"] == pytest.approx(0.1)
    counts = file.count(0)
    codes = made.layers[0].weights.codes()
    assert counts == ((codes == -1).sum(), (codes == 0).sum(), (codes == 1).sum(), 0)
    assert np.array_equal(file.load(0)(X), made.layers[0](X))
    loaded = ternary.Network.load(path)
    with pytest.raises(collet.InvalidError, match="copy that file"):
        loaded.save(tmp_path / "n.t2")
    with pytest.raises(IndexError, match="matrix 2 is out of range"):
        file[2]
    assert file["first"] == first and file.count("first") == counts
    assert np.array_equal(file.load("first")(X), made.layers[0](X))
    with pytest.raises(collet.NotFoundError, match="no matrix 'second'"):
        file.load("second")
    with pytest.raises(collet.NotFoundError):
        file.count(2)
    np.save(tmp_path / "w.npy", W1)
    numbers = ternary.File(tmp_path / "w.npy")
    assert numbers[0]["content"] == "numbers"
    assert np.array_equal(numbers.load().weights.codes(), CODES)
    wide = numbers.load(mode="threshold", threshold=1.0).weights.codes()
    assert np.array_equal(wide, np.where(np.abs(W1) <= 1, 0, np.sign(W1)))


def test_devices_share_the_vectors():
    model, alone = network(), network()(X)
    assert np.array_equal(model(X, devices=["cpu_scalar", "cpu_openmp"]), alone)
    assert np.array_equal(model(X[0, 0], devices=["cpu_scalar"]), alone[0, 0])
    shared = model(collet.asarray(X), devices=["cpu_openmp"])
    assert isinstance(shared, collet.Array) and np.array_equal(shared, alone)
    assert model(X[:0], devices=["cpu_scalar"]).shape == (0, 7, 10)
    for wrong in "cpu_scalar", [], ["cpu_scalar", "cpu_scalar"]:
        with pytest.raises(collet.InvalidError, match="devices are"):
            model(X, devices=wrong)
    with pytest.raises(collet.UnknownBackendError, match="cpu_scaler"):
        model(X, devices=["cpu_scalar", "cpu_scaler"])
    with pytest.raises(collet.ShapeError, match="last axis"):
        model(X[..., 1:], devices=["cpu_scalar"])


def test_threads_take_turns():
    made, wanted, wrong = network(), network()(X), []

    def work(rows):
        for _ in range(10):
            if not np.array_equal(made(X[:rows]), wanted[:rows]):
                wrong.append(rows)

    threads = [threading.Thread(target=work, args=(n,)) for n in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_signals_are_heard_during_a_long_call(tmp_path, on_alarm):
    heard = []

    def interrupt(*_):
        heard.append(None)
        if len(heard) == 3:  # if signals were handled only after the call, several would count as one
            raise KeyboardInterrupt

    np.lib.format.open_memmap(tmp_path / "big.npy", "w+", "i1", (8192, 16384)).flush()
    file = ternary.File(tmp_path / "big.npy")
    on_alarm(interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
            file.load()
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert len(heard) >= 3 and file[0]["rows"] == 8192


def test_pickles(tmp_path):
    made = network()
    for again in pickle.loads(pickle.dumps(made)), copy.deepcopy(made):
        assert np.array_equal(again(X), made(X)) and repr(again.layers) == repr(made.layers)
    made.save(tmp_path / "model.t2")
    with pytest.raises(TypeError, match="load the file where the network is used"):
        pickle.dumps(ternary.Network.load(tmp_path / "model.t2"))
    with pytest.raises(TypeError, match="layers must be ternary.Linear, not int"):
        ternary.Network([3])


def test_fork():
    made = network()
    child = os.fork()
    if not child:
        try:
            made(X)
        except collet.ForkedError as error:
            os._exit(17 if "make or load it in the child" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17


@pytest.fixture
def gguf(tmp_path):
    archive = pathlib.Path(__file__).resolve().parents[2] / "tests/fuzz/corpus/gguf.tar"
    subprocess.run(["tar", "-xf", archive, "-C", tmp_path], check=True)
    return tmp_path / "gguf"


def test_odd_tensors_hide_no_others(gguf):
    file = ternary.File(gguf / "odd_tensors")
    faults = {t["name"]: t["fault"] for t in file}
    assert list(faults) == ["none", "empty", "five", "nine", "huge", "far", "w"]
    assert [name for name, fault in faults.items() if fault is None] == ["w"]
    assert [t["shape"] for t in file][:3] == [(), (0, 4), (2, 1, 1, 1, 1)]
    assert file[0]["content"] == "other" and "no axes" in faults["none"]
    assert np.array_equal(ternary.File(f"{gguf / 'odd_tensors'}:w").load(threshold=1.5).weights.codes(), [[0, 1]])
    with pytest.raises(collet.UnsupportedError, match="odd_tensors:none: the tensor has no axes"):
        file.load(0)
    assert [t["name"] for t in ternary.File(gguf / "names")] == [
        "größe.重み", r"a\x1b[2J\xff\xc2\x9b"]


def gguf_image(kind, rows, columns, data):
    """A GGUF file of one tensor "w"; the package gguf has no types above 41."""
    head = b"GGUF" + np.array([3], "<u4").tobytes() + np.array([1, 0, 1], "<u8").tobytes() + b"w"
    head += np.array([2], "<u4").tobytes() + np.array([columns, rows], "<u8").tobytes()
    head += np.array([kind], "<u4").tobytes() + np.array([0], "<u8").tobytes()
    return head + bytes(-len(head) % 32) + data


def q2_0(codes, weights, scale=0.25):
    """Codes -1, 0, 1 and 2 in blocks of Q2_0."""
    fours = (np.asarray(codes).reshape(-1, weights // 4, 4) + 1).astype("u1")
    packed = (fours << np.array([0, 2, 4, 6], "u1")).sum(axis=2, dtype="u1")
    return b"".join(np.array([scale], "<f2").tobytes() + block.tobytes() for block in packed)


@pytest.mark.parametrize("weights, kind, name", [(64, "Q2_0/64", "q2_0"), (128, "Q2_0/128", "q2_0_128")])
def test_q2_0(tmp_path, weights, kind, name):
    codes = np.concatenate([CODES[:, :128], CODES[:, :128]], axis=1)
    path = tmp_path / "w.gguf"
    path.write_bytes(gguf_image(42, 40, 256, q2_0(codes, weights)))
    file = ternary.File(path)
    assert (file[0]["type"], file[0]["format"], file[0]["fault"]) == (kind, name, None)
    layer = file.load("w")
    assert np.array_equal(layer.weights.codes(), codes)
    assert np.all(layer.weights.scale.to_numpy() == 0.25)
    codes[7, 200] = 2
    path.write_bytes(gguf_image(42, 40, 256, q2_0(codes, weights)))
    file = ternary.File(path)
    assert file.count().invalid == 1
    with pytest.raises(collet.InvalidError, match="row 7, column 200 is 2 times the scale"):
        file.load()
    with pytest.warns(RuntimeWarning, match="of the 10240 codes are 0"):
        again = file.load(mode="threshold", threshold=0.3).weights.codes()
    assert np.count_nonzero(again) == 1 and again[7, 200] == 1


@pytest.mark.parametrize("kind, rows, columns, size, error, text", [
    (42, 1, 128, 64, collet.FormatError, "fit both"),
    (42, 1, 256, 70, collet.FormatError, "fit neither"),
    (12, 1, 256, 144, collet.UnsupportedError, "type Q4_K is not supported: weights of this type have more values"),
    (39, 1, 256, 136, collet.UnsupportedError, "type MXFP4 is not supported: its weights are 4-bit floating-point"),
    (142, 1, 256, 68, collet.UnsupportedError, "type PQ2_0 is not supported: PrismML stores"),
    (99, 1, 256, 68, collet.UnsupportedError, ": type 99 is not supported"),
])
def test_tensors_that_are_refused(tmp_path, kind, rows, columns, size, error, text):
    path = tmp_path / "w.gguf"
    path.write_bytes(gguf_image(kind, rows, columns, bytes(size)))
    file = ternary.File(path)
    assert file[0]["content"] == "other" and file[0]["format"] is None
    for call in file.load, file.count, lambda: file.load(mode="absmean"):
        with pytest.raises(error, match=text) as caught:
            call()
        assert file[0]["fault"] in str(caught.value)


def save_safetensors(path, **tensors):
    """Arrays in the format of the package safetensors; uint16 is written as BF16."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    names = {"u1": "U8", "u2": "BF16", "f4": "F32", "i1": "I8"}
    for name, values in tensors.items():
        raw = values.tobytes()
        header[name] = {"dtype": names[values.dtype.str[1:]], "shape": list(values.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def bitnet(codes):
    """Packs M rows of codes into M/4 rows of bytes: bits 2i and 2i + 1 of byte row r are code row r + i M/4, plus 1."""
    quarters = (codes.reshape(4, -1, codes.shape[1]) + 1).astype("u1")
    return sum(quarters[i] << 2 * i for i in range(4)).astype("u1")


@pytest.mark.parametrize("kind, wanted", [("bitlinear", 1 / 1.5), ("autobitlinear", 1.5)])
def test_bitnet(tmp_path, kind, wanted):
    path = tmp_path / "model.safetensors"
    tensors = {"up.weight": bitnet(CODES), "up.weight_scale": np.array([0x3fc0], "u2"), "up.bias": BIAS}
    save_safetensors(path, **tensors)
    file = ternary.File(path)
    assert (file.kind, len(file), file[0]["content"]) == ("safetensors", 3, "other")
    with pytest.raises(collet.FileError, match="config.json of the model is not beside the file") as caught:
        file.load()
    assert file[0]["fault"] in str(caught.value)
    (tmp_path / "config.json").write_text(json.dumps({"quantization_config": {"linear_class": kind}}))
    about = ternary.File(path)["up.weight"]
    assert (about["type"], about["format"], about["shape"], about["fault"]) == ("BitNet", "bitnet", (40, 300), None)
    layer = ternary.File(f"{path}:up.weight").load()
    assert np.array_equal(layer.weights.codes(), CODES)
    assert np.all(layer.weights.scale.to_numpy() == np.float32(wanted))
    assert np.array_equal(layer.bias.to_numpy(), BIAS)
    exact = ternary.Linear(layer.weights, layer.bias, activations="f32")
    assert np.allclose(exact(X), X @ (CODES.T * np.float32(wanted)) + BIAS, atol=1e-3)
    save_safetensors(path, **{"up.weight": bitnet(CODES)})
    with pytest.raises(collet.FormatError, match="with the ending _scale, which is missing"):
        ternary.File(path).load()


def test_parts_of_split_files_are_named(gguf):
    part = ternary.File(gguf / "split")
    assert (part.part, part.parts) == (2, 3)
    assert ternary.File(gguf / "good").parts == 0
    with pytest.raises(collet.NotFoundError, match="part 2 of 3 of a split file"):
        ternary.File(f"{gguf / 'split'}:v")

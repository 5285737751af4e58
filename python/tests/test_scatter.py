# SPDX-License-Identifier: Apache-2.0
"""collet.scatter: arrays in, patterns out; physics, integrals, files, cancellation, errors."""

import ast
import dataclasses
import gc
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import collet
from collet import _job, _plugins, scatter

TOOL = pathlib.Path(_plugins.tool("collet-rsoxs")[0])
CONSTANTS = [2e-3, 4e-4, 1e-3, 1e-4]
VACUUM = [0, 0, 0, 0]
RADIUS, VOXEL = 12.0, 1.5  # voxels, nm


def ball(n=48, samples=4):
    """The fraction of each of n^3 voxels that lies within RADIUS of the middle."""
    inner = (np.arange(samples) + 0.5) / samples - 0.5
    axis = (np.arange(n) - (n - 1) / 2)[:, None] + inner
    square = axis.reshape(-1) ** 2
    inside = square[:, None, None] + square[:, None] + square <= RADIUS ** 2
    return inside.reshape(n, samples, n, samples, n, samples).mean((1, 3, 5))


def sphere(energies=(285.0,), **more):
    volume = ball()
    return scatter.Sample([scatter.Material([1e-3, 2e-4, 1e-3, 2e-4], volume),
                           scatter.Material(VACUUM, 1 - volume)], energies, VOXEL, **more)


def grains(energies=(285.0, 286.0, 284.0), shape=(6, 16, 20), **more):
    random = np.random.default_rng(3)
    fraction, s = random.random((2, *shape), np.float32)
    theta, psi = random.random((2, *shape), np.float32) * 3
    first = {e: np.array(CONSTANTS) * (e - 280) for e in energies}
    return scatter.Sample([scatter.Material(first, fraction, s, theta, psi),
                           scatter.Material(VACUUM, 1 - fraction)], energies, 5.0, **more)


def test_sphere():
    result = scatter.simulate(sphere(), dtype="float64", grid="fft")
    assert result.values.shape == (1, 48, 48) and result.values.dtype == np.float64
    q = np.array(result.qy[25:32])  # along y the polarisation does not change the intensity
    k = 2 * np.pi * 285.0 / 1239.84198
    length = np.sqrt(q ** 2 + (k - np.sqrt(k ** 2 - q ** 2)) ** 2)
    x = length * RADIUS * VOXEL
    factor = (3 * (np.sin(x) - x * np.cos(x)) / x ** 3) ** 2
    measured = result.values[0, 25:32, 24] / result.values[0, 24, 24]
    assert np.max(np.abs(measured - factor)) < 0.01
    integrals = result.integrate()
    assert integrals.q[0] == 0 and integrals.q[1] == pytest.approx(result.qy[25])
    ring = integrals.q[1:10]  # the intensity is 1 - share cos(chi)^2, with wedges of 90 degrees
    share = ring ** 2 * (1 - ring ** 2 / (4 * k ** 2)) / k ** 2
    assert np.allclose(integrals.anisotropy[0, 1:10], -2 / np.pi * share / (2 - share), atol=8e-3)


def test_methods_agree():
    sample = grains(angles=(0, 20, 90), mask=True)
    fast = scatter.simulate(sample, dtype="float64")
    direct = scatter.simulate(sample, dtype="float64", method="direct")
    assert np.allclose(fast.values, direct.values, rtol=1e-9, equal_nan=True)
    assert np.allclose(scatter.simulate(sample).values, fast.values, rtol=1e-3, atol=1e-9,
                       equal_nan=True)
    assert list(fast.energy) == [285.0, 286.0, 284.0]
    assert not np.allclose(fast.values[0], fast.values[1], equal_nan=True)


def test_vectors_are_angles():
    sample = grains()
    euler = sample.materials[0]
    theta, psi = euler.theta.astype(float), euler.psi.astype(float)
    aligned = euler.volume * euler.alignment
    along = np.stack([np.cos(psi) * np.sin(theta), np.sin(psi) * np.sin(theta), np.cos(theta)], -1)
    vector = scatter.Material(euler.constants, direction=np.sqrt(aligned)[..., None] * along,
                              unaligned=euler.volume - aligned)
    other = scatter.Sample([vector, sample.materials[1]], sample.energies, sample.voxel)
    assert other.shape == sample.shape
    assert np.allclose(scatter.simulate(other, dtype="float64").values,
                       scatter.simulate(sample, dtype="float64").values, rtol=1e-4, equal_nan=True)


def test_constants_and_dtypes():
    whole = np.ones((2, 4, 4), np.int64)
    whole[0, 1] = 0
    expected = None
    for constants in (CONSTANTS, [CONSTANTS] * 2, {286.0: CONSTANTS, 285.0: CONSTANTS}):
        sample = scatter.Sample([scatter.Material(constants, whole),
                                 scatter.Material(VACUUM, 1.0 - whole)], [285.0, 286.0], 2.0)
        values = scatter.simulate(sample).values
        expected = values if expected is None else expected
        assert np.array_equal(values, expected, equal_nan=True)
    strided = np.zeros((4, 8, 2))
    strided[:, ::2] = whole.T
    sample.materials[0].volume = strided[:, ::2].T
    assert np.array_equal(scatter.simulate(sample).values, expected, equal_nan=True)


def test_iterator_plan_progress_backend():
    seen = []
    sample = grains()
    with scatter.Patterns(sample, progress=lambda *args: seen.append(args)) as patterns:
        plan = patterns.plan()
        assert plan["angles"] == 1 and plan["fields"] == 8 and plan["bytes"] > 0
        energies = [pattern.energy for pattern in patterns]
        assert patterns.backend
        assert next(patterns, None) is None
    assert energies == [285.0, 286.0, 284.0] and seen[-1] == (1.0, 3)
    assert next(patterns, None) is None
    with pytest.raises(collet.InvalidError, match="closed"):
        patterns.plan()
    for choice in ("cpu_scalar", "cpu_openmp"):
        with collet.using(choice):
            patterns = scatter.Patterns(sample)
            next(patterns)
        assert patterns.backend == choice
    pattern = next(scatter.Patterns(sample))
    assert pattern.values.shape == (16, 20) and pattern.qx[10] == pattern.qy[8] == 0
    assert pattern.qx[11] == pytest.approx(2 * np.pi / (20 * 5.0))


def test_detector():
    turned = (0.1, 0.2, 1.0)
    plain, warped = (scatter.simulate(grains(**more)) for more in ({}, {"detector": turned}))
    beam = grains(beams=[turned], detector=(-0.1, -0.2, 1.0))  # a detector that undoes the warp
    assert np.nanmax(abs(plain.values - warped.values)) > 0
    assert plain.values[0, 8, 10] == warped.values[0, 8, 10]
    back, oblique = scatter.simulate(beam), scatter.simulate(grains(beams=[turned]))
    inner = np.s_[:, 2:-2, 2:-2]
    assert not np.allclose(back.values[inner], oblique.values[inner], equal_nan=True)
    rings = [r.integrate().mean for r in (warped, plain)]
    assert warped.detector == turned and not np.array_equal(*rings, equal_nan=True)
    with pytest.raises(collet.InvalidError, match="detector"):
        scatter.simulate(grains(detector=(1.0, 0.0, 0.0)))


def test_devices():
    one = scatter.simulate(grains(), devices=["cpu_scalar"])
    with scatter.Patterns(grains(), devices=["cpu_scalar", "cpu_openmp"]) as patterns:
        several = np.stack([p.values for p in patterns])
        assert patterns.backend == "cpu_scalar,cpu_openmp"
    assert np.allclose(one.values, several, rtol=1e-4, atol=1e-9, equal_nan=True)
    for wrong in [], ["cpu_scalar", "cpu_scalar"]:
        with pytest.raises(collet.InvalidError, match="devices"):
            scatter.Patterns(grains(), devices=wrong)
    with pytest.raises(collet.UnknownBackendError):
        scatter.Patterns(grains(), devices=["cpu_scalar", "cpu_scaler"])


def test_a_device_that_fails_is_told_of_once():
    told = set()
    shares = [("opencl:0", 3, 0.1, None), ("opencl:1", 1, 0.1, "opencl:1: the device is lost")]
    with pytest.warns(RuntimeWarning, match="the device opencl:1 failed; .* the device is lost"):
        _job.warn_of_devices(shares, told, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _job.warn_of_devices(shares, told, 1)


def test_progress_may_fail():
    def fail(*_):
        raise KeyError("mine")
    with pytest.raises(KeyError, match="mine"):
        scatter.simulate(grains(), progress=fail)


def test_memory_limit():
    sample = grains(energies=tuple(280.0 + 0.1 * i for i in range(40)))
    whole = scatter.Patterns(sample).plan()
    least = scatter.Patterns(sample, memory=whole["bytes"] // 2).plan()
    assert least["bytes"] <= whole["bytes"] // 2 and least["block"] <= whole["block"]
    with pytest.raises(collet.RefusedError, match="memory is limited to .* bytes, but one energy needs"):
        next(scatter.Patterns(sample, memory=100))


def test_integrals():
    pytest.importorskip("xarray")
    result = scatter.simulate(grains())
    integrals = result.integrate(wedge=60)
    rings, data = integrals.q.size, result.to_xarray()
    assert integrals.polar.shape == (3, 360, rings) and integrals.chi[0] == -179.5
    assert integrals.mean.shape == integrals.anisotropy.shape == (3, rings)
    mean = np.nanmean(integrals.polar.astype(float), axis=1)
    assert np.allclose(integrals.mean, mean, rtol=1e-5, equal_nan=True)
    total = integrals.parallel + integrals.perpendicular
    assert np.allclose(integrals.anisotropy * total, integrals.parallel - integrals.perpendicular,
                       rtol=1e-4, atol=1e-7 * np.nanmax(total), equal_nan=True)
    assert data.dims == ("energy", "qy", "qx") and data.attrs == {"phys_size_nm": 5.0, "z_dim": 6}
    assert np.shares_memory(data.values, result.values) and float(data.qx[10]) == 0
    assert np.array_equal(np.asarray(result), result.values, equal_nan=True)
    assert np.asarray(result, np.float64).dtype == np.float64
    assert not np.shares_memory(np.array(result), result.values)
    dataset = integrals.to_xarray()
    assert set(dataset) == {"I_chi", "I", "I_parallel", "I_perpendicular", "A"}
    assert dataset.I_chi.dims == ("energy", "chi", "q")
    one = scatter.integrate(result.values[1], 286.0, 5.0, wedge=60)
    assert np.array_equal(one.mean[0], integrals.mean[1], equal_nan=True)


def busy():
    """A sample whose simulation takes seconds."""
    return grains(energies=(285.0,), shape=(24, 96, 96), angles=(0, 1, 360))


@pytest.mark.parametrize("method", ["fast", "direct"])
def test_interrupt(method):
    fast = grains((285.0,) * 2000, (8, 96, 96), angles=(0, 1, 90))
    sample = busy() if method == "direct" else fast
    patterns = scatter.Patterns(sample, method=method)
    sent = []

    def send():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, send)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        for _ in patterns:
            pass
        timer.cancel()
    heard = time.perf_counter()
    assert sent and heard - sent[0] < 0.5  # 0.1 s on an idle machine
    patterns.close()
    assert next(patterns, None) is None


def test_goes_on_after_interrupt():
    sample = grains(shape=(8, 32, 32), angles=(0, 8, 360))
    expected = scatter.simulate(sample, method="direct").values
    interrupts = 5

    def interrupt(*_):
        nonlocal interrupts
        interrupts -= 1
        if interrupts >= 0:
            raise KeyboardInterrupt

    patterns = scatter.Patterns(sample, method="direct", progress=interrupt)
    found = []
    while len(found) < 3:
        try:
            found.append(next(patterns).values)
        except KeyboardInterrupt:
            pass
    assert interrupts < 0 and np.array_equal(found, expected, equal_nan=True)


def test_threads():
    sample, results = grains(), []
    threads = [threading.Thread(target=lambda: results.append(scatter.simulate(sample).values))
               for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(np.array_equal(r, results[0], equal_nan=True) for r in results)


def test_dropped_patterns_are_freed():
    sample = grains()
    for _ in range(20):
        next(scatter.Patterns(sample))
    gc.collect()
    scatter.Patterns(busy(), method="direct").close()


def test_fork():
    done = subprocess.run([sys.executable, "-c", """if True:
        import os, sys
        import numpy as np
        from collet import scatter
        sample = scatter.Sample([scatter.Material([1e-3] * 4, np.ones((2, 4, 4)))], [285.0], 5.0)
        parents = scatter.Patterns(sample)
        child = os.fork()
        if not child:
            try:
                next(parents)
            except scatter._core.ForkedError:
                print(scatter.simulate(sample).values.shape, flush=True)
            sys.exit()
        os.waitpid(child, 0)
        print(next(parents).energy)
    """], capture_output=True, text=True, timeout=300)
    assert done.stdout.splitlines() == ["(1, 4, 4)", "285.0"], done.stderr


ERRORS = {
    "volume": (collet.InvalidError, "material 1: the volume fraction at voxel z 1, y 2, x 3",
               lambda s: s.materials[0].volume.__setitem__((1, 2, 3), 7.0)),
    "sum": (collet.InvalidError, "sum of the materials' volume fractions",
            lambda s: s.materials[1].volume.__imul__(0.5)),
    "shape": (collet.ShapeError, "material 1: theta is 2 x 2, not 6 x 16 x 20",
              lambda s: setattr(s.materials[0], "theta", np.zeros((2, 2)))),
    "missing": (collet.InvalidError, "`theta` or `psi`",
                lambda s: setattr(s.materials[0], "psi", None)),
    "constants": (collet.InvalidError, "material 2: no optical constants at 285 eV",
                  lambda s: setattr(s.materials[1], "constants", {1.0: VACUUM})),
    "constants' shape": (collet.ShapeError, "material 2: constants are 3, not 4 or 3 x 4",
                         lambda s: setattr(s.materials[1], "constants", [1, 2, 3])),
    "constants' size": (collet.InvalidError, "material 2: beta across the direction is 13175 at 285 eV",
                        lambda s: setattr(s.materials[1], "constants", [0, 0, 0, 13175])),
    "complex": (collet.InvalidError, "material 1: its arrays are complex",
                lambda s: setattr(s.materials[0], "volume", np.zeros((6, 16, 20), complex))),
    "voxel": (collet.InvalidError, "edge of a voxel", lambda s: setattr(s, "voxel", -1.0)),
    "energy": (collet.InvalidError, "energy 1 is 0 eV", lambda s: (
        setattr(s, "energies", [0.0]), setattr(s.materials[0], "constants", CONSTANTS))),
    "empty": (collet.InvalidError, "no material", lambda s: s.materials.clear()),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    kind, text, spoil = ERRORS[name]
    sample = grains()
    spoil(sample)
    with pytest.raises(kind, match=text):
        scatter.simulate(sample)


def test_unaligned_angles():
    """Where the alignment is 0, angles are ignored, whatever their values."""
    expected = grains()
    material = expected.materials[0]
    unaligned = np.random.default_rng(4).random(material.volume.shape) < 0.3
    material.alignment[unaligned] = 0
    given = grains()
    given.materials[0].alignment[unaligned] = 0
    given.materials[0].theta[unaligned] = given.materials[0].psi[unaligned] = np.nan
    for method in ("fast", "direct"):
        values = scatter.simulate(given, method=method).values
        right = scatter.simulate(expected, method=method).values
        assert np.isfinite(values).any() and np.array_equal(values, right, equal_nan=True)


def test_empty_patterns():
    """A pattern without values, for instance because the energy is in keV, is an error. So is its integration."""
    sample = grains()
    sample.energies = [0.285]
    sample.materials[0].constants = CONSTANTS
    with pytest.raises(collet.InvalidError, match="at 0.285 eV Ewald's sphere meets no pixel of the detector"):
        scatter.simulate(sample)
    tiny = grains(energies=(285.0,))
    tiny.voxel = 1e-3
    with pytest.raises(collet.InvalidError, match="meets no pixel of the detector"):
        scatter.simulate(tiny)
    with pytest.raises(collet.InvalidError, match="cannot be integrated"):
        scatter.integrate(np.full((8, 8), np.nan), 285.0, 1.0)


def test_wrong_options():
    for wrong in ({"method": "slow"}, {"dtype": "float16"}, {"grid": "none"}):
        with pytest.raises(collet.InvalidError, match=repr(list(wrong.values())[0])):
            scatter.Patterns(grains(), **wrong)
    with pytest.raises(collet.ShapeError):
        scatter.integrate(np.zeros((2, 4, 4)), [285.0], 1.0)
    with pytest.raises(collet.InvalidError, match="wedge"):
        scatter.integrate(np.zeros((4, 4)), 285.0, 1.0, wedge=200)


@pytest.mark.skipif(not TOOL.exists(), reason="collet-rsoxs is not built")
@pytest.mark.parametrize("dtype, keys", [("float32", ""), ("float64", ""), ("float64", "Attenuation = 1;\n")])
def test_files(tmp_path, dtype, keys):
    subprocess.run([TOOL, "make", "euler", "--size", "8,12,16", "--energies", "285,286.5",
                    "--angles", "0,30,150", "-q", "-o", tmp_path], check=True)
    with open(tmp_path / "config.txt", "a") as configuration:
        configuration.write(keys)
    subprocess.run([TOOL, "morphology.h5", "-o", "out", "-q"], cwd=tmp_path, check=True)
    sample = scatter.read(tmp_path / "morphology.h5", tmp_path / "config.txt", dtype=dtype)
    assert sample.attenuation == bool(keys)
    assert sample.shape == (8, 12, 16) and sample.angles == (0, 30, 150) and sample.voxel == 1
    assert sample.materials[0].volume.dtype == (np.float32 if dtype == "float32" else np.float64)
    result = scatter.simulate(sample)
    for energy, values in zip(result.energy, result.values):
        expected = scatter.read_pattern(tmp_path / "out", energy, (12, 16))
        assert np.allclose(values, expected, rtol=1e-5, atol=1e-12, equal_nan=True)
    assert sum(m.volume.sum() for m in sample.materials) == pytest.approx(8 * 12 * 16, rel=1e-4)
    assert sample.warnings == ()
    with pytest.raises(collet.FileError, match="none.h5"):
        scatter.read(tmp_path / "none.h5", tmp_path / "config.txt")


@pytest.mark.skipif(not TOOL.exists(), reason="collet-rsoxs is not built")
def test_suspicious_files(tmp_path):
    subprocess.run([TOOL, "make", "sphere", "--size", "8", "--radius", "0.1", "--samples", "2", "-q",
                    "-o", tmp_path], check=True)  # the sphere lies between the sampled points
    text = "morphology.h5: no voxel contains material 1"
    with pytest.warns(RuntimeWarning, match=text) as caught:
        sample = scatter.read(tmp_path / "morphology.h5", tmp_path / "config.txt")
    assert [str(w.message) for w in caught] == list(sample.warnings)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():  # the warning is issued once
        warnings.simplefilter("error")
        scatter.simulate(sample)
        scatter.simulate(dataclasses.replace(sample, energies=sample.energies[:1]))
    sample.voxel = 2000.0
    with pytest.warns(RuntimeWarning) as caught:
        scatter.Patterns(sample).close()
    assert [str(w.message) for w in caught] == [
        "the edge of a voxel is 2000 nm; usual values are 0.1 to 100"]


def suspicious(**more):
    one = np.ones((2, 4, 4))
    given = {"constants": CONSTANTS, "volume": one, "alignment": one, "theta": one, "psi": one}
    sample = {k: more.pop(k, v) for k, v in (("energies", [285.0]), ("voxel", 2.0))}
    given = {k: v for k, v in {**given, **more}.items() if v is not None}
    return scatter.Sample([scatter.Material(**given)], **sample)


@pytest.mark.parametrize("given, text", [
    ({"theta": np.full((2, 4, 4), -90.0)}, "material 1 has angles of up to 90; angles must be in radians"),
    ({"psi": np.full((2, 4, 4), 90.0)}, "material 1 has angles of up to 90; angles must be in radians"),
    ({"alignment": None}, "material 1 has angles, but no alignment: it is treated as unaligned"),
    ({"constants": [1e-3, -1e-4, 1e-3, 1e-4]}, "material 1: beta at 285 eV is negative"),
    ({"constants": [0.5, 1e-4, 1e-3, 1e-4]}, "material 1: a constant at 285 eV is 0.1 or more; with soft "
    "X-rays values are usually about 0.001"),
    ({"constants": VACUUM}, "at 285 eV the optical constants of all materials are 0, so the pattern is 0"),
    ({"voxel": 2000.0}, "the edge of a voxel is 2000 nm; usual values are 0.1 to 100"),
    ({"energies": [285000.0], "voxel": 0.1},
     "the energy 285000 eV is outside the X-ray range; energies must be in eV"),
    ({}, None)])
def test_suspicious_arrays(given, text):
    for call in (scatter.Patterns, scatter.simulate):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call(suspicious(**given))
        assert [str(w.message) for w in caught] == ([text] if text else [])
        assert all(w.category is RuntimeWarning and w.filename == __file__ for w in caught)


def test_angles_without_alignment_are_not_suspicious():
    one = np.ones((2, 4, 4))
    sample = suspicious(alignment=0 * one, theta=90 * one, psi=np.nan * one)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scatter.Patterns(sample).close()


def test_a_material_in_no_voxel_is_suspicious():
    sample = suspicious()
    sample.materials.append(scatter.Material(VACUUM, np.zeros((2, 4, 4))))
    with pytest.warns(RuntimeWarning, match="no voxel contains material 2"):
        scatter.simulate(sample)


def test_write_and_read(tmp_path):
    values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    scatter.write(tmp_path, 285.25, values, [(0, 0, 1), (0, 0.6, 0.8)])
    assert os.listdir(tmp_path) == ["Energy_285.25.h5"]
    for beam in range(2):
        assert np.array_equal(scatter.read_pattern(tmp_path, 285.25, (3, 4), beam), values[beam])
    with pytest.raises(collet.NotFoundError):
        scatter.read_pattern(tmp_path, 286.0, (3, 4))
    with pytest.raises(collet.FormatError):
        scatter.read_pattern(tmp_path, 285.25, (4, 4))
    with pytest.raises(collet.FileError):
        scatter.write(tmp_path / "none", 285.25, values[0])
    with pytest.raises(collet.ShapeError):
        scatter.write(tmp_path, 285.25, values)


def test_hdf5_closes_after_errors(tmp_path):
    (tmp_path / "Energy_285.00.h5").write_text("none")
    done = subprocess.run([sys.executable, "-c", "import collet.scatter as s\n"
                           "try: s.read_pattern('.', 285.0, (2, 2))\n"
                           "except ValueError as e: print(e)"],
                          capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and "Energy_285" in done.stdout and not done.stderr


@pytest.mark.parametrize("name", ["damaged_hangs.h5", "damaged_crashes.h5"])
def test_a_damaged_file_ends_no_program(tmp_path, name):
    """Versions of libhdf5 other than 1.10 may read these files, or report a different error."""
    data = pathlib.Path(__file__).parents[2] / "tests/data/hdf5" / name
    text = "{ Energy = 285.0; DeltaPara = 1e-3; BetaPara = 1e-4; DeltaPerp = 1e-3; BetaPerp = 1e-4; };"
    for i in 1, 2:
        (tmp_path / f"Material{i}.txt").write_text(f"EnergyData0: {text}")
    (tmp_path / "config.txt").write_text("CaseType = 0; MorphologyType = 0; Energies = [285.0]; "
                                         "EAngleRotation = [0.0, 0.0, 0.0];")
    done = subprocess.run([sys.executable, "-c", "import sys, collet.scatter as s\n"
                           "try: s.read(sys.argv[1])\n"
                           "except ValueError as e: print(e)", data],
                          capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 0, done.stderr
    assert not done.stdout or name in done.stdout


def test_stub():
    path = pathlib.Path(scatter.__file__).parent / "_scatter.pyi"
    stub = {n.name if hasattr(n, "name") else n.target.id for n in ast.parse(path.read_text()).body
            if isinstance(n, (ast.FunctionDef, ast.ClassDef, ast.AnnAssign))}
    assert stub == {n for n in vars(scatter._scatter) if not n.startswith("__")}


@pytest.mark.parametrize("name", ["scatter", "_scattering/patterns", "_jobs"])
def test_annotations(name):
    tree = ast.parse((pathlib.Path(scatter.__file__).parent / f"{name}.py").read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            given = node.args
            names = [a for a in [*given.args, *given.kwonlyargs] if a.arg != "self"]
            assert node.returns and all(a.annotation for a in names), node.name


@pytest.mark.parametrize("wrong", [(0, 1), 3, "abc", (0, 1, 2, 3)])
def test_a_direction_has_three_numbers(wrong):
    with pytest.raises(collet.InvalidError, match="detector is .* not three numbers"):
        scatter.integrate(np.ones((4, 4)), [285.0], 1.0, detector=wrong)


@pytest.mark.parametrize("wrong, text", [
    ({"beam": 5}, "beam is 5; the sample has 1 beams"), ({"memory": -1}, "memory is -1 bytes"),
    ({"devices": "cpu_scalar"}, "devices are 'cpu_scalar', not a list"),
    ({"progress": 3}, "progress is 3, not a function"),
    ({"beams": [(0, 0, 0)]}, "direction is 0, 0, 0"), ({"detector": (0, 0, 0)}, "detector is 0, 0, 0"),
    ({"materials": ["x"]}, "materials are scatter.Material, not str")])
def test_wrong_arguments_are_told(wrong, text):
    mine = {k: wrong.pop(k) for k in ("materials", "beams", "detector") if k in wrong}
    one = [scatter.Material([1e-3, 1e-4, 1e-3, 1e-4], np.ones((1, 4, 4)))]
    sample = scatter.Sample(**{"materials": one, "energies": [285.0], "voxel": 2.0, **mine})
    with pytest.raises((TypeError, ValueError), match=text):
        scatter.Patterns(sample, **wrong)


def test_dtypes():
    for dtype in "float64", "f8", "f64", np.float64, np.dtype("f8"):
        assert scatter.simulate(grains(), dtype=dtype).values.dtype == np.float64
    assert scatter.simulate(grains(), dtype="f4").integrate(dtype="f4").mean.dtype == np.float32

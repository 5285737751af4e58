# SPDX-License-Identifier: Apache-2.0
"""collet.scatter.loss_and_grad compared with central differences, on a film of 16 x 32 x 32 voxels."""

import dataclasses
import pathlib

import numpy as np
import pytest

import collet
from collet import scatter

SHAPE = (16, 32, 32)
ENERGIES = [282.0, 285.2, 288.5]
EULER = ("volume", "alignment", "theta", "psi")


def film(kind, **more):
    """Three materials: an isotropic material, and two materials with Euler angles or vectors."""
    random = np.random.default_rng(5)
    parts = 0.1 + random.random((3, *SHAPE))
    parts /= parts.sum(0)
    constants = 1e-3 * (0.3 + random.random((3, len(ENERGIES), 4)))
    materials = [scatter.Material(constants[0], parts[0])]
    for c, part in zip(constants[1:], parts[1:]):
        s, theta, psi = (0.1 + 0.8 * random.random((3, *SHAPE))) * np.array([1, 3, 6])[:, None, None, None]
        if kind == "euler":
            materials.append(scatter.Material(c, part, s, theta, psi))
        else:
            axis = np.stack([np.cos(psi) * np.sin(theta), np.sin(psi) * np.sin(theta), np.cos(theta)], -1)
            materials.append(scatter.Material(c, direction=np.sqrt(part * s)[..., None] * axis,
                                              unaligned=part * (1 - s)))
    return scatter.Sample(materials, ENERGIES, 2.5, **{"angles": (0, 20, 160), **more})


def moved(sample, directions, step):
    """The sample with step * array added to each array in directions, {(material, name): array}."""
    materials = list(sample.materials)
    for (i, name), d in directions.items():
        given = np.asarray(getattr(materials[i], name))
        materials[i] = dataclasses.replace(materials[i], **{name: given + step * d})
    return dataclasses.replace(sample, materials=materials)


def noisy(sample, of):
    """Random data near the patterns of a sample, and standard deviations for them."""
    result = scatter.simulate(sample, dtype="float64")
    found = result.values if of == "values" else getattr(result.integrate(dtype="float64"), of)
    random = np.random.default_rng(6)
    return found * random.uniform(0.3, 1.7, found.shape), np.abs(found) + 0.1 * np.nanmean(np.abs(found))


def check(sample, loss, name, materials, step):
    """Compares the gradient of one kind of parameter with differences, along random directions and along the
    gradient."""
    value, gradient = scatter.loss_and_grad(sample, loss, wrt=[name])
    assert value == pytest.approx(loss(scatter.simulate(sample, dtype="float64"))[0], rel=1e-12)
    random = np.random.default_rng(7)
    kinds = [{i: random.uniform(-1, 1, getattr(gradient[i], name).shape) for i in materials},
             {i: getattr(gradient[i], name) / np.abs(getattr(gradient[i], name)).max()
              for i in materials}]
    for directions in kinds:
        along = {(i, name): d for i, d in directions.items()}
        product = sum(np.sum(d * getattr(gradient[i], name)) for i, d in directions.items())
        ends = [loss(scatter.simulate(moved(sample, along, s), dtype="float64"))[0] for s in (step, -step)]
        measured = (ends[0] - ends[1]) / (2 * step)
        assert product == pytest.approx(measured, rel=1e-5, abs=4e-14 * abs(value) / step), name


@pytest.mark.parametrize("of", ["values", "mean", "anisotropy"])
@pytest.mark.parametrize("name", ["constants", *EULER])
def test_differences_euler(name, of):
    sample = film("euler")
    data, sigma = noisy(sample, of)
    step = {"constants": 3e-8, "volume": 1e-6}.get(name, 1e-5)
    check(sample, scatter.LeastSquares(data, sigma, of), name,
          [0, 1, 2] if name in ("constants", "volume") else [1, 2], step)


@pytest.mark.parametrize("name", ["constants", "direction", "unaligned"])
def test_differences_vectors(name):
    sample = film("vectors", mask=True, window=True, detector=(0.2, 0.1, 1.0))
    data, sigma = noisy(sample, "parallel")
    check(sample, scatter.LeastSquares(data, sigma, "parallel"), name,
          [0, 1, 2] if name == "constants" else [1, 2], 3e-8 if name == "constants" else 5e-7)


@pytest.mark.parametrize("kind", ["euler", "vectors"])
def test_attenuation(kind):
    """A film with the same beta everywhere is attenuated by exp(-mu t), mu = 4 pi beta / lambda. Also its gradients."""
    beta, tilt = 2.5e-3, np.array([0.3, 0.1, 1.0])
    sample = film(kind, beams=[tuple(tilt)])
    for i, m in enumerate(sample.materials):
        sample.materials[i] = dataclasses.replace(m, constants=np.asarray(m.constants) * [1, 0, 1, 0] +
                                                  [0, beta, 0, beta])
    off, on = (scatter.simulate(dataclasses.replace(sample, attenuation=a), dtype="float64")
               for a in (False, True))
    thickness = SHAPE[0] * 2.5 / (tilt[2] / np.linalg.norm(tilt))
    mu = 4 * np.pi * beta / (1239.84197 / np.array(ENERGIES))
    expected = np.exp(-mu * thickness)
    assert np.all(expected < 0.9)
    ratio = on.values / off.values
    assert np.nanmax(np.abs(ratio / expected[:, None, None] - 1)) < 1e-12
    narrow = scatter.simulate(dataclasses.replace(sample, attenuation=True), memory=3_000_000)
    assert np.nanmax(np.abs(narrow.values / on.values - 1)) < 1e-3
    sample = film(kind, attenuation=True, angles=(0, 0, 0))
    loss = scatter.LeastSquares(*noisy(sample, "mean"), of="mean")
    check(sample, loss, "constants", [0, 1, 2], 3e-8)
    for name in ("volume", "alignment") if kind == "euler" else ("direction", "unaligned"):
        check(sample, loss, name, [1, 2], 5e-7 if kind == "vectors" or name == "volume" else 1e-5)


def test_z_collapse():
    """z_collapse of isotropic volumes equals a film of one layer with their mean. Tested with both methods, and for
    gradients."""
    sample = film("euler", z_collapse="mean")
    isotropic = [scatter.Material(m.constants, m.volume) for m in sample.materials]
    flat = [scatter.Material(m.constants, m.volume.mean(0, keepdims=True)) for m in isotropic]
    both = [scatter.simulate(dataclasses.replace(sample, materials=m, z_collapse=z), dtype="float64")
            for m, z in ((isotropic, "mean"), (flat, None))]
    assert np.allclose(both[0].values, both[1].values, rtol=1e-9, equal_nan=True)
    assert both[0].layers == 1
    assert np.array_equal(both[0].integrate().q, both[1].integrate().q)
    fast, direct = (scatter.simulate(sample, dtype="float64", method=m).values for m in ("fast", "direct"))
    assert np.allclose(fast, direct, rtol=1e-9, equal_nan=True)
    whole = scatter.simulate(dataclasses.replace(sample, z_collapse=None), dtype="float64").values
    assert not np.allclose(fast, whole, rtol=1e-2, equal_nan=True)
    loss = scatter.LeastSquares(*noisy(sample, "mean"), of="mean")
    check(sample, loss, "constants", [0, 1, 2], 3e-8)
    check(sample, loss, "volume", [0, 1, 2], 1e-6)
    check(sample, loss, "theta", [1, 2], 1e-5)
    with pytest.raises(collet.InvalidError, match="z_collapse is 'sum'"):
        scatter.simulate(dataclasses.replace(sample, z_collapse="sum"))


def test_one_voxel_and_one_constant():
    sample = film("euler", material_frame=True, mask=True, beams=[(0.1, 0.2, 1.0)], omit_zero=True)
    data, sigma = noisy(sample, "values")
    loss = scatter.LeastSquares(data, sigma)
    value, gradient = scatter.loss_and_grad(sample, loss, wrt=["constants", *EULER], grid="exact")
    for i, name, place, step in [(0, "constants", (1, 0), 3e-8), (2, "constants", (2, 3), 3e-8),
                                 (0, "volume", (3, 4, 5), 3e-6), (1, "alignment", (0, 31, 2), 1e-4),
                                 (2, "theta", (15, 0, 31), 1e-4), (1, "psi", (8, 16, 16), 1e-4)]:
        d = np.zeros(getattr(gradient[i], name).shape)
        d[place] = 1
        ends = [loss(scatter.simulate(moved(sample, {(i, name): d}, s), dtype="float64"))[0]
                for s in (step, -step)]
        assert getattr(gradient[i], name)[place] == pytest.approx(
            (ends[0] - ends[1]) / (2 * step), rel=1e-5, abs=4e-15 * abs(value) / step), name


def test_a_loss_without_derivatives():
    with pytest.raises(TypeError, match="the loss gave float, not the pair"):
        scatter.loss_and_grad(film("euler"), lambda result: 1.0, wrt=["constants"])


def test_a_loss_of_ones_own():
    """The gradient of the sum of log I(q). Unlike LeastSquares of the images, this loss calls result.cotangents."""
    sample = film("euler")

    def loss(result):
        mean = result.integrate(dtype="float64").mean
        known = np.isfinite(mean) & (mean > 0)
        by = np.where(known, 1 / np.where(known, mean, 1), 0.0)
        return float(np.sum(np.log(mean[known]))), result.cotangents(mean=by)

    check(sample, loss, "volume", [0, 1, 2], 1e-6)


def test_f32_is_near_f64():
    sample = film("euler")
    data, sigma = noisy(sample, "values")
    loss = scatter.LeastSquares(data, sigma)
    narrow, wide = (scatter.loss_and_grad(sample, loss, wrt=["constants", "volume"], dtype=d)[1]
                    for d in ("float32", "float64"))
    for a, b in zip(narrow, wide):
        assert np.max(np.abs(a.constants - b.constants)) < 1e-3 * np.max(np.abs(b.constants))
        assert np.max(np.abs(a.volume - b.volume)) < 1e-3 * np.max(np.abs(b.volume))


def test_what_is_there():
    sample = film("euler")
    _, gradient = scatter.loss_and_grad(sample, lambda r: (1.0, np.ones_like(r.values)),
                                        wrt=["psi", "volume"])
    assert [m.constants is None for m in gradient] == [True] * 3
    assert [m.psi is None for m in gradient] == [True, False, False]
    assert all(m.volume.shape == SHAPE and m.volume.dtype == np.float64 for m in gradient)
    single = [scatter.Material(m.constants, np.float32(m.volume)) for m in sample.materials]
    _, gradient = scatter.loss_and_grad(scatter.Sample(single, ENERGIES, 2.5), lambda r: (
        1.0, np.ones_like(r.values)), wrt=["volume"])
    assert gradient[2].volume.dtype == np.float32


def test_messages():
    sample = film("vectors")
    loss = scatter.LeastSquares(np.zeros((3, 32, 32)))
    for more, error, text in [
            ({"wrt": ["volume", "radius"]}, collet.InvalidError, "wrt is 'radius', not one of"),
            ({"wrt": ["alignment"]}, collet.InvalidError, "no material has alignment"),
            ({"wrt": "volume"}, collet.InvalidError, "not a list"),
            ({"method": "direct"}, collet.RefusedError, "the fast method"),
            ({"devices": ["cpu_openmp", "cpu_scalar"]}, collet.RefusedError, "without devices")]:
        with pytest.raises(error, match=text):
            scatter.loss_and_grad(sample, loss, **more)
    with pytest.raises(collet.ShapeError, match="cotangents are 3, not 3 x 32 x 32"):
        scatter.loss_and_grad(sample, lambda r: (0.0, np.zeros(3)))
    with pytest.raises(collet.ShapeError, match="data are 3 x 32 x 32"):
        scatter.loss_and_grad(sample, scatter.LeastSquares(np.zeros((3, 32, 32)), of="mean"))
    with pytest.raises(collet.InvalidError, match="sigma must be positive"):
        scatter.loss_and_grad(sample, scatter.LeastSquares(np.zeros((3, 32, 32)), sigma=0))
    with pytest.raises(collet.InvalidError, match="of is 'images'"):
        scatter.loss_and_grad(sample, scatter.LeastSquares(0, of="images"))
    with pytest.raises(collet.ShapeError, match="mean is 3 x 4, not 3 x "):
        scatter.simulate(sample).cotangents(mean=np.zeros((3, 4)))


def test_patterns_can_be_differentiated_again():
    ones = np.ones((3, 32, 32))
    with scatter.Patterns(film("euler"), dtype="float64") as patterns:
        before = patterns.differentiate(ones)
        first = next(patterns).values
        after = patterns.differentiate(2 * ones, ["constants", "theta"])
        rest = [p.values for p in patterns]
    whole = scatter.simulate(film("euler"), dtype="float64").values
    assert np.array_equal(np.stack([first, *rest]), whole, equal_nan=True)
    for a, b in zip(before, after):
        assert np.allclose(2 * a.constants, b.constants, rtol=1e-12)


def test_fit():
    """The example, with larger voxels and a better initial guess."""
    pytest.importorskip("scipy")
    path = pathlib.Path(__file__).parents[2] / "examples/core_shell_fit.py"
    text = path.read_text()
    coarse = text.replace("SHAPE, VOXEL = (16, 64, 64), 2.0", "SHAPE, VOXEL = (12, 48, 48), 32 / 12")
    near = coarse.replace("GUESS = np.array([8.0, 5.0,", "GUESS = np.array([8.5, 4.5,")
    assert coarse != text and near != coarse
    names = {"__name__": "example"}
    exec(compile(near, path, "exec"), names)
    found, deviations, measured = names["fit"]()
    x, truth = found.x * names["SCALE"], names["TRUTH"]
    assert found.success and found.nfev < 150, found.message
    assert abs(2 * found.fun / np.isfinite(measured).sum() - 1) < 0.4
    assert np.all(np.abs(x - truth) < 4 * deviations * names["SCALE"]), x
    assert np.allclose(x[:2], truth[:2], atol=0.05)
    assert np.allclose(x[2:], truth[2:], atol=3e-4)

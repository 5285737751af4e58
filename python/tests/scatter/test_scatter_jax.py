# SPDX-License-Identifier: Apache-2.0
"""scatter.jax_function: values and gradients, compiled too, with and without 64-bit mode. Skipped without JAX."""

import contextlib
import doctest
import inspect

import numpy as np
import pytest
from test_scatter_gradients import EULER, SHAPE, film, noisy

import collet
from collet import scatter
from collet._scattering import functions

jax = pytest.importorskip("jax", reason="JAX is not installed")
jnp = jax.numpy


@contextlib.contextmanager
def bits(wide):
    """JAX's 64-bit mode, on or off."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", wide)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.fixture
def wide():
    with bits(True):
        yield


@pytest.fixture
def narrow():
    with bits(False):
        yield


def arguments(sample, arrays, dtype=np.float64):
    return [np.asarray(getattr(sample.materials[i], name), dtype) for i, name in arrays]


@pytest.mark.parametrize("kind, arrays", [
    ("euler", [(0, "volume"), (1, "constants"), (2, "constants"), *((1, name) for name in EULER), (2, "theta")]),
    ("vectors", [(1, "direction"), (2, "unaligned"), (0, "volume"), (1, "unaligned")])])
@pytest.mark.parametrize("compiled", [False, True])
def test_gradients_are_those_of_loss_and_grad(wide, kind, arrays, compiled):
    sample = film(kind, mask=True)
    data, sigma = noisy(sample, "values")
    given = arguments(sample, arrays)
    patterns = scatter.jax_function(sample, arrays)
    function = jax.value_and_grad(lambda *a: 0.5 * jnp.nansum(((patterns(*a) - data) / sigma)**2),
                                  argnums=tuple(range(len(arrays))))
    loss, gradients = (jax.jit(function) if compiled else function)(*given)
    value, wanted = scatter.loss_and_grad(sample, scatter.LeastSquares(data, sigma), wrt=sorted({n for _, n in arrays}))
    assert float(loss) == pytest.approx(value, rel=1e-12)
    for (i, name), gradient in zip(arrays, gradients):
        array = getattr(wanted[i], name)
        assert gradient.dtype == np.float64
        np.testing.assert_allclose(gradient, array, rtol=1e-9, atol=1e-11 * np.abs(array).max())


def test_values(wide):
    sample, arrays = film("euler"), [(0, "volume"), (1, "constants")]
    given = arguments(sample, arrays)
    patterns = scatter.jax_function(sample, arrays)
    wanted = scatter.simulate(sample, dtype="float64").values
    for function in patterns, jax.jit(patterns):
        values = function(*given)
        assert values.shape == (3, *SHAPE[1:]) and np.array_equal(values, wanted, equal_nan=True)


@pytest.mark.parametrize("dtype", [None, "float32", "float64"])
def test_without_64_bits(narrow, dtype):
    sample, arrays = film("euler"), [(0, "volume"), (1, "constants")]
    patterns = scatter.jax_function(sample, arrays, dtype=dtype)
    given = arguments(sample, arrays)
    total = jax.jit(lambda *a: jnp.nansum(patterns(*a)))
    values, gradients = jax.jit(patterns)(*given), jax.grad(total, (0, 1))(*given)
    assert values.dtype == np.float32 and all(g.dtype == np.float32 for g in gradients)
    wanted = scatter.simulate(sample, dtype="float64").values
    assert np.nanmax(np.abs(values - wanted)) < 1e-4 * np.nanmax(wanted)
    _, exact = scatter.loss_and_grad(sample, lambda r: (0.0, np.ones_like(r.values)), wrt=["constants", "volume"])
    for gradient, array in zip(gradients, (exact[0].volume, exact[1].constants)):
        assert np.abs(gradient - array).max() < 1e-3 * np.abs(array).max()


def test_dtypes(wide):
    sample, arrays = film("euler"), [(0, "volume"), (1, "constants")]
    single = arguments(sample, arrays, np.float32)
    patterns = scatter.jax_function(sample, arrays)
    assert patterns(*single).dtype == np.float32
    assert patterns(single[0], single[1].astype(float)).dtype == np.float64
    assert scatter.jax_function(sample, arrays, dtype="float64")(*single).dtype == np.float64
    assert jax.grad(lambda c: jnp.nansum(patterns(single[0].astype(float), c)))(single[1]).dtype == np.float32


def test_pixels_that_are_nan_have_no_gradient(wide):
    sample, arrays = film("euler", omit_zero=True), [(1, "constants")]
    patterns, given = scatter.jax_function(sample, arrays), arguments(sample, arrays)
    found = [jax.grad(lambda c: loss(patterns(c)))(*given) for loss in (jnp.nansum, jnp.sum, lambda v: jnp.sum(v + 0 * v * v))]
    assert np.isfinite(found[0]).all() and np.abs(found[0]).max() > 0
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])


def test_vmap(wide):
    sample, arrays = film("euler"), [(1, "constants")]
    patterns, given = scatter.jax_function(sample, arrays), arguments(sample, arrays)[0]
    several = np.stack([given, 1.5 * given])
    found = jax.jit(jax.vmap(patterns))(several)
    assert np.array_equal(found[1], patterns(1.5 * given), equal_nan=True)
    gradients = jax.vmap(jax.grad(lambda c: jnp.nansum(patterns(c))))(several)
    assert np.array_equal(gradients[0], jax.grad(lambda c: jnp.nansum(patterns(c)))(given))


def test_second_derivatives_are_refused(wide):
    patterns = scatter.jax_function(film("euler"), [(1, "constants")])
    given = arguments(film("euler"), [(1, "constants")])[0]
    with pytest.raises(Exception, match="do not support JVP|custom_vjp"):
        jax.grad(lambda c: jax.grad(lambda d: jnp.nansum(patterns(d)**2))(c).sum())(given)


def test_large_arrays(narrow):
    """Callbacks with large arguments do not deadlock."""
    random = np.random.default_rng(2)
    volume = random.random((16, 256, 256), np.float32)
    sample = scatter.Sample([scatter.Material([1e-3, 2e-4, 1e-3, 2e-4]), scatter.Material([0, 0, 0, 0])], [285.0], 2.0)
    patterns = scatter.jax_function(sample, [(0, "volume"), (1, "volume")])
    found = jax.jit(jax.grad(lambda v: jnp.nansum(patterns(v, 1 - v))))(jnp.asarray(volume))
    assert found.shape == volume.shape and bool(jnp.isfinite(found).all())


def test_the_backend_is_kept(monkeypatch):
    """A compiled function may call Collet from another thread, to which the choice of `using` does not apply."""
    made = []
    patterns = functions.Patterns
    monkeypatch.setattr(functions, "Patterns", lambda sample, **more: made.append(more) or patterns(sample, **more))
    with collet.using("cpu_scalar"):
        function = scatter.jax_function(film("euler"), [(1, "constants")])
    jax.jit(function)(np.float32(film("euler").materials[1].constants)).block_until_ready()
    assert made[0]["devices"] == ["cpu_scalar"]


def test_errors():
    sample, arrays = film("euler"), [(0, "volume"), (1, "constants")]
    function = scatter.jax_function(sample, arrays)
    volume, constants = arguments(sample, arrays, np.float32)
    for given, error, text in [((volume,), TypeError, "takes 2 arrays, not 1"),
                               ((volume[0], constants), collet.ShapeError, "the voxels have 2 axes|is 32 x 32"),
                               ((volume, constants[:2]), collet.ShapeError, r"materials\[1\].constants is 2 x 4, not 3 x 4"),
                               ((volume, constants.astype("f2")), collet.DtypeError, "is float16, not float32")]:
        for call in function, jax.jit(function):
            with pytest.raises(error, match=text):
                call(*given)
    with pytest.raises(Exception, match="the volume fraction at voxel"):
        jax.jit(function)(2 * volume, constants).block_until_ready()


def test_the_example():
    names = {"np": np, "scatter": scatter}
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(scatter.jax_function), names, "jax_function", None, 0)
    report = []
    assert test.examples
    assert not doctest.DocTestRunner().run(test, out=report.append).failed, "".join(report)

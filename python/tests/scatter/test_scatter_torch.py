# SPDX-License-Identifier: Apache-2.0
"""scatter.torch_function: values, gradients, dtypes, memory, errors, a fit. Skipped without PyTorch."""

import doctest
import gc
import inspect

import numpy as np
import pytest
from test_scatter_gradients import EULER, SHAPE, film, noisy

import collet
from collet import scatter
from collet._scattering import functions

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


def tensors(sample, arrays, dtype=torch.float64):
    return [torch.tensor(np.asarray(getattr(sample.materials[i], name)), dtype=dtype, requires_grad=True)
            for i, name in arrays]


def tiny(**more):
    random = np.random.default_rng(8)
    part = 0.1 + 0.8 * random.random((2, 5, 6))
    materials = [scatter.Material([1e-3, 2e-4, 2e-3, 3e-4], part, *random.random((3, 2, 5, 6))),
                 scatter.Material([5e-4, 1e-4, 5e-4, 1e-4], 1 - part)]
    return scatter.Sample(materials, [285.0], 20.0, **{"angles": (0, 40, 160), "mask": True, **more})


def loss_of(values, data, sigma):
    return 0.5 * torch.nansum(((values - torch.tensor(data)) / torch.tensor(sigma))**2)


@pytest.mark.parametrize("kind, arrays", [
    ("euler", [(0, "volume"), (1, "constants"), (2, "constants"), *((1, name) for name in EULER), (2, "theta")]),
    ("vectors", [(1, "direction"), (2, "unaligned"), (0, "volume"), (1, "unaligned")])])
def test_gradients_are_those_of_loss_and_grad(kind, arrays):
    sample = film(kind, mask=True, window=kind == "vectors")
    data, sigma = noisy(sample, "values")
    given = tensors(sample, arrays)
    values = scatter.torch_function(sample, arrays)(*given)
    assert values.dtype == torch.float64 and values.shape == (3, *SHAPE[1:])
    assert np.array_equal(values.detach(), scatter.simulate(sample, dtype="float64").values, equal_nan=True)
    loss = loss_of(values, data, sigma)
    loss.backward()
    value, wanted = scatter.loss_and_grad(sample, scatter.LeastSquares(data, sigma), wrt=sorted({n for _, n in arrays}))
    assert loss.item() == pytest.approx(value, rel=1e-12)
    for (i, name), tensor in zip(arrays, given):
        array = getattr(wanted[i], name)
        np.testing.assert_allclose(tensor.grad, array, rtol=1e-9, atol=1e-11 * np.abs(array).max())


def test_only_what_needs_a_gradient():
    sample = film("euler")
    arrays = [(0, "constants"), (1, "constants"), (1, "volume")]
    given = tensors(sample, arrays)
    given[0].requires_grad_(False)
    torch.nansum(scatter.torch_function(sample, arrays)(*given)).backward()
    assert given[0].grad is None and given[1].grad.abs().max() > 0 and given[2].grad.abs().max() > 0


def test_constants_of_all_energies():
    """A tensor (4,) applies to all energies, and its gradient is the sum over the energies."""
    sample, arrays = film("euler"), [(1, "constants")]
    one = torch.tensor([1e-3, 2e-4, 2e-3, 3e-4], dtype=torch.float64, requires_grad=True)
    each = one.detach().repeat(3, 1).requires_grad_()
    function = scatter.torch_function(sample, arrays)
    for tensor in one, each:
        torch.nansum(function(tensor)).backward()
    assert one.grad.shape == (4,) and each.grad.shape == (3, 4)
    np.testing.assert_allclose(one.grad, each.grad.sum(0), rtol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_dtypes(dtype):
    sample, arrays = film("euler"), [(0, "volume"), (1, "constants")]
    volume, constants = tensors(sample, arrays, dtype)
    volume = volume.detach().requires_grad_()
    values = scatter.torch_function(sample, arrays)(volume, constants)
    assert values.dtype == dtype
    torch.nansum(values).backward()
    assert volume.grad.dtype == constants.grad.dtype == dtype
    other = scatter.torch_function(sample, arrays, dtype="float32" if dtype == torch.float64 else "float64")
    values = other(volume, constants)
    assert values.dtype != dtype
    torch.nansum(values).backward()
    assert volume.grad.dtype == dtype


def test_float32_is_near_float64():
    sample, arrays = film("euler"), [(0, "volume"), (1, "constants")]
    found = []
    for dtype in torch.float32, torch.float64:
        given = tensors(sample, arrays, dtype)
        torch.nansum(scatter.torch_function(sample, arrays)(*given)).backward()
        found.append([t.grad for t in given])
    for narrow, wide in zip(*found):
        assert (narrow - wide).abs().max() < 1e-3 * wide.abs().max()


def test_gradcheck():
    sample = tiny()
    constants = torch.tensor([1.0, 0.2, 2.0, 0.3], dtype=torch.float64, requires_grad=True)
    arrays = [(0, "constants"), (0, "alignment"), (0, "theta"), (0, "psi")]
    others = tensors(sample, arrays[1:])
    patterns = scatter.torch_function(sample, arrays)
    scale = 1 / float(torch.max(patterns(1e-3 * constants, *others).detach()))
    assert torch.autograd.gradcheck(lambda c, *o: scale * patterns(1e-3 * c, *o), (constants, *others), eps=1e-6,
                                    atol=1e-6, rtol=1e-5)


def test_gradcheck_of_volumes():
    """The second volume is 1 - the first, so that the sum of the fractions stays 1."""
    patterns = scatter.torch_function(tiny(), [(0, "volume"), (1, "volume")])
    volume = torch.tensor(tiny().materials[0].volume, requires_grad=True)
    scale = 1 / float(torch.max(patterns(volume, 1 - volume).detach()))
    assert torch.autograd.gradcheck(lambda v: scale * patterns(v, 1 - v), volume, eps=1e-6, atol=1e-6, rtol=1e-5)


def test_pixels_that_are_nan_have_no_gradient():
    sample, arrays = film("euler", omit_zero=True), [(1, "constants")]
    function = scatter.torch_function(sample, arrays)
    found = []
    for loss in torch.nansum, torch.sum, lambda v: torch.nansum(v) + torch.sum(0 * v * v):
        given = tensors(sample, arrays)
        values = function(*given)
        assert values.isnan().any()
        loss(values).backward()
        found.append(given[0].grad)
    assert found[0].isfinite().all() and found[0].abs().max() > 0
    assert torch.equal(found[0], found[1]) and torch.equal(found[0], found[2])


def test_second_derivatives_are_refused():
    sample, arrays = tiny(), [(0, "constants")]
    given = tensors(sample, arrays)
    values = scatter.torch_function(sample, arrays)(*given)
    first, = torch.autograd.grad(torch.nansum(values**2), given, create_graph=True)
    with pytest.raises(collet.RefusedError, match="only first derivatives are computed"):
        first.sum().backward()


def test_a_graph_that_is_used_twice():
    sample, arrays = tiny(), [(0, "constants")]
    given = tensors(sample, arrays)
    loss = torch.nansum(scatter.torch_function(sample, arrays)(*given))
    loss.backward(retain_graph=True)
    first = given[0].grad.clone()
    loss.backward()
    assert torch.equal(given[0].grad, 2 * first)
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def test_tensors_that_were_changed_in_place():
    sample, arrays = tiny(), [(0, "theta")]
    theta = tensors(sample, arrays)[0].detach().requires_grad_()
    loss = torch.nansum(scatter.torch_function(sample, arrays)(theta))
    with torch.no_grad():
        theta += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_memory(monkeypatch):
    """The engine reads the tensors' memory. If no gradient is needed, the Patterns are closed after the call."""
    made = []

    class Spy(functions.Patterns):
        def __init__(self, sample, **options):
            super().__init__(sample, **options)
            self.sample = sample
            made.append(self)

    monkeypatch.setattr(functions, "Patterns", Spy)
    sample, arrays = tiny(), [(0, "volume"), (1, "volume")]
    volume, rest = tensors(sample, arrays)
    function = scatter.torch_function(sample, arrays)
    values = function(volume, rest)
    for tensor, material in zip((volume, rest), made[0].sample.materials):
        assert material.volume.ctypes.data == tensor.data_ptr()
    assert made[0]._core is not None and values.requires_grad
    with torch.no_grad():
        assert not function(volume, rest).requires_grad
    assert made[1]._core is None
    assert not function(volume.detach(), rest.detach()).requires_grad and made[2]._core is None
    turned = volume.detach().permute(2, 1, 0).contiguous().permute(2, 1, 0).requires_grad_()
    assert not turned.is_contiguous()
    assert torch.equal(function(turned, rest), values)
    torch.nansum(function(turned, rest)).backward()
    torch.nansum(values).backward()
    assert torch.equal(turned.grad, volume.grad)
    made.clear()
    gc.collect()


def test_errors():
    sample, arrays = tiny(), [(0, "volume"), (1, "volume")]
    function = scatter.torch_function(sample, arrays)
    volume = torch.tensor(sample.materials[0].volume)
    for given, error, text in [
            ((volume,), TypeError, "takes 2 arrays, not 1"),
            ((volume, [1.0]), TypeError, r"materials\[1\].volume is list, not a torch.Tensor"),
            ((volume, volume[0]), collet.ShapeError, r"materials\[1\].volume is 5 x 6, not 2 x 5 x 6"),
            ((volume, volume.half()), collet.DtypeError, r"materials\[1\].volume is float16, not float32 or float64"),
            ((volume, (1 - volume).to("meta")), collet.InvalidError, r"materials\[1\].volume is on meta, .* on cpu"),
            ((volume, volume), collet.InvalidError, "the sum of the materials' volume fractions")]:
        with pytest.raises(error, match=text):
            function(*given)
    with pytest.raises(TypeError, match="radius"):
        scatter.torch_function(sample, arrays, radius=3)(volume, 1 - volume)
    direct = scatter.torch_function(sample, arrays, method="direct")
    volume.requires_grad_()
    with pytest.raises(collet.RefusedError, match="the fast method"):
        torch.nansum(direct(volume, 1 - volume)).backward()


def test_one_warning_of_the_grid():
    sample = film("euler", grid="cyrsoxs")
    sample._warns = True
    function, given = scatter.torch_function(sample, [(0, "volume")]), tensors(sample, [(0, "volume")])
    with pytest.warns(RuntimeWarning, match="interpolates intensities") as caught:
        function(*given)
        function(*given)
    assert len(caught) == 1 and sample._warns


def test_fit():
    """Fits delta and beta, along and across, at each energy. The fit starts 20 percent off and must reach the known
    values."""
    sample = film("euler", attenuation=True)
    arrays = [(2, "constants")]
    patterns = scatter.torch_function(sample, arrays)
    known = torch.tensor(sample.materials[2].constants) / 1e-3
    with torch.no_grad():
        measured = patterns(1e-3 * known)
    guess = (known * torch.tensor([1.2, 0.8, 0.85, 1.15], dtype=torch.float64)).requires_grad_()
    optimizer = torch.optim.LBFGS([guess], max_iter=10, line_search_fn="strong_wolfe", tolerance_change=0,
                                  tolerance_grad=1e-12)

    def closure():
        optimizer.zero_grad()
        loss = torch.nanmean((patterns(1e-3 * guess) / measured - 1)**2)
        loss.backward()
        return loss

    first = closure().item()
    for _ in range(20):
        optimizer.step(closure)
        if closure().item() < 1e-9 * first:
            break
    assert closure().item() < 1e-8 * first
    np.testing.assert_allclose(guess.detach(), known, rtol=1e-3)


def test_the_example():
    names = {"np": np, "scatter": scatter}
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(scatter.torch_function), names, "torch_function", None, 0)
    report = []
    assert test.examples
    assert not doctest.DocTestRunner().run(test, out=report.append).failed, "".join(report)

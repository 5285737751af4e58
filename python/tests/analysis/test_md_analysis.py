# SPDX-License-Identifier: Apache-2.0
"""collet.md.analysis against sums over all pairs of frames in NumPy, and against closed forms."""

import math
import warnings

import numpy as np
import pytest

import collet
from collet.md import analysis
from collet.md.analysis._blocks import jackknife as jackknife_error, others

random = np.random.default_rng(33)


SHAPES = [(1,), (2,), (3,), (64,), (101,), (1, 3), (2, 3), (40, 3), (17, 1), (30, 4, 3), (23, 7, 1)]


def close(a, b, limit=1e-12):
    np.testing.assert_allclose(a, b, rtol=limit, atol=limit)


def bodies(x):
    x = np.asarray(x, "f8")
    return x if x.ndim == 3 else x.reshape(len(x), 1, -1)


def acf_of_pairs(x):
    x = bodies(x)
    return np.array([(x[:len(x) - k] * x[k:]).sum(axis=2).mean() for k in range(len(x))])


def msd_of_pairs(x):
    x = bodies(x)
    return np.array([((x[k:] - x[:len(x) - k])**2).sum(axis=2).mean() for k in range(len(x))])


def jackknife(x, blocks, estimate):
    """Returns the blocks of x, and a function error(curve): the jackknife error of estimate(mean of curve(block))."""
    length = len(x) // blocks
    curves = [x[i * length:(i + 1) * length] for i in range(blocks)]
    return curves, lambda curve: np.sqrt((blocks - 1) * np.var(
        [estimate(np.mean([curve(c) for j, c in enumerate(curves) if j != i], axis=0))
         for i in range(blocks)], axis=0))


def quantile(blocks):
    """The t for which Student's distribution of blocks - 1 degrees of freedom has 68.3 % between -t and t."""
    n = blocks - 1
    t = np.linspace(0, 2, 200001)
    density = (1 + t**2 / n)**(-(n + 1) / 2) * math.exp(math.lgamma((n + 1) / 2) - math.lgamma(n / 2)) / math.sqrt(n * math.pi)
    inside = np.concatenate([[0], np.cumsum(density[1:] + density[:-1])]) * 1e-5  # both sides, steps of 1e-5
    return float(np.interp(math.erf(0.5**0.5), inside, t))


def has_errors(found, jackknifed, blocks):
    """Each error is the jackknife's error times Student's factor. The factor is the same for all errors."""
    factor = found[1] / jackknifed[1]
    close(found, factor * jackknifed, 1e-11)
    close(factor, quantile(blocks), 1e-3)


@pytest.mark.parametrize("blocks", [2, 3, 4, 5, 8, 20])
def test_errors_cover_the_truth_as_often_as_one_standard_deviation(blocks):
    tries = np.random.default_rng(blocks).normal(size=(blocks * 4, 20000))
    means = tries.reshape(blocks, 4, -1).mean(axis=1)
    error = jackknife_error(others(means))
    assert abs((np.abs(means.mean(axis=0)) < error).mean() - math.erf(0.5**0.5)) < 0.013  # four standard deviations


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("centered", [False, True])
def test_autocorrelation_is_the_sum_over_pairs(shape, centered):
    x = random.normal(size=shape) + 1
    expected = acf_of_pairs(x - x.mean(axis=0) if centered else x)
    found = analysis.autocorrelation(x, 0.5, normalise=False, subtract_mean=centered)
    close(found.value, expected)
    close(found.lag, 0.5 * np.arange(len(x)))
    if shape[0] > 1:
        share = analysis.autocorrelation(x, 0.5, subtract_mean=centered).value
        close(share, expected / expected[0])
    assert found.value.dtype == found.error.dtype == np.float64


@pytest.mark.parametrize("shape", SHAPES)
def test_displacement_is_the_sum_over_pairs(shape):
    x = random.normal(size=shape).cumsum(axis=0)
    found = analysis.mean_square_displacement(x, 2)
    close(found.value, msd_of_pairs(x))
    close(found.lag, 2.0 * np.arange(len(x)))
    assert found.value[0] == 0 and found.dimensions == (shape[-1] if len(shape) > 1 else 1)


def test_displacement_of_times_that_are_not_equally_spaced():
    times = np.concatenate([[0], 2.0**np.arange(9), [300, 301.5]]) + 1e5
    x = random.normal(size=(len(times), 12, 3)).cumsum(axis=0)
    found = analysis.mean_square_displacement(x, times=times, blocks=4)
    pairs = {}
    for i in range(len(times)):
        for j in range(i, len(times)):
            pairs.setdefault(round(times[j] - times[i], 3), []).append(((x[j] - x[i])**2).sum(axis=1))
    close(found.lag, sorted(pairs), 1e-9)
    curves = np.array([np.mean(pairs[lag], axis=0) for lag in sorted(pairs)]).T
    close(found.value, curves.mean(axis=0))
    has_errors(found.error, curves.reshape(4, 3, -1).mean(axis=1).std(axis=0, ddof=1) / 2, 4)
    assert np.isnan(analysis.mean_square_displacement(x[:, 0], times=times).error).all()
    free = np.outer(times, [1.0, 2, 2])  # a straight line: exactly (3 lag)^2
    close(analysis.mean_square_displacement(free, times=times).value, 9 * found.lag**2, 1e-7)
    regular = analysis.mean_square_displacement(x, 2.0)  # pairs and transforms give the same result
    by_pairs = analysis.mean_square_displacement(x, times=2.0 * np.arange(len(x)))
    close(by_pairs.value, regular.value, 1e-10)
    close(by_pairs.lag, regular.lag)
    walk = np.random.default_rng(8).normal(size=(2048, 200, 3)).cumsum(axis=0)[np.r_[0, 2**np.arange(11)]]
    fit = analysis.diffusion(analysis.mean_square_displacement(walk, times=np.r_[0, 2.0**np.arange(11)]), 1, 1024)
    assert abs(fit.value - 0.5) < 4 * fit.error < 0.2


@pytest.mark.parametrize("times, error, words", [
    ([0, 1, 1], collet.InvalidError, "times must rise: 1 follows 1"), ([0, 1], collet.ShapeError, "x has 3 frames"),
    ([0, 1, np.nan], collet.InvalidError, "times must rise"), ([0, 2, np.inf], collet.InvalidError, "times must rise")])
def test_times_are_checked(times, error, words):
    with pytest.raises(error, match=words):
        analysis.mean_square_displacement(np.zeros((3, 2, 3)), times=times)


@pytest.mark.parametrize("blocks", [2, 3, 5, 26])
@pytest.mark.parametrize("shape", [(53,), (53, 3), (53, 4, 3)])
def test_errors_are_the_jackknife_over_blocks(blocks, shape):
    x = random.normal(size=shape).cumsum(axis=0)
    length = 53 // blocks
    for normalise in (True, False):
        found = analysis.autocorrelation(x, normalise=normalise, blocks=blocks)
        curves, error = jackknife(x, blocks, lambda c, n=normalise: c / c[0] if n else c)
        has_errors(found.error[:length], error(acf_of_pairs), blocks)
        assert np.isnan(found.error[length:]).all()
        close(found.blocks, [acf_of_pairs(c) for c in curves], 1e-11)
        if not normalise:
            has_errors(found.error[:length], found.blocks.std(axis=0, ddof=1) / blocks**0.5, blocks)
    found = analysis.mean_square_displacement(x, blocks=blocks)
    curves, error = jackknife(x, blocks, lambda c: c)
    has_errors(found.error[:length], error(msd_of_pairs), blocks)
    close(found.blocks, [msd_of_pairs(c) for c in curves], 1e-11)


def test_fewer_frames_than_blocks_have_no_errors():
    for frames in (1, 2, 4):
        x = random.normal(size=(frames, 3))
        assert np.isnan(analysis.autocorrelation(x).error).all()
        assert np.isnan(analysis.mean_square_displacement(x).error).all()
        assert np.isnan(analysis.rotation(x).s2_error)


@pytest.mark.parametrize("convert", [
    lambda x: x.astype("f4"), lambda x: x.astype("i4"), lambda x: x.tolist(), collet.asarray,
    lambda x: np.asfortranarray(x), lambda x: np.repeat(x, 2, axis=0)[::2],
    lambda x: x[::-1].copy()[::-1], lambda x: np.moveaxis(np.moveaxis(x, 0, 2).copy(), 2, 0)])
def test_dtypes_and_views(convert):
    x = np.round(random.normal(size=(30, 5, 3)) * 100)
    before = x.copy()
    given = convert(x)
    close(analysis.autocorrelation(given).value, acf_of_pairs(x) / acf_of_pairs(x)[0])
    close(analysis.mean_square_displacement(given).value, msd_of_pairs(x), 1e-11)
    close(analysis.rotation(given).c1.value, analysis.rotation(x).c1.value)
    close(analysis.statistical_inefficiency(given), analysis.statistical_inefficiency(x))
    assert np.array_equal(x, before) and np.array_equal(np.asarray(given), before)


def test_slabs_of_bodies_add_up():
    """About 17,000 bodies of 40 frames are computed at a time."""
    x = random.normal(size=(40, 30000, 3))

    def analyses(x):
        return (analysis.autocorrelation(x, normalise=False), analysis.mean_square_displacement(x),
                analysis.rotation(x).c2,
                analysis.rotational_mean_square_displacement(x / 9 + [0, 0, 1]))
    for whole, one, two in zip(analyses(x), analyses(x[:, :9000]), analyses(x[:, 9000:])):
        close(whole.value, 0.3 * one.value + 0.7 * two.value)
        close(whole.blocks, 0.3 * one.blocks + 0.7 * two.blocks)
    x[7, 29000, 1] = np.nan
    with pytest.raises(collet.InvalidError, match="nan at frame 7, body 29000, component 1"):
        analysis.autocorrelation(x)


def test_backends_agree():
    x = random.normal(size=(50, 3))
    with collet.using("cpu_scalar"):
        found = analysis.autocorrelation(x)
    close(found.value, analysis.autocorrelation(x).value)


# ---- Closed forms --------------------------------------------------------------------------------


def test_free_particle_moves_as_the_square_of_time():
    frames, velocity = 20000, np.array([0.3, -2, 5])
    x = 1e3 + velocity * np.arange(frames)[:, None] * 0.01
    found = analysis.mean_square_displacement(x, 0.01)
    # Positions are up to 2000, and their rounding errors are 1e-16 times that. The steps are 0.05.
    np.testing.assert_allclose(found.value[1:], velocity @ velocity * found.lag[1:]**2, rtol=1e-10)
    assert found.error[:4000].max() < 1e-8


def test_harmonic_well():
    phases = 2 * np.pi * np.arange(7) / 7
    x = 3 * np.cos(0.11 * np.arange(500)[:, None] + phases)[..., None]
    found = analysis.mean_square_displacement(x)
    close(found.value, 9 * (1 - np.cos(0.11 * found.lag)), 1e-10)
    periodic = analysis.mean_square_displacement(np.tile(x[:50], (20, 1, 1)))
    assert periodic.value.min() == 0 and periodic.value[50::50].max() < 1e-12
    acf = analysis.autocorrelation(x)
    close(acf.value, np.cos(0.11 * acf.lag), 1e-12)
    assert acf.integral_stop == 15  # the first lag beyond a quarter of the period
    close(acf.integral_time, np.cos(0.11 * np.arange(15)).sum() - 0.5)


def test_rigid_rotor():
    angle, cone, lag = 0.2, 0.7, np.arange(20 * 5)
    t = 2 * np.pi * 3 / len(lag) * lag  # three whole turns
    axes = np.stack([np.sin(cone) * np.cos(t), np.sin(cone) * np.sin(t), np.cos(cone) + 0 * t], -1)
    for length in (1, 1e-3, 5e200):
        found = analysis.rotation(length * axes, 0.5)
        c1 = np.cos(cone)**2 + np.sin(cone)**2 * np.cos(t)
        close(found.c1.value, c1)
        close(found.c2.value, 1.5 * c1**2 - 0.5)
        close(found.c1.lag, lag * 0.5)
        close(found.s2, (1.5 * np.cos(cone)**2 - 0.5)**2)
    flat = np.stack([np.cos(angle * lag), np.sin(angle * lag), 0 * lag], axis=-1)
    found = analysis.rotational_mean_square_displacement(flat, 0.1)
    close(found.value, (angle * lag)**2, 1e-10)
    close(analysis.angular_displacement(flat)[:, 2], angle * lag)
    still = analysis.rotation(np.ones((20, 3)))
    close([still.s2, still.c1.value.min(), still.c2.value.min(), still.s2_error], [1, 1, 1, 0])
    assert not analysis.angular_displacement(np.ones((20, 3))).any()


def test_rotational_diffusion_of_an_axis():
    step, frames, count = 0.05, 4000, 40
    axes = np.empty((frames, count, 3))
    axes[0] = random.normal(size=(count, 3))
    axes[0] /= np.linalg.norm(axes[0], axis=1)[:, None]
    for i in range(1, frames):
        axes[i] = axes[i - 1] + step * np.cross(random.normal(size=(count, 3)), axes[i - 1])
        axes[i] /= np.linalg.norm(axes[i], axis=1)[:, None]
    d = step**2 / 2
    msd = analysis.rotational_mean_square_displacement(axes, blocks=10)
    fit = analysis.diffusion(msd, 1, 100)
    assert fit.dimensions == 2 and fit.error < 0.05 * d
    assert abs(fit.value - d) < 4 * fit.error + 0.01 * d  # 0.01 d: steps of 0.05 rad are not small
    found = analysis.rotation(axes, blocks=10)
    for curve, rate in ((found.c1, 2), (found.c2, 6)):
        expected = np.exp(-rate * d * curve.lag[:300])
        wrong = np.abs(curve.value[:300] - expected) - 5 * curve.error[:300]
        assert wrong[::20].max() < 0.01
        assert abs(curve.integral_time * rate * d - 1) < 0.25
    assert found.s2 < 0.1


def autoregressive(frames, rho, count=()):
    x = np.empty((frames, *count))
    x[0] = random.normal(size=count)
    noise = random.normal(size=x.shape) * (1 - rho**2)**0.5
    for i in range(1, frames):
        x[i] = rho * x[i - 1] + noise[i]
    return x


@pytest.mark.parametrize("rho", [0, 0.5, 0.9])
def test_inefficiency_of_a_known_process(rho):
    exact = (1 + rho) / (1 - rho)
    found = [analysis.statistical_inefficiency(autoregressive(20000, rho)) for _ in range(5)]
    assert abs(np.mean(found) / exact - 1) < 0.1
    acf = analysis.autocorrelation(autoregressive(20000, rho, (10, 1)), 0.2, subtract_mean=True)
    assert abs(acf.integral_time / (0.2 * exact / 2) - 1) < 0.1
    short = slice(1, 20)
    assert (np.abs(acf.value - rho**np.arange(20000.))[short] < 6 * acf.error[short] + 1e-3).all()
    assert acf.integral_stop == 0.2 * np.argmax(acf.value <= 0)
    if rho:
        assert 0 < acf.integral_error < 0.2 * acf.integral_time


def inefficiency_of_pairs(x):
    """The statistical inefficiency, as pymbar computes it."""
    d = x - x.mean()
    g, frames = 1.0, len(x)
    for t in range(1, frames - 1):
        c = (d[:frames - t] * d[t:]).sum() / (frames - t) / (d**2).mean()
        if c <= 0 and t > 3:
            break
        g += 2 * c * (1 - t / frames)
    return max(g, 1.0)


@pytest.mark.parametrize("frames", [2, 3, 5, 6, 50, 200])
def test_inefficiency_and_equilibration_as_chodera_defines_them(frames):
    x = autoregressive(frames, 0.7) + 8 * np.exp(-np.arange(frames) / 7)
    close(analysis.statistical_inefficiency(x), inefficiency_of_pairs(x))
    samples = [(frames - t) / inefficiency_of_pairs(x[t:]) if frames - t > 1 else 1
               for t in range(0, frames, -(-frames // 100))]
    found = analysis.equilibration_time(x, 0.5)
    assert found.frame == np.argmax(samples) * -(-frames // 100)
    close([found.time, found.samples], [found.frame * 0.5, max(samples)])
    close(found.inefficiency, (frames - found.frame) / found.samples)


def test_inefficiency_ends_before_the_last_lag():
    for x in random.normal(size=(200, 5)):  # for some series the sum would include lag 4, the last lag
        close(analysis.statistical_inefficiency(x), inefficiency_of_pairs(x))


def test_equilibration_finds_the_end_of_a_relaxation():
    x = random.normal(size=1000)
    assert analysis.equilibration_time(x).frame < 200
    x[:300] += 10
    assert 300 <= analysis.equilibration_time(x).frame <= 340
    x[500:] = 4  # the constant end counts as one sample
    assert analysis.equilibration_time(x).frame < 500


def test_diffusion_of_a_walk():
    x = random.normal(size=(5000, 20, 3)).cumsum(axis=0) * 0.1
    msd = analysis.mean_square_displacement(x, 0.5)
    found = analysis.diffusion(msd)
    exact = 0.1**2 / (2 * 0.5)
    assert abs(found.value - exact) < 4 * found.error and found.error < 0.1 * exact
    assert (found.start, found.stop, found.lags, found.dimensions) == (50, 250, 401, 3)
    line = np.polyfit(msd.lag[100:501], msd.value[100:501], 1)
    close([found.value, found.intercept], [line[0] / 6, line[1]], 1e-9)
    far = analysis.diffusion(msd, 50, 600)
    assert np.isnan(far.error) and far.stop == 600
    exact_line = analysis.MeanSquareDisplacement(msd.lag, 6 * 0.7 * msd.lag + 1, msd.error,
                                                 msd.blocks, 3)
    close([analysis.diffusion(exact_line).value, analysis.diffusion(exact_line, 3, 7).intercept],
          [0.7, 1], 1e-9)


# ---- Refusals ------------------------------------------------------------------------------------

GOOD = random.normal(size=(20, 3))
MASKED = np.ma.masked_array(GOOD, GOOD > 1)


def spoiled(where, value):
    x = random.normal(size=(20, 4, 3))
    x[where] = value
    return x


class WithUnit(np.ndarray):
    unit = "nm"


@pytest.mark.parametrize("function", [
    analysis.autocorrelation, analysis.mean_square_displacement, analysis.rotation,
    analysis.angular_displacement, analysis.rotational_mean_square_displacement,
    analysis.statistical_inefficiency, analysis.equilibration_time])
@pytest.mark.parametrize("x, error, words", [
    (MASKED, TypeError, "masked array"),
    (GOOD.view(WithUnit), TypeError, "unit nm"),
    (GOOD + 1j, collet.DtypeError, "complex128"),
    (GOOD.astype(str), collet.DtypeError, "<U"),
    (spoiled((3, 2, 1), np.nan), collet.InvalidError, "nan at frame 3, body 2, component 1"),
    (spoiled((19, 0, 0), -np.inf), collet.InvalidError, "-inf at frame 19, body 0, component 0"),
    (np.zeros((0, 3)), collet.ShapeError, "0 x 3: there is nothing"),
    (np.zeros((5, 0, 3)), collet.ShapeError, "5 x 0 x 3: there is nothing"),
    (GOOD[:, :2], collet.ShapeError, "20 x 2; it must be frames, frames x 3"),
    (np.zeros((5, 2, 2, 3)), collet.ShapeError, "5 x 2 x 2 x 3; it must be"),
    (3.0, collet.ShapeError, "a scalar; it must be")])
def test_refused_series(function, x, error, words):
    with pytest.raises(error, match=words):
        function(x)


@pytest.mark.parametrize("call, words", [
    (lambda: analysis.autocorrelation([1, 2, np.nan]), "x is nan at frame 2: leave"),
    (lambda: analysis.autocorrelation([0, 0, 0]), r"C\[0\] is 0 .*: x is 0"),
    (lambda: analysis.autocorrelation([.1, .1, .1], subtract_mean=True), "x is constant"),
    (lambda: analysis.autocorrelation([1e200, 1]), "too large for float64"),
    (lambda: analysis.mean_square_displacement([1e200, 1, -1e200]), "too large for float64"),
    (lambda: analysis.autocorrelation(GOOD, 0), "dt is 0; it must be a finite number above 0"),
    (lambda: analysis.autocorrelation(GOOD, float("nan")), "dt is nan"),
    (lambda: analysis.rotation(GOOD, -1), "dt is -1"),
    (lambda: analysis.autocorrelation(GOOD, blocks=1), "blocks is 1; it must be at least 2"),
    (lambda: analysis.equilibration_time(GOOD, candidates=0), "candidates is 0"),
    (lambda: analysis.statistical_inefficiency([2, 2, 2]), "x is constant"),
    (lambda: analysis.statistical_inefficiency([2]), "x is constant"),
    (lambda: analysis.equilibration_time([.1, .1, .1]), "x is constant"),
    (lambda: analysis.diffusion(analysis.mean_square_displacement(GOOD[:3])),
     "0 lags from 1 to 0, and a line needs two: lags go from 0 to 2; choose others"),
    (lambda: analysis.diffusion(analysis.mean_square_displacement(GOOD), 5, 4),
     "0 lags from 5 to 4"),
    (lambda: analysis.rotation(spoiled((3, 2), 0)), "axes have length 0 at frame 3, body 2"),
    (lambda: analysis.angular_displacement([[1, 0, 0], [0, 1, 0], [0, -1, 0]]),
     "by 180 degrees after frame 1, so the direction"),
    (lambda: analysis.rotation(GOOD[:, :1]), "1 component"),
    (lambda: analysis.rotation(np.tile(np.eye(3), (5, 1, 1))), r"give one axis, the column axes\[\.\.\., 0\]"),
    (lambda: analysis.rotation(np.tile(np.eye(3), (5, 2, 1, 1))), r"give one axis, the column axes\[\.\.\., 0\]")])
def test_refused_values(call, words):
    with np.errstate(over="ignore", invalid="ignore"), \
            pytest.raises((collet.InvalidError, collet.ShapeError), match=words):
        call()


def test_constant_series():
    found = analysis.autocorrelation([.1] * 20, normalise=False, subtract_mean=True)
    assert not found.value.any() and np.isnan(found.integral_time)
    assert not analysis.mean_square_displacement([.1] * 20).value.any()
    close(analysis.autocorrelation([.1] * 20).value, np.ones(20))
    assert np.isnan(analysis.autocorrelation([.1] * 20).integral_time)  # C never falls to 0


def test_coarse_axes_warn():
    with pytest.warns(RuntimeWarning, match="more than 90 degrees after frame 1, body 1"):
        analysis.angular_displacement([[[1, 0, 0], [1, 0, 0]], [[1, 0, 0], [1, 0, 0]],
                                       [[1, 0, 0], [-1, .1, 0]]])


def principal_axes_of_turning(angle):
    """Axes that turn by random angles of about `angle` in a step. Signs are chosen as principal_axes chooses them."""
    turns, triangles = np.linalg.qr(np.eye(3) + angle * random.normal(size=(200, 3, 3)))
    turns = turns * np.sign(np.einsum("fii->fi", triangles))[:, None]  # diagonals about 1 for small angles
    frames = [np.eye(3)]
    for turn in turns * np.sign(np.linalg.det(turns))[:, None, None]:
        frames.append(turn @ frames[-1])
    signs = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    for i in range(1, len(frames)):
        dots = (frames[i] * frames[i - 1]).sum(axis=0)
        frames[i] = frames[i] * signs[np.argmax(signs @ dots)]
    return np.array(frames)


@pytest.mark.filterwarnings("ignore:.*more than 90 degrees:RuntimeWarning")
def test_guessed_signs_of_axes_warn():
    wild, calm = principal_axes_of_turning(3), principal_axes_of_turning(0.1)
    for axes in (wild[..., 0], np.stack([wild, calm], axis=1)[..., 0]):
        for function in (analysis.rotation, analysis.rotational_mean_square_displacement):
            with pytest.warns(UserWarning, match="% of the steps.* the turns are ambiguous") as found:
                function(axes)
            assert found[-1].filename == __file__
    with pytest.warns(UserWarning, match="rotational_diffusion_tensor: .*so is this tensor"):
        analysis.rotational_diffusion_tensor(wild, 1, 0, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        analysis.rotation(calm[..., 0])
        analysis.rotational_mean_square_displacement(calm[..., 0])
        analysis.rotational_diffusion_tensor(calm)


def test_module_is_an_attribute_of_md():
    assert collet.md.analysis is analysis and "analysis" in dir(collet.md)

# SPDX-License-Identifier: Apache-2.0
"""small.py [--large | --products] [--cpu] [--repeat N] [NAME ...]: times everyday statements in collet and in NumPy,
alternately, in one run, with 5, 100 and 1,000 elements, or with --large 100,000 and 1,000,000 elements. With
--products: products of f32 and f64 matrices, with pauses until OpenBLAS's threads have stopped spinning. Prints for each statement the
median of collet's time divided by NumPy's, and the median of collet's time; then the geometric mean and the largest of
the ratios. A time includes the computation of lazy results. --cpu is for a busy machine: it prints the least processor
times instead of medians. Set COLLET_NUM_THREADS=1 for it."""

import argparse
import math
import statistics
import time
import timeit

import numpy as np

import collet

SIZES = 5, 100, 1000
LARGE = 100000, 1000000
DTYPES = "f4", "f8"
SHAPES = (*((n, n, n) for n in (64, 96, 128, 192, 256, 384, 500, 512, 768, 1000, 1024, 1536, 2048, 3000)),
          (2000, 2000, 16), (2000, 16, 2000), (16, 2000, 2000), (4096, 64, 4096), (4096, 4096, 64), (64, 4096, 4096),
          (10000, 100, 100), (100, 10000, 100), (100, 100, 10000), (100000, 32, 32), (32, 32, 100000), (512, 512, 2048),
          (2048, 512, 512), (512, 2048, 512), (1023, 1025, 1027), (333, 777, 555), (8192, 256, 256), (256, 8192, 256))
PAUSE = 0.2  # seconds: OpenBLAS's threads spin for 0.1 s


def cases(xp, asarray, n):
    """name: function of no arguments."""
    host = np.random.default_rng(n).normal(size=n)
    x, y = asarray(host), asarray(host[::-1].copy())
    side = max(int(math.sqrt(n)), 2)
    m = asarray(np.random.default_rng(1).normal(size=(side, side)))
    i, mask, ints = asarray(np.arange(n)[::-1].copy()), x > 0, asarray(np.arange(n) % 7)
    listed, source, middle = host.tolist(), host.copy(), n // 2
    signal, sequence = asarray(host[:5].copy()), asarray(np.sort(host))
    concat = xp.concat if xp is collet else np.concatenate

    def put(key, value):
        def store():
            x[key] = value
        return store

    return {
        "x[i]": lambda: x[middle], "x[i]=0": put(middle, 0.0), "x[1:]": lambda: x[1:], "m[1]": lambda: m[1],
        "x[mask]": lambda: x[mask], "x[mask]=0": put(mask, 0.0), "x[indices]": lambda: x[i], "iteration": lambda: list(x),
        "asarray(list)": lambda: xp.asarray(listed), "asarray(ndarray)": lambda: xp.asarray(source) if xp is collet else source.copy(),
        "np.asarray(x)": lambda: np.asarray(x), "to_numpy": lambda: x.to_numpy() if xp is collet else x.copy(),
        "concat": lambda: concat([x, y]), "stack": lambda: xp.stack([x, y]), "einsum": lambda: xp.einsum("i,i->", x, y),
        "interp": lambda: xp.interp(x, sequence, y), "median": lambda: xp.median(x), "nonzero": lambda: xp.nonzero(x),
        "take": lambda: xp.take(x, i), "repeat": lambda: xp.repeat(x, 2), "cumulative_sum": lambda: xp.cumulative_sum(x) if xp is collet else xp.cumsum(x),
        "count_nonzero": lambda: xp.count_nonzero(x), "vecdot": lambda: xp.vecdot(x, y) if hasattr(xp, "vecdot") else xp.dot(x, y),
        "zeros": lambda: xp.zeros(n), "ones": lambda: xp.ones(n), "empty": lambda: xp.empty(n), "full": lambda: xp.full(n, 2.5),
        "arange": lambda: xp.arange(n), "eye": lambda: xp.eye(side), "linspace": lambda: xp.linspace(0.0, 1.0, n),
        "astype": lambda: x.astype("f4"), "copy": lambda: x.copy(), "sort": lambda: xp.sort(x), "argsort": lambda: xp.argsort(x),
        "sort(kind)": lambda: np.sort(x, kind="stable"), "argsort(kind)": lambda: np.argsort(x, kind="stable"),
        "sort(axis=None)": lambda: np.sort(m, axis=None), "argsort(axis=None)": lambda: np.argsort(m, axis=None),
        "unique": lambda: xp.unique_values(ints) if xp is collet else np.unique(ints), "np.unique": lambda: np.unique(ints),
        "unique(inverse)": lambda: np.unique(ints, return_inverse=True), "unique(counts)": lambda: np.unique(ints, return_counts=True),
        "unique(index)": lambda: np.unique(ints, return_index=True), "lexsort": lambda: np.lexsort((ints, x)),
        "insert": lambda: np.insert(x, 2, 1.0), "unravel_index": lambda: np.unravel_index(ints, (3, 3)),
        "polyfit": lambda: np.polyfit(x, y, 2), "block": lambda: np.block([[m, m], [m, m]]),
        "sum(where)": lambda: np.sum(x, where=mask), "mean(dtype)": lambda: np.mean(x, dtype="f4"), "fft": lambda: xp.fft.fft(x),
        "where": lambda: xp.where(mask, x, y), "tril": lambda: xp.tril(m), "cov": lambda: xp.cov(m), "convolve": lambda: xp.convolve(x, signal),
        "gradient": lambda: xp.gradient(x), "roll": lambda: xp.roll(x, 1), "tile": lambda: xp.tile(x, 2), "outer": lambda: xp.outer(signal, x),
        "trace": lambda: xp.linalg.trace(m) if xp is collet else np.trace(m), "clip": lambda: xp.clip(x, -1.0, 1.0),
        "norm": lambda: xp.linalg.norm(x), "matrix norm": lambda: xp.linalg.norm(m), "add": lambda: x + y, "exp": lambda: xp.exp(x),
        "sum": lambda: x.sum(), "mean(axis)": lambda: xp.mean(m, axis=0), "matmul": lambda: m @ m, "reshape": lambda: m.reshape(-1),
        "any(x>0)": lambda: xp.any(x > 0), "argmax": lambda: xp.argmax(x), "isin": lambda: xp.isin(ints, ints[:3]),
        "diff": lambda: xp.diff(x), "flip": lambda: xp.flip(x), "solve": lambda: xp.linalg.solve(m, m), "std": lambda: xp.std(x),
    }


def large(xp, asarray, n):
    """Like `cases`, for arrays with many elements."""
    draw = np.random.default_rng(n)
    host, side = draw.normal(size=n), int(math.sqrt(n))
    x, y, ordered = asarray(host), asarray(draw.normal(size=n)), asarray(np.sort(host))
    gaps = host.copy()
    gaps[::1000] = np.nan
    gaps = asarray(gaps)
    m, pairs = asarray(host[:side * side].reshape(side, side).copy()), asarray(draw.normal(size=(n // 4, 4)))
    ints, small, few = (asarray(v) for v in (draw.integers(-1000, 1000, n), draw.integers(0, 1000, n), draw.integers(0, 1000, 20)))
    i, divisors, bytes_ = asarray(draw.integers(0, n, n)), asarray(draw.integers(1, 100, n)), asarray(draw.integers(0, 255, n).astype("u1"))
    narrow, mask, rows = asarray(draw.integers(-1000, 1000, n).astype("i4")), x > 0, asarray(draw.integers(0, 9, (side, side)))
    u4, f4 = narrow.astype("u4"), x.astype("f4")
    return {
        "nonzero": lambda: xp.nonzero(x), "nonzero(mask)": lambda: xp.nonzero(mask), "argwhere": lambda: xp.argwhere(m > 1),
        "i8 // 7": lambda: ints // 7, "i4 // 7": lambda: narrow // 7, "u4 // 7": lambda: u4 // 7, "u1 // 7": lambda: bytes_ // 7,
        "i8 // i8": lambda: ints // divisors, "i8 % 7": lambda: ints % 7, "i4 % 7": lambda: narrow % 7, "i8 % i8": lambda: ints % divisors,
        "x // 0.3": lambda: x // 0.3, "x % 0.3": lambda: x % 0.3,
        "take": lambda: xp.take(x, i), "x[indices]": lambda: x[i], "x[mask]": lambda: x[mask], "sort": lambda: xp.sort(x),
        "sort f4": lambda: xp.sort(f4), "sort i8": lambda: xp.sort(ints), "sort i4": lambda: xp.sort(narrow), "argsort": lambda: xp.argsort(x),
        "sort rows": lambda: xp.sort(m, axis=-1), "sort(axis=0)": lambda: xp.sort(m, axis=0),
        "argmax": lambda: xp.argmax(x), "argmax i8": lambda: xp.argmax(ints), "argmax f4": lambda: xp.argmax(f4),
        "argmax(axis=0)": lambda: xp.argmax(m, axis=0), "argmax(axis=1)": lambda: xp.argmax(m, axis=1), "argmin": lambda: xp.argmin(x),
        "any(x > 4)": lambda: xp.any(x > 4), "any(x > 9)": lambda: xp.any(x > 9), "all(x > -9)": lambda: xp.all(x > -9),
        "u1 >> 2": lambda: bytes_ >> 2, "u1 << 2": lambda: bytes_ << 2, "i8 >> 2": lambda: ints >> 2, "i8 & 3": lambda: ints & 3,
        "m[:, 0] + 1": lambda: m[:, 0] + 1, "pairs[:, 0] + 1": lambda: pairs[:, 0] + 1, "x[::2] + 1": lambda: x[::2] + 1,
        "m[:, ::2].sum()": lambda: m[:, ::2].sum(), "x[::-1] + 1": lambda: x[::-1] + 1, "m.T + m": lambda: m.T + m,
        "bincount": lambda: xp.bincount(small), "histogram": lambda: xp.histogram(x, 50)[0], "isin": lambda: xp.isin(small, few),
        "isin wide": lambda: xp.isin(i, small), "unique": lambda: xp.unique(small) if xp is np else xp.unique_values(small),
        "searchsorted": lambda: xp.searchsorted(ordered, x), "gradient": lambda: xp.gradient(x), "diff": lambda: xp.diff(x),
        "isnan(i8)": lambda: xp.isnan(ints), "isfinite(i8)": lambda: xp.isfinite(ints), "isnan": lambda: xp.isnan(x),
        "i8 to i4": lambda: ints.astype("i4"), "i8 to i1": lambda: ints.astype("i1"), "i8 to u1": lambda: ints.astype("u1"),
        "i4 to i2": lambda: narrow.astype("i2"), "i4 to u1": lambda: narrow.astype("u1"), "i4 to i8": lambda: narrow.astype("i8"),
        "u1 to f4": lambda: bytes_.astype("f4"), "f8 to i4": lambda: x.astype("i4"), "f8 to u1": lambda: asarray_u1(x), "f8 to f4": lambda: x.astype("f4"),
        "nanmax": lambda: xp.nanmax(x), "nanmax gaps": lambda: xp.nanmax(gaps), "nansum": lambda: xp.nansum(gaps), "nanmean": lambda: xp.nanmean(gaps),
        "nanargmax": lambda: xp.nanargmax(gaps), "nan_to_num": lambda: xp.nan_to_num(gaps), "nanmax(axis=0)": lambda: xp.nanmax(m, axis=0),
        "i8 sum rows": lambda: xp.sum(rows, axis=0), "i8 sum columns": lambda: xp.sum(rows, axis=1), "i4 sum": lambda: xp.sum(narrow),
        "i8 sum": lambda: xp.sum(ints), "u1 sum": lambda: xp.sum(bytes_), "bool sum": lambda: xp.sum(mask), "i8 mean": lambda: xp.mean(ints),
        "i8 max": lambda: xp.max(ints), "i8 max rows": lambda: xp.max(rows, axis=0), "u1 max": lambda: xp.max(bytes_),
        "median": lambda: xp.median(x), "median rows": lambda: xp.median(m, axis=1), "percentile": lambda: xp.percentile(x, 30),
        "partition": lambda: xp.partition(x, n // 2), "clip": lambda: xp.clip(x, -1, 1), "clip i8": lambda: xp.clip(ints, -9, 9),
        "clip u1": lambda: xp.clip(bytes_, 9, 99), "where": lambda: xp.where(mask, x, y), "where(x > 0, x, 0)": lambda: xp.where(x > 0, x, 0),
        "x + y": lambda: x + y, "x * 2 + 1": lambda: x * 2 + 1, "exp": lambda: xp.exp(x), "sqrt": lambda: xp.sqrt(xp.abs(x)), "x ** 2": lambda: x**2,
        "sum": lambda: x.sum(), "sum rows": lambda: m.sum(axis=0), "sum columns": lambda: m.sum(axis=1), "std": lambda: xp.std(x),
        "max": lambda: x.max(), "x == y": lambda: x == y, "count_nonzero": lambda: xp.count_nonzero(mask),
        "cumsum": lambda: x.cumsum(), "i8 cumsum": lambda: ints.cumsum(), "concat": lambda: xp.stack([x, y]), "copy": lambda: x.copy(),
        "zeros": lambda: xp.zeros(n), "ones": lambda: xp.ones(n), "arange": lambda: xp.arange(n), "repeat": lambda: xp.repeat(x, 2),
        "flip": lambda: xp.flip(x), "roll": lambda: xp.roll(x, 3), "m.T.copy()": lambda: m.T.copy(), "interp": lambda: xp.interp(y, ordered, x),
    }


def products(_xp, asarray, dtype):
    """Products of M x K and K x N, by their shapes MxKxN."""
    def case(m, k, n):
        a, b = (asarray(np.random.default_rng(1).normal(size=shape).astype(dtype)) for shape in ((m, k), (k, n)))
        return lambda: a @ b

    return {"x".join(map(str, shape)): case(*shape) for shape in SHAPES}


def asarray_u1(x):
    return abs(x).astype("u1")


def seconds(functions, repeat, clock, pause=0.0):
    """The ratio of the two functions' times, which are measured alternately, and the first function's time. A turn
    begins after a pause."""
    timers, numbers = [], []
    for function, wait in functions:
        timers.append(timeit.Timer(lambda function=function, wait=wait: wait(function()), timer=clock))
        number = 1
        while timers[-1].timeit(number) < (5e-2 if pause else 5e-3):
            number *= 2
        numbers.append(number)
    rounds = [[(time.sleep(pause), t.timeit(n) / n)[1] for t, n in zip(timers, numbers)] for _ in range(repeat)]
    if clock is time.process_time:
        ours, theirs = map(min, zip(*rounds))
        return ours / theirs, ours
    return statistics.median(a / b for a, b in rounds), statistics.median(a for a, _ in rounds)


def waiting(value):
    """Computes the elements of an Array that is not computed yet."""
    value._place()


def wait_for(function):
    """Returns `waiting` if the function returns lazy Arrays. Otherwise returns `ignoring`, so that functions of Collet
    and of NumPy are timed with the same overhead, one empty Python call. Tries several times, because the first results
    of a process may be lazy although later results are not."""
    for _ in range(3):
        value = function()
        waiting_now = isinstance(value, collet.Array) and collet._core.is_pending(value)
        if waiting_now:
            waiting(value)
    return waiting if waiting_now else ignoring


def ignoring(value):
    pass


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--large", action="store_true")
    which.add_argument("--products", action="store_true")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--repeat", type=int, default=9)
    options = parser.parse_args()
    clock = time.process_time if options.cpu else time.perf_counter
    np.seterr(all="ignore")
    print("collet's time / NumPy's, and collet's in us:", collet.__version__, "NumPy", np.__version__)
    made, sizes = (large, LARGE) if options.large else (products, DTYPES) if options.products else (cases, SIZES)
    columns = [(made(collet, collet.asarray, n), made(np, np.asarray, n)) for n in sizes]
    ratios = {n: [] for n in sizes}
    for name in options.names or columns[0][0]:
        texts = []
        for n, (ours, theirs) in zip(sizes, columns):
            ratio, mine = seconds([(ours[name], wait_for(ours[name])), (theirs[name], ignoring)], options.repeat, clock,
                                  PAUSE if options.products else 0.0)
            ratios[n].append((ratio, name))
            texts.append(f"{ratio:8.2f} {1e6 * mine:9.2f}")
        print(f"{name:18}" + "".join(texts), flush=True)
    limit = 1.03 if options.products else 1.1 if options.large else 2
    for n in sizes:
        values = [r for r, _ in ratios[n]]
        print(f"{n:>7}{'' if options.products else ' elements'}: geometric mean {math.exp(sum(map(math.log, values)) / len(values)):.2f}, "
              f"above {limit}: {sum(v > limit for v in values)} of {len(values)}, worst {max(ratios[n])[1]} {max(values):.1f}")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""small.py [--repeat N] [NAME ...]: the times of functions of small Arrays, at 5, 100 and 1,000 elements, beside NumPy's
in one run: collet's time / NumPy's, the geometric means, and the worst. Each result is waited for."""

import argparse
import math
import timeit

import numpy as np

import collet

SIZES = 5, 100, 1000


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
        "unique": lambda: xp.unique_values(ints) if xp is collet else np.unique(ints), "fft": lambda: xp.fft.fft(x),
        "where": lambda: xp.where(mask, x, y), "tril": lambda: xp.tril(m), "cov": lambda: xp.cov(m), "convolve": lambda: xp.convolve(x, signal),
        "gradient": lambda: xp.gradient(x), "roll": lambda: xp.roll(x, 1), "tile": lambda: xp.tile(x, 2), "outer": lambda: xp.outer(signal, x),
        "trace": lambda: xp.linalg.trace(m) if xp is collet else np.trace(m), "clip": lambda: xp.clip(x, -1.0, 1.0),
        "norm": lambda: xp.linalg.norm(x), "matrix norm": lambda: xp.linalg.norm(m), "add": lambda: x + y, "exp": lambda: xp.exp(x),
        "sum": lambda: x.sum(), "mean(axis)": lambda: xp.mean(m, axis=0), "matmul": lambda: m @ m, "reshape": lambda: m.reshape(-1),
        "any(x>0)": lambda: xp.any(x > 0), "argmax": lambda: xp.argmax(x), "isin": lambda: xp.isin(ints, ints[:3]),
        "diff": lambda: xp.diff(x), "flip": lambda: xp.flip(x), "solve": lambda: xp.linalg.solve(m, m), "std": lambda: xp.std(x),
    }


def seconds(function, wait, repeat):
    """The smallest time of a call."""
    def run():
        wait(function())

    number, taken = 1, 0.0
    while taken < 2e-3:
        number *= 2
        taken = timeit.timeit(run, number=number)
    return min(timeit.repeat(run, number=number, repeat=repeat)) / number


def waiting(value):
    """Computes what waits."""
    if collet._core.is_pending(value):
        value._place()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--repeat", type=int, default=9)
    options = parser.parse_args()
    print("collet's time / NumPy's, and collet's in us:", collet.__version__, "NumPy", np.__version__)
    columns = [(cases(collet, collet.asarray, n), cases(np, np.asarray, n)) for n in SIZES]
    ratios = {n: [] for n in SIZES}
    wait = lambda value: waiting(value) if isinstance(value, collet.Array) else None
    for name in options.names or columns[0][0]:
        texts = []
        for n, (ours, theirs) in zip(SIZES, columns):
            mine = seconds(ours[name], wait, options.repeat)
            other = seconds(theirs[name], lambda value: None, options.repeat)
            ratios[n].append((mine / other, name))
            texts.append(f"{mine / other:8.2f} {1e6 * mine:9.2f}")
        print(f"{name:18}" + "".join(texts), flush=True)
    for n in SIZES:
        values = [r for r, _ in ratios[n]]
        print(f"{n:5} elements: geometric mean {math.exp(sum(map(math.log, values)) / len(values)):.2f}, "
              f"above 2: {sum(v > 2 for v in values)} of {len(values)}, worst {max(ratios[n])[1]} {max(values):.1f}")


if __name__ == "__main__":
    main()

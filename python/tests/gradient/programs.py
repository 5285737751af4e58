# SPDX-License-Identifier: Apache-2.0
"""Random differentiable functions of two arrays, for any namespace of the array API standard."""

import numpy as np

INDEX = np.array([1, 0, 1])
MASK = np.array([True, False, True])


def scaled(xp, x):
    """Bounds the values, so that nested functions stay finite."""
    return x / (1 + xp.mean(x * x))


def matrix(xp, x):
    """A symmetric, positive definite matrix."""
    x = x.reshape(1, -1) if x.ndim < 2 else x.reshape(x.shape[0], -1)
    return x @ x.T + 3.0 * xp.eye(x.shape[0]) + np.diag(np.arange(x.shape[0]) / 2)


UNARY = {
    "sin": lambda xp, a: xp.sin(a), "cos": lambda xp, a: xp.cos(a),
    "tan": lambda xp, a: xp.tan(0.3 * xp.sin(a)),
    "exp": lambda xp, a: xp.exp(xp.sin(a)), "log": lambda xp, a: xp.log(a * a + 1),
    "log1p": lambda xp, a: xp.log1p(a * a),
    "sqrt": lambda xp, a: xp.sqrt(a * a + 0.5), "tanh": lambda xp, a: xp.tanh(a),
    "sinh": lambda xp, a: xp.sinh(xp.sin(a)),
    "asinh": lambda xp, a: xp.asinh(a), "atan": lambda xp, a: xp.atan(a),
    "acos": lambda xp, a: xp.acos(0.7 * xp.sin(a)),
    "expm1": lambda xp, a: xp.expm1(xp.cos(a)), "square": lambda xp, a: xp.square(a),
    "abs": lambda xp, a: xp.abs(a),
    "reciprocal": lambda xp, a: xp.reciprocal(1 + a * a), "power": lambda xp, a: (a * a + 1) ** -1.5,
    "cube": lambda xp, a: a**3,
    "clip": lambda xp, a: xp.clip(a, -0.4, 0.6), "sign": lambda xp, a: xp.sign(a) * a,
    "floor": lambda xp, a: xp.floor(a) + a,
    "log2": lambda xp, a: xp.log2(2 + a * a), "log10": lambda xp, a: xp.log10(2 + a * a),
    "cosh": lambda xp, a: xp.cosh(xp.sin(a)),
    "flip": lambda xp, a: xp.flip(a), "reverse": lambda xp, a: a[::-1], "first": lambda xp, a: a[:1] + a,
    "select": lambda xp, a: a[INDEX % a.shape[0]],
    "mask": lambda xp, a: a[MASK[:a.shape[0]]] if a.shape[0] == 3 else a,
    "positive": lambda xp, a: xp.where(a > 0, a, 0.1 * a),
    "new axis": lambda xp, a: (a[None] * a[:, None]).sum(1) if a.ndim < 3 else a,
    "sum": lambda xp, a: xp.sum(a, axis=0, keepdims=True) + a,
    "mean": lambda xp, a: a - xp.mean(a, axis=-1, keepdims=True),
    "max": lambda xp, a: a - xp.max(a), "min": lambda xp, a: a * xp.min(a, axis=0),
    "std": lambda xp, a: a / (0.5 + xp.std(a)),
    "var": lambda xp, a: a + xp.var(a, axis=-1, keepdims=True),
    "prod": lambda xp, a: a + xp.prod(1 + 0.3 * a, axis=0),
    "sort": lambda xp, a: xp.sort(a, axis=0),
    "order": lambda xp, a: xp.take(a, xp.argsort(a.reshape(-1))[:2] % a.shape[0], axis=0),
    "cumulative": lambda xp, a: xp.cumulative_sum(a, axis=0),
    "products": lambda xp, a: xp.cumulative_prod(1 + 0.2 * a, axis=-1),
    "roll": lambda xp, a: xp.roll(a, 1) * a, "transpose": lambda xp, a: a.T,
    "flat": lambda xp, a: a.reshape(-1)[:12],
    "tile": lambda xp, a: xp.tile(a, 2)[..., :a.shape[-1]], "repeat": lambda xp, a: xp.repeat(a, 2)[:8],
    "diff": lambda xp, a: xp.diff(xp.concat([a, a[:1]], axis=0), axis=0),
    "tril": lambda xp, a: xp.tril(a) if a.ndim > 1 else a,
    "softmax": lambda xp, a: xp.exp(a) / xp.sum(xp.exp(a), axis=-1, keepdims=True),
    "median": lambda xp, a: a - xp.median(a),
    "inverse": lambda xp, a: xp.linalg.inv(matrix(xp, a)),
    "cholesky": lambda xp, a: xp.linalg.cholesky(matrix(xp, a)),
    "slogdet": lambda xp, a: a * xp.linalg.slogdet(matrix(xp, a)).logabsdet,
    "eigvalsh": lambda xp, a: xp.linalg.eigvalsh(matrix(xp, a)),
    "det": lambda xp, a: a / (1 + xp.linalg.det(matrix(xp, scaled(xp, a)))),
    "norm": lambda xp, a: a / (0.1 + xp.linalg.norm(a)),
    "singular": lambda xp, a: xp.linalg.svd(matrix(xp, a), compute_uv=False),
    "fft": lambda xp, a: xp.abs(xp.fft.fft(a)) ** 2 / 9,
    "rfft": lambda xp, a: xp.fft.irfft(xp.fft.rfft(a) * (1 + 0.5j), a.shape[-1]),
    "pad": lambda xp, a: xp.pad(a, 1),
    "outer": lambda xp, a: xp.linalg.outer(a.reshape(-1)[:3], a.reshape(-1)[:4]),
    "trace": lambda xp, a: a + xp.trace(matrix(xp, a)),
}
BINARY = {
    "add": lambda xp, a, b: a + b, "subtract": lambda xp, a, b: a - b, "multiply": lambda xp, a, b: a * b,
    "divide": lambda xp, a, b: a / (1 + b * b), "maximum": lambda xp, a, b: xp.maximum(a, b),
    "minimum": lambda xp, a, b: xp.minimum(a, 2 * b), "atan2": lambda xp, a, b: xp.atan2(a, 2 + b * b),
    "hypot": lambda xp, a, b: xp.hypot(a, b), "logaddexp": lambda xp, a, b: xp.logaddexp(a, b),
    "where": lambda xp, a, b: xp.where(a < b, a * b, a - 0.5 * b), "power": lambda xp, a, b: (1 + a * a) ** b,
    "copysign": lambda xp, a, b: xp.copysign(a, b), "remainder": lambda xp, a, b: xp.remainder(a, 1 + b * b),
}
PRODUCTS = {
    "matmul": lambda xp, a, b: a @ b.T, "einsum": lambda xp, a, b: xp.einsum("...i,...i->...", a, b),
    "stack": lambda xp, a, b: xp.stack([a, b], axis=-1)[..., 1] + b,
    "concat": lambda xp, a, b: xp.concat([a.reshape(-1), b.reshape(-1)]),
    "tensordot": lambda xp, a, b: xp.tensordot(a, b.T, axes=1),
    "vecdot": lambda xp, a, b: xp.sum(a * b, axis=-1, keepdims=True) + a,
    "solve": lambda xp, a, b: xp.linalg.solve(matrix(xp, a), a.reshape(a.shape[0], -1) if a.ndim > 1 else a[:1, None]),
}


def broadcast(*shapes):
    """Whether the shapes can be broadcast."""
    try:
        return bool(np.broadcast_shapes(*shapes)) or True
    except ValueError:
        return False


def program(seed, steps=5):
    """Makes a random program whose steps use earlier results. Returns (text, function of (namespace, x,
    y))."""
    generator = np.random.default_rng(seed)
    chosen = []
    for i in range(steps):
        table = (UNARY, BINARY, PRODUCTS)[generator.choice(3, p=(0.55, 0.25, 0.2))]
        chosen.append((table, str(generator.choice(list(table))), *generator.integers(0, i + 2, 2).tolist()))

    def function(xp, x, y):
        values = [x, y]
        for table, name, i, j in chosen:
            a, b = values[i], values[j]
            if a.shape != b.shape and (table is PRODUCTS or not broadcast(a.shape, b.shape)):
                b = a
            made = table[name](xp, a) if table is UNARY else table[name](xp, a, b)
            values.append(scaled(xp, made if made.ndim else made.reshape(1)))
        weights = [np.cos(np.arange(1.0, v.size + 1)).reshape(v.shape) for v in values]
        return sum(xp.sum(v * w) for v, w in zip(values, weights))

    return "; ".join(f"{name}({i}, {j})" for _, name, i, j in chosen), function


def inputs(seed):
    generator = np.random.default_rng([1, seed])
    return generator.uniform(-1.2, 1.3, (3, 4)), generator.uniform(-1.2, 1.3, 4)

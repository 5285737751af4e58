#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collet's expressions, and its sorting and indexing, next to NumPy, numexpr, numba, JAX, torch.compile
and a C loop with OpenMP, in turn, in one run.

    expressions.py [--threads 2] [--scale 1] [--python build/python] [options of others.py] [NAME...]

Each library has a process of its own, and all may use as many processors. Results are compared.
others.py measures, and describes its options and its table; without --busy no other program keeps the
processors busy. --scale divides the sizes, for a quick run. NAME limits the rows to those that contain it. A row
"copy ..." or "sum ..." is the limit of memory for the row below: it moves, or reads, as many bytes.
"""

import ctypes
import itertools
import os
import re
import subprocess
import sys
import tempfile

import others
from others import kind

SCALE = int(os.environ.get("EXPRESSIONS_SCALE", "1"))
M = (1 << 20) // SCALE  # elements
R = M                   # rows of short ones
BODIES = 1000

# The equation of state of pyhpc-benchmarks (github.com/dionhaefner/pyhpc-benchmarks): the derivative by
# temperature of dynamic enthalpy, by the 48-term expression for density of TEOS-10 (IOC et al., 2010;
# coefficients of T. J. McDougall et al.). The specific volume is (a0 + a1 p + a2 p^2 + a3 p^3) /
# (b0 + 2 b1 p + b2 p^2) with polynomials of salinity s and temperature t; dynamic enthalpy is its
# integral over p. _t: a derivative by temperature.
SEAWATER = """
r = sqrt(s)
b0 = 9.998420897506056e2 + t*(2.839940833161907 + t*(-3.147759265588511e-2 + 1.181805545074306e-3*t)) + s*(-6.698001071123802 + t*(-2.986498947203215e-2 + 2.327859407479162e-4*t) + r*(-3.988822378968490e-2 + t*(5.095422573880500e-4 + t*(-1.426984671633621e-5 + 1.645039373682922e-7*t))))
b0_t = 2.839940833161907 + t*(2*-3.147759265588511e-2 + 3*1.181805545074306e-3*t) + s*(-2.986498947203215e-2 + 2*2.327859407479162e-4*t + r*(5.095422573880500e-4 + t*(2*-1.426984671633621e-5 + 3*1.645039373682922e-7*t)))
b1 = 0.5*(-2.233269627352527e-2 + t*(-3.436090079851880e-4 + 3.726050720345733e-6*t) + s*(-1.806789763745328e-4 + 6.876837219536232e-7*t))
b1_t = 0.5*(-3.436090079851880e-4 + 2*3.726050720345733e-6*t + s*6.876837219536232e-7)
b2 = -3.087032500374211e-7 + t*(-1.988366587925593e-8 + -1.061519070296458e-11*t) + 1.550932729220080e-10*s
b2_t = -1.988366587925593e-8 + 2*-1.061519070296458e-11*t
a0 = 1 + t*(2.775927747785646e-3 + t*(-2.349607444135925e-5 + t*(1.119513357486743e-6 + 6.743689325042773e-10*t))) + s*(-7.521448093615448e-3 + t*(-2.764306979894411e-5 + t*(1.262937315098546e-7 + t*(9.527875081696435e-10 + -1.811147201949891e-11*t))) + 5.419326551148740e-6*s + r*(-3.303308871386421e-5 + t*(3.801564588876298e-7 + t*(-7.672876869259043e-9 + t*(-4.634182341116144e-11 + 2.681097235569143e-12*t)))))
a0_t = 2.775927747785646e-3 + t*(2*-2.349607444135925e-5 + t*(3*1.119513357486743e-6 + 4*6.743689325042773e-10*t)) + s*(-2.764306979894411e-5 + t*(2*1.262937315098546e-7 + t*(3*9.527875081696435e-10 + 4*-1.811147201949891e-11*t)) + r*(3.801564588876298e-7 + t*(2*-7.672876869259043e-9 + t*(3*-4.634182341116144e-11 + 4*2.681097235569143e-12*t))))
a1 = -2.742185394906099e-5 + t*(-3.212746477974189e-7 + t*(3.191413910561627e-9 + -1.931012931541776e-12*t)) + s*(-1.105097577149576e-7 + 6.211426728363857e-10*t)
a1_t = -3.212746477974189e-7 + t*(2*3.191413910561627e-9 + 3*-1.931012931541776e-12*t) + s*6.211426728363857e-10
a2 = -1.119011592875110e-10 + t*(-1.941660213148725e-11 + -1.864826425365600e-14*t + 1.119522344879478e-14*s)
a2_t = -1.941660213148725e-11 + 2*-1.864826425365600e-14*t + 1.119522344879478e-14*s
a3 = -1.200507748551599e-15 + 6.057902487546866e-17*t
i0 = 1/b0
i2 = 1/b2
q1 = a3*i2
q1_t = (6.057902487546866e-17 - q1*b2_t)*i2
q0 = (a2 - 2*q1*b1)*i2
q0_t = (a2_t - 2*(q1_t*b1 + q1*b1_t) - q0*b2_t)*i2
g1 = 0.5*(a1 - q1*b0 - 2*q0*b1)*i2
g1_t = (0.5*(a1_t - q1_t*b0 - q1*b0_t) - (q0_t*b1 + q0*b1_t) - g1*b2_t)*i2
root = sqrt(b1*b1 - b0*b2)
ir = 1/root
root_t = (b1*b1_t - 0.5*(b0_t*b2 + b0*b2_t))*ir
g2 = (0.5*(a0 - q0*b0) - g1*b1)*ir
g2_t = (0.5*(a0_t - q0_t*b0 - q0*b0_t) - (g1_t*b1 + g1*b1_t) - g2*root_t)*ir
x1 = p*(2*b1 + b2*p)*i0
l1_t = (p*(2*b1_t + b2_t*p) - x1*b0_t)*i0/(1 + x1)
im = 1/(b1 - root)
ip = 1/(b1 + root + b2*p)
x2 = 2*p*b2*root*im*ip
l2_t = x2/(1 + x2)*(b2_t*i2 + root_t*ir - (b1_t - root_t)*im - (b1_t + root_t + b2_t*p)*ip)
1e4*(p*(q0_t + 0.5*q1_t*p) + g1_t*log(1 + x1) + g1*l1_t + g2_t*log(1 + x2) + g2*l2_t)
"""

# Accelerations in the field of all bodies: x y z m along the last axis, u v w the same along the first.
NBODY = """
dx = x - u
dy = y - v
dz = z - w
rr = dx*dx + dy*dy + dz*dz + 0.01
f = m/(rr*sqrt(rr))
sum(dx*f, axis=1); sum(dy*f, axis=1); sum(dz*f, axis=1)
"""


def ocean():
    """The shapes of pyhpc-benchmarks."""
    edge = (4 * M) ** (1 / 3)
    shape = (int(2 * edge) + 1, int(2 * edge) + 1, int(0.25 * edge) + 1)
    return {"s": (shape, "f64", 0.01, 10), "t": (shape, "f64", -12, 20),
            "p": ((1, 1, shape[-1]), "f64", 0, 1000)}


def same(names, shape, dtype="f32"):
    """Inputs of one shape."""
    return {name: (shape, dtype, 0, 1) for name in names}


def pair(first, second, dtype="f64"):
    """Inputs a and b."""
    return {"a": (first, dtype, 0, 1), "b": (second, dtype, 0, 1)}


BODY = {n: ((1, BODIES), "f64", 0, 1) for n in "xyzm"} | {n: ((BODIES, 1), "f64", 0, 1) for n in "uvw"}
FUSED = "a*b + c*exp(d)"
ROWS = [
    ("copy 160M f32", "copy", 160 * M),
    ("a*b + c*exp(d) 64M f32", "formula", FUSED, same("abcd", (64 * M,))),
    ("seawater 4M f64", "formula", SEAWATER, ocean()),
    ("sum 128M f32", "formula", "sum(a)", same("a", (128 * M,))),
    ("sum(where(r < c, a, 0)) 64M f32", "formula", "sum(where(r < c, a, 0))",
     same("ra", (64 * M,)) | {"c": ((1,), "f32", 0.5, 0.5)}),
    ("a*b (R,3) (R,3)", "formula", "a*b", pair((R, 3), (R, 3))),
    ("a*b (R,3) (R,1)", "formula", "a*b", pair((R, 3), (R, 1))),
    ("a*b (R,3) (1,3)", "formula", "a*b", pair((R, 3), (1, 3))),
    ("a*b (R,2) (R,2)", "formula", "a*b", pair((R, 2), (R, 2))),
    ("a*b (R,2) (R,1)", "formula", "a*b", pair((R, 2), (R, 1))),
    ("a*b strided rows of 3", "formula", "a*b", pair((R, -3), (R, -3))),
    ("N-body 1000", "formula", NBODY, BODY),
    ("spectral step 64x64, one thread", "spectral", 64, 1),
    ("spectral step 64x64", "spectral", 64, 0),
    ("a*b + c*exp(d) 1 element", "formula", FUSED, same("abcd", (1,))),
    ("a*b + c*exp(d) 16K f32", "formula", FUSED, same("abcd", (1 << 14,))),
    ("16K, another constant each time", "variants", "constant", 1 << 14),
    ("16K, another shape each time", "variants", "shape", 1 << 14),
    ("sort 16M f32", "sort", 16 * M, "f32"),
    ("sort 16M i64", "sort", 16 * M, "i64"),
    ("argsort 16M f32", "argsort", 16 * M, "f32"),
    ("argsort 16M i64", "argsort", 16 * M, "i64"),
    ("copy 16M f32", "copy", 16 * M),
    ("cumulative_sum 16M f32", "cumulative_sum", 16 * M),
    ("sum 16M f32", "formula", "sum(a)", same("a", (16 * M,))),
    ("histogram 16M f32, 100 bins", "histogram", 16 * M),
    ("take 16M random places f32", "take", 16 * M),
    ("first evaluation of an expression", "first"),
    ("first evaluation, opencl, no cache", "first_opencl"),
    ("first evaluation, opencl, cached", "first_cached"),
]


# ---- Formulas ------------------------------------------------------------------------------------

def lines_of(text):
    """Assignments and the outputs of a formula."""
    *assignments, last = text.strip().splitlines()
    return [tuple(line.split(" = ")) for line in assignments], last.split("; ")


def inlined(text):
    """The formula as one text, without assignments."""
    assignments, outputs = lines_of(text)
    known = {}

    def inline(part):
        return re.sub(r"\b[a-z]\w*\b", lambda m: known.get(m[0], m[0]), part)
    for name, value in assignments:
        known[name] = f"({inline(value)})"
    return "; ".join(inline(output) for output in outputs)


def inputs_of(shapes):
    """Arrays of NumPy; a negative extent: rows of a wider array."""
    import numpy
    generator = numpy.random.default_rng(1)
    arrays = {}
    for name, (shape, dtype, low, high) in shapes.items():
        wide = tuple(n if n >= 0 else 1 - n for n in shape)
        a = generator.random(wide, dtype=kind(dtype)) * kind(dtype)(high - low) + kind(dtype)(low)
        arrays[name] = a[tuple(slice(abs(n)) for n in shape)]
    return arrays


def result_shape(inputs, output):
    """The shape of an output."""
    import numpy
    shape = numpy.broadcast_shapes(*[numpy.shape(a) for a in inputs.values()])
    return shape if "sum(" not in output else shape[:1] if "axis=1" in output else ()


def defined(text, names, space, decorator=""):
    """The formula as a function of Python."""
    assignments, outputs = lines_of(text)
    body = [f"    {name} = {value}" for name, value in assignments]
    code = [decorator, f"def formula({', '.join(names)}):", *body, f"    return {', '.join(outputs)}"]
    exec("\n".join(code), space)  # pylint: disable=exec-used
    return space["formula"]


def new_text(count=itertools.count(1)):
    """A formula that no call had before."""
    bits = f"{next(count) + 16 * os.getpid():b}"
    return "exp(a)" + "".join("*b" if bit == "1" else "+c" for bit in bits)


class Library:
    """What the libraries have in common: function(text, inputs) returns a function of such inputs."""

    def kept(self, call):
        """A call and its result."""
        last = [None]

        def run():
            last[0] = call()
        return run, lambda: self.joined(last[0])

    @staticmethod
    def joined(result):
        """One array of all outputs."""
        import numpy
        outputs = result if isinstance(result, (tuple, list)) else [result]
        return numpy.concatenate([numpy.asarray(a).reshape(-1) for a in outputs])

    def formula(self, text, shapes):
        inputs = self.placed(inputs_of(shapes))
        function = self.function(text, inputs)
        return self.kept(lambda: function(inputs))

    def placed(self, inputs):
        return inputs

    def variants(self, what, n):
        import numpy
        inputs = inputs_of(same("abd", (n,)))
        function = self.function("a*b + k*exp(d)", inputs | {"k": 2.5})
        turn = itertools.count()

        def call():
            i = next(turn)
            if what == "constant":
                return function(inputs | {"k": 2.5 + i / 1024})
            m = n - 1 - i % 1000
            return function({name: a[:m] for name, a in inputs.items()} | {"k": 2.5})
        return call, lambda: numpy.zeros(1)

    def first(self):
        import numpy
        inputs = inputs_of(same("abc", (1024,), "f64"))

        def call():
            text = new_text()
            self.function(text, inputs)(inputs)
        return call, lambda: numpy.zeros(1)


class NumPy(Library):
    """Call by call."""

    def __init__(self, _options):
        import numpy
        self.np = numpy

    def function(self, text, inputs):
        function = defined(text, inputs, {n: getattr(self.np, n) for n in ("sum", "where", "exp", "log", "sqrt")})
        return lambda inputs: function(**inputs)

    def copy(self, n):
        a = inputs_of(same("a", (n,)))["a"]
        out = self.np.empty_like(a)
        return lambda: self.np.copyto(out, a), lambda: out

    def spectral(self, n, _threads):
        step, given = spectral_step(self.np.fft.fft2, self.np.fft.ifft2), spectrum(n)
        return self.kept(lambda: step(*given))

    def sort(self, n, dtype):
        a = keys(n, dtype)
        return self.kept(lambda: self.np.sort(a))

    def argsort(self, n, dtype):
        a = keys(n, dtype)
        return self.kept(lambda: self.np.argsort(a, stable=True))

    def cumulative_sum(self, n):
        a = inputs_of(same("a", (n,)))["a"]
        run, _ = self.kept(lambda: self.np.cumsum(a))
        return run, lambda: self.np.zeros(1)  # sums of f32 in f32 are not comparable

    def histogram(self, n):
        a = inputs_of(same("a", (n,)))["a"]
        return self.kept(lambda: self.np.histogram(a, 100, (0, 1))[0])

    def take(self, n):
        a, places = inputs_of(same("a", (n,)))["a"], random_places(n)
        out = self.np.empty_like(a)
        return lambda: self.np.take(a, places, out=out, mode="clip"), lambda: out


def keys(n, dtype):
    """Random numbers to sort."""
    import numpy
    generator = numpy.random.default_rng(2)
    return generator.random(n, "f4") if dtype == "f32" else generator.integers(-1 << 40, 1 << 40, n)


def random_places(n):
    """Indices."""
    import numpy
    return numpy.random.default_rng(3).integers(0, n, n)


def spectrum(n):
    """A vorticity in two dimensions, wave numbers, and the factors of a step."""
    import numpy
    k = numpy.fft.fftfreq(n, 1 / n)
    kx, ky = k[:, None] + 0j, k[None, :] + 0j
    square = kx * kx + ky * ky
    w = numpy.fft.fft2(numpy.random.default_rng(4).random((n, n)))
    return w, kx, ky, 1 / numpy.where(square == 0, 1, square), 1 / (1 + 1e-4 * square)


def spectral_step(fft, ifft):
    """A step with these transforms, of what `spectrum` gives."""
    def step(w, kx, ky, inverse, damping):
        psi = w * inverse
        u, v, wx, wy = [ifft(a) for a in (1j * ky * psi, -1j * kx * psi, 1j * kx * w, 1j * ky * w)]
        return (w - 0.01 * fft(u * wx + v * wy)) * damping
    return step


class NumExpr(Library):
    """A formula takes the inputs by their names."""

    def __init__(self, _options):
        import numexpr
        numexpr.set_num_threads(len(os.sched_getaffinity(0)))
        self.evaluate = numexpr.evaluate

    def function(self, text, inputs):
        texts = inlined(text).split("; ")

        def call(inputs):
            return [self.evaluate(part, inputs, {}) for part in texts]
        return call


class Numba(Library):
    """The loop that one would write, compiled with parallel=True and fastmath=True."""

    def __init__(self, _options):
        import numba
        self.numba = numba

    def function(self, text, inputs):
        import numpy
        assignments, outputs = lines_of(text)
        shape = numpy.broadcast_shapes(*[numpy.shape(a) for a in inputs.values()])
        arrays = [n for n in inputs if numpy.ndim(inputs[n])]
        index = "ijk"[:len(shape)]

        def element(part):
            def of(match):
                name = match[0]
                if name not in arrays:
                    return {"where": "choose"}.get(name, name)
                extents = inputs[name].shape
                at = [i if extents[d] > 1 or shape[d] == 1 else "0" for d, i in enumerate(index)]
                return f"{name}[{', '.join(at)}]"
            return re.sub(r"\b[a-z]\w*\b", of, part)
        sums = [o.startswith("sum(") for o in outputs]
        parts = [re.sub(r"^sum\((.*?)(, axis=1)?\)$", r"\1", o) if s else o for o, s in zip(outputs, sums)]
        rows = sums[0] and "axis=1" in outputs[0]
        code = ["@njit(parallel=True, fastmath=True)",
                f"def loop({', '.join([*inputs, *[f'y{k}' for k in range(len(outputs))]])}):"]
        base = "y0.shape" if not sums[0] else None
        totals = [f"t{k} = 0.0" for k in range(len(outputs))]
        code += ["    " + t for t in totals if sums[0] and not rows]
        for d, i in enumerate(index):
            extent = f"{base}[{d}]" if base else next(f"{n}.shape[{d}]" for n in arrays if
                                                      inputs[n].shape[d] == shape[d])
            code.append("    " * (d + 1) + f"for {i} in {'prange' if d == 0 else 'range'}({extent}):")
            code += ["    " * (d + 2) + t for t in totals if rows and d == 0]
        inner = "    " * (len(index) + 1)
        code += [f"{inner}{name} = {element(value)}" for name, value in assignments]
        for k, part in enumerate(parts):
            code.append(inner + (f"t{k} += {element(part)}" if sums[k] else f"y{k}[{', '.join(index)}] = {element(part)}"))
        code += ["        " + f"y{k}[i] = t{k}" for k in range(len(parts)) if rows]
        code += [f"    y{k}[()] = t{k}" for k in range(len(parts)) if sums[0] and not rows]
        njit = self.numba.njit
        space = {"njit": njit, "prange": self.numba.prange, "exp": numpy.exp, "log": numpy.log, "sqrt": numpy.sqrt,
                 "choose": njit(inline="always")(lambda c, x, y: x if c else y)}
        exec("\n".join(code), space)  # pylint: disable=exec-used
        dtype = numpy.result_type(*[inputs[n] for n in arrays])
        known = {}

        def call(inputs):
            key = inputs[arrays[0]].shape
            if key not in known:
                known.clear()
                known[key] = [numpy.empty(result_shape(inputs, o), dtype) for o in outputs]
            space["loop"](*inputs.values(), *known[key])
            return known[key]
        return call


class Jax(NumPy):
    """Compiled functions, with their results awaited."""

    def __init__(self, options):
        super().__init__(options)
        import jax
        jax.config.update("jax_enable_x64", True)
        self.jax, self.jnp = jax, jax.numpy

    def placed(self, inputs):
        return {name: self.jax.device_put(a) for name, a in inputs.items()}

    def compiled(self, function):
        run = self.jax.jit(function)
        return lambda *a, **k: self.jax.block_until_ready(run(*a, **k))

    def function(self, text, inputs):
        run = self.compiled(defined(text, inputs, {n: getattr(self.jnp, n) for n in ("sum", "where", "exp", "log", "sqrt")}))
        return lambda inputs: run(**inputs)

    def of(self, function, *arrays):
        run, given = self.compiled(function), [self.jax.device_put(a) for a in arrays]
        return self.kept(lambda: run(*given))

    def copy(self, n):
        return self.of(lambda a: a.copy(), inputs_of(same("a", (n,)))["a"])

    def spectral(self, n, threads):
        step = spectral_step(self.jnp.fft.fft2, self.jnp.fft.ifft2)
        return self.of(step, *spectrum(n)) if not threads else (None, None)

    def sort(self, n, dtype):
        return self.of(self.jnp.sort, keys(n, dtype))

    def argsort(self, n, dtype):
        return self.of(self.jnp.argsort, keys(n, dtype))

    def cumulative_sum(self, n):
        run, _ = self.of(self.jnp.cumsum, inputs_of(same("a", (n,)))["a"])
        return run, lambda: self.np.zeros(1)

    def histogram(self, n):
        return self.of(lambda a: self.jnp.histogram(a, 100, (0, 1))[0], inputs_of(same("a", (n,)))["a"])

    def take(self, n):
        return self.of(lambda a, i: self.jnp.take(a, i, mode="clip"), inputs_of(same("a", (n,)))["a"], random_places(n))


class Torch(NumPy):
    """torch.compile; functions that it does not compile are its own kernels."""

    def __init__(self, options):
        super().__init__(options)
        import torch
        torch.set_num_threads(len(os.sched_getaffinity(0)))
        self.torch = torch

    def placed(self, inputs):
        return {name: self.torch.from_numpy(a) for name, a in inputs.items()}

    def function(self, text, inputs):
        space = {n: getattr(self.torch, n) for n in ("sum", "where", "exp", "log", "sqrt")}
        run = self.torch.compile(defined(text, inputs, space))

        def call(inputs):
            return run(**{n: self.torch.from_numpy(a) if isinstance(a, self.np.ndarray) else a
                          for n, a in inputs.items()})
        return call

    def of(self, function, *arrays):
        given = [self.torch.from_numpy(a) for a in arrays]
        return self.kept(lambda: function(*given))

    def copy(self, n):
        a = self.torch.from_numpy(inputs_of(same("a", (n,)))["a"])
        out = self.torch.empty_like(a)
        return lambda: out.copy_(a), lambda: out.numpy()

    def spectral(self, n, threads):
        step = spectral_step(self.torch.fft.fft2, self.torch.fft.ifft2)
        return self.of(step, *spectrum(n)) if not threads else (None, None)

    def sort(self, n, dtype):
        return self.of(lambda a: self.torch.sort(a)[0], keys(n, dtype))

    def argsort(self, n, dtype):
        return self.of(lambda a: self.torch.argsort(a, stable=True), keys(n, dtype))

    def cumulative_sum(self, n):
        run, _ = self.of(lambda a: self.torch.cumsum(a, 0), inputs_of(same("a", (n,)))["a"])
        return run, lambda: self.np.zeros(1)

    def histogram(self, n):
        return self.of(lambda a: self.torch.histc(a, 100, 0, 1), inputs_of(same("a", (n,)))["a"])

    def take(self, n):
        return self.of(self.torch.take, inputs_of(same("a", (n,)))["a"], random_places(n))


class OpenMP:
    """N-body as a C loop."""

    SOURCE = """#include <math.h>
void nbody(long n, const double *x, const double *y, const double *z, const double *m, const double *u,
           const double *v, const double *w, double *out) {
#pragma omp parallel for
  for (long i = 0; i < n; i++) {
    double ax = 0, ay = 0, az = 0;
    PRAGMA
    for (long j = 0; j < n; j++) {
      double dx = x[j] - u[i], dy = y[j] - v[i], dz = z[j] - w[i];
      double rr = dx*dx + dy*dy + dz*dz + 0.01, f = m[j] / (rr * sqrt(rr));
      ax += dx*f, ay += dy*f, az += dz*f;
    }
    out[i] = ax, out[n + i] = ay, out[2*n + i] = az;
  }
}"""
    PRAGMA = ""

    def __init__(self, _options):
        self.folder = tempfile.TemporaryDirectory()
        path = os.path.join(self.folder.name, "nbody")
        with open(path + ".c", "w", encoding="utf-8") as file:
            file.write(self.SOURCE.replace("PRAGMA", self.PRAGMA))
        subprocess.run(["cc", "-O3", "-march=native", "-fno-math-errno", "-fopenmp", "-shared", "-fPIC",
                        "-o", path + ".so", path + ".c", "-lm"], check=True)
        self.loop = ctypes.CDLL(path + ".so").nbody

    def formula(self, text, shapes):
        if text is not NBODY:
            return None, None
        import numpy
        arrays = inputs_of(shapes)
        out = numpy.empty(3 * BODIES)
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in [*(arrays[n] for n in "xyzmuvw"), out]]
        call, count = self.loop, ctypes.c_long(BODIES)
        return lambda: (call(count, *pointers), arrays, out), lambda: out


class Simd(OpenMP):
    """... whose sums may be added in any order."""

    PRAGMA = "_Pragma(\"omp simd reduction(+ : ax, ay, az)\")"


class OfCollet(NumPy):
    """collet.Expression, collet.op."""

    def __init__(self, options):
        super().__init__(options)
        sys.path.insert(0, os.environ["EXPRESSIONS_PYTHON"])
        import collet
        self.collet = collet
        collet.set_backend(options.backend)

    def function(self, text, inputs):
        expression = self.collet.Expression(inlined(text))
        names, known = expression.inputs, {}

        def call(inputs):
            arguments = [inputs[n] for n in names]
            key = self.np.shape(arguments[0])
            if key not in known:
                known.clear()
                known[key] = expression(*arguments)
            else:
                expression(*arguments, out=known[key])
            return known[key]
        return call

    def copy(self, n):
        a = inputs_of(same("a", (n,)))["a"]
        out = self.np.empty_like(a)
        return lambda: self.collet.op.copy(a, out=out), lambda: out

    def spectral(self, n, threads):
        fft, ifft = self.collet.fft.fft2, self.collet.fft.ifft2
        w, kx, ky, inverse, damping = spectrum(n)
        first = self.collet.Expression("1j*ky*(w*inverse); -1j*kx*(w*inverse); 1j*kx*w; 1j*ky*w")
        product = self.collet.Expression("u*wx + v*wy")
        last = self.collet.Expression("(w - 0.01*n)*damping")
        factors = {"w": w, "kx": kx, "ky": ky, "inverse": inverse}
        given = [factors[name] for name in first.inputs]

        def step():
            u, v, wx, wy = [ifft(a) for a in first(*given)]
            return last(w, fft(product(u, wx, v, wy)), damping)
        self.collet.set_num_threads(threads)
        return self.kept(step)

    def sort(self, n, dtype):
        a = keys(n, dtype)
        out = self.np.empty_like(a)
        return lambda: self.collet.op.sort(a, out=out), lambda: out

    def argsort(self, n, dtype):
        a = keys(n, dtype)
        out = self.np.empty(n, "i8")
        return lambda: self.collet.op.argsort(a, out=out), lambda: out

    def cumulative_sum(self, n):
        a = inputs_of(same("a", (n,)))["a"]
        out = self.np.empty_like(a)
        return lambda: self.collet.op.cumulative_sum(a, out=out), lambda: self.np.zeros(1)

    def histogram(self, n):
        a = inputs_of(same("a", (n,)))["a"]
        return self.kept(lambda: self.collet.op.histogram(a, None, bins=100, low=0, high=1))

    def take(self, n):
        a, places = inputs_of(same("a", (n,)))["a"], random_places(n)
        return self.kept(lambda: self.collet.op.take(a, places)[0])

    def first_opencl(self):
        run, result = self.first()

        def call():
            with self.collet.using("opencl"):
                run()
        return call, result

    def first_cached(self):
        inputs = inputs_of(same("abc", (1024,), "f64"))
        text = "exp(a)*b + c - a"

        def call():
            with self.collet.using("opencl"):
                self.collet.trim()  # what is compiled, but not the files
                self.function(text, inputs)(inputs)
        return call, lambda: self.np.zeros(1)


if __name__ == "__main__":
    others.main_of(__doc__, ROWS, {"collet": OfCollet, "numpy": NumPy, "numexpr": NumExpr, "numba": Numba, "jax": Jax, "torch": Torch,
                                   "c": OpenMP, "c-simd": Simd},
                   "EXPRESSIONS")

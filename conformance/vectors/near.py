# SPDX-License-Identifier: Apache-2.0
"""Elementary functions by mpmath, to DIGITS digits, and the arguments at which they are hard to compute."""

import math

import mpmath
from mpmath import mp, mpf, mpc

DIGITS = 60
mp.dps = DIGITS
PI = +mp.pi


def lgamma(x):
    if x <= 0 and x == int(x):
        return mp.inf
    with mp.workdps(2 * DIGITS + 20):
        return mp.log(abs(mp.gamma(x)))


def power(a, b):
    if a == 0:
        return mpf(0) if b > 0 else mpf(1) if b == 0 else mp.inf
    return mp.nan if a < 0 and b != int(b) else a ** int(b) if b == int(b) and abs(b) < 10**6 else mp.exp(b * mp.log(abs(a)))


def sinc(x):
    if x == int(x):
        return mpf(x == 0)
    return mp.sin(PI * (x - mp.nint(x))) * (-1) ** int(mp.nint(x)) / (PI * x)


def less_one(function, z):
    """function(z), with more digits if z is small, where the function subtracts nearly equal numbers."""
    with mp.workdps(700 if abs(z) < 1 else DIGITS):
        return function(z)


REAL = {
    "exp": mp.exp, "log": mp.log, "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "tanh": mp.tanh, "sinh": mp.sinh,
    "cosh": mp.cosh, "exp2": lambda x: mp.power(2, x), "expm1": lambda x: less_one(mp.expm1, x),
    "log1p": lambda x: less_one(mp.log1p, x), "log2": lambda x: mp.log(x) / mp.log(2),
    "log10": lambda x: mp.log(x) / mp.log(10), "asin": mp.asin, "acos": mp.acos, "atan": mp.atan,
    "asinh": lambda x: less_one(mp.asinh, x), "acosh": mp.acosh, "atanh": lambda x: less_one(mp.atanh, x),
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)), "erf": mp.erf, "erfc": mp.erfc,
    "expit": lambda x: 1 / (1 + mp.exp(-x)), "lgamma": lgamma, "sinc": sinc,
    "pow": power, "atan2": mp.atan2, "hypot": lambda a, b: mp.sqrt(a * a + b * b),
    "logaddexp": lambda a, b: max(a, b) + less_one(mp.log1p, mp.exp(-abs(a - b))),
}

# Real results only: where a function is not defined the result is NaN.
DOMAIN = {
    "log": lambda x: x > 0, "log2": lambda x: x > 0, "log10": lambda x: x > 0, "log1p": lambda x: x > -1,
    "asin": lambda x: abs(x) <= 1, "acos": lambda x: abs(x) <= 1, "acosh": lambda x: x >= 1,
    "atanh": lambda x: abs(x) < 1,
}
# Results where mpmath has none: at infinities and poles.
INF, NAN = math.inf, math.nan
BOTH, GROWING = {INF: INF, -INF: INF}, {INF: INF, -INF: -INF}
AT = {
    "exp": {-INF: 0.0, INF: INF}, "exp2": {-INF: 0.0, INF: INF}, "expm1": {-INF: -1.0, INF: INF},
    "log": {0.0: -INF, INF: INF}, "log2": {0.0: -INF, INF: INF}, "log10": {0.0: -INF, INF: INF},
    "log1p": {-1.0: -INF, INF: INF}, "atan": {INF: PI / 2, -INF: -PI / 2}, "sinh": GROWING, "cosh": BOTH,
    "tanh": {INF: 1.0, -INF: -1.0}, "asinh": GROWING, "acosh": {INF: INF}, "atanh": {1.0: INF, -1.0: -INF},
    "cbrt": GROWING, "erf": {INF: 1.0, -INF: -1.0}, "erfc": {INF: 0.0, -INF: 2.0}, "expit": {INF: 1.0, -INF: 0.0},
    "lgamma": BOTH,
}
ODD = ("sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "cbrt", "erf", "expm1", "log1p")


def real(name, *x):
    """The value as a pair: the value rounded to f64, and the remainder relative to it."""
    if len(x) == 2:
        return split(of_two(name, *x))
    x = x[0]
    if x == 0 and name in ODD:
        return x, 0.0
    if x in AT.get(name, {}):
        return split(AT[name][x])
    if not math.isfinite(x) or not DOMAIN.get(name, lambda x: True)(x):
        return NAN, 0.0
    return split(REAL[name](mpf(x)))


def of_two(name, a, b):
    if name == "atan2" and (a == 0 or not (math.isfinite(a) and math.isfinite(b))):
        angle = math.atan2(a, b)  # a multiple of pi / 4
        return angle if angle == 0 or math.isnan(angle) else round(angle / (math.pi / 4)) * PI / 4
    if name == "hypot" and (math.isinf(a) or math.isinf(b)):
        return INF
    if math.isnan(a) or math.isnan(b):
        return 1.0 if name == "pow" and (a == 1 or b == 0) else NAN
    if name == "logaddexp" and not (math.isfinite(a) and math.isfinite(b)):
        return max(a, b)
    if name == "pow" and not (math.isfinite(a) and math.isfinite(b) and a):
        try:
            return a ** b if not (a < 0 and abs(b) != INF and b != int(b)) else abs(a) ** b
        except ZeroDivisionError:
            return math.copysign(INF, a) if b == int(b) and b % 2 else INF
    return REAL[name](mpf(a), mpf(b))


def split(value):
    """The value rounded to f64 (to infinity or a signed zero outside its range), and the remainder relative to the
    rounded value."""
    if isinstance(value, float):
        return value, 0.0
    if mp.isnan(value) or mp.isinf(value):
        return float(value), 0.0
    high = float(value) if abs(value) < mpf(2) ** 1025 else math.copysign(INF, value)
    if high == 0:
        high = math.copysign(0.0, float(mp.sign(value)))  # too small for f64: a zero with its sign
    return high, 0.0 if math.isinf(high) or high == 0 else float((value - high) / high)


# ---- Complex numbers -------------------------------------------------------------------------------

def complex_log1p(z):
    return mp.log(1 + z) if z != 0 else z


def over(a, b):
    return a / b


COMPLEX = {
    "exp": mp.exp, "expm1": lambda z: mp.exp(z) - 1, "log": mp.log, "log1p": complex_log1p,
    "log2": lambda z: mp.log(z) / mp.log(2), "log10": lambda z: mp.log(z) / mp.log(10), "sqrt": mp.sqrt,
    "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh,
    "asin": mp.asin, "acos": mp.acos, "atan": mp.atan, "asinh": mp.asinh, "acosh": mp.acosh, "atanh": mp.atanh,
    "pow": lambda a, b: mp.exp(b * mp.log(a)), "div": over, "reciprocal": lambda z: 1 / z, "abs": lambda z: abs(z),
    "sign": lambda z: z / abs(z),
}
# To find the sign of a zero or the side of a branch cut, zeros are moved by 10^-MOVED. This needs MOVED_DIGITS digits,
# because a result may be the square or the root of this distance.
MOVED, MOVED_DIGITS = 1600, 3400


def moved(z, scale):
    """z with each zero replaced by a tiny number of the same sign."""
    tiny = mpf(10) ** -MOVED * scale
    return mpc(*[mpf(p) if p else math.copysign(1, p) * tiny for p in (z.real, z.imag)])


def complex_value(name, *z):
    """Pairs (f64, remainder) of the parts, or of the real result. None at a pole, if the result depends on how far
    zeros are moved, or if the sign of a zero is not defined."""
    with mp.workdps(MOVED_DIGITS if any(p == 0 for x in z for p in (x.real, x.imag)) else 2 * DIGITS):
        found = []
        for scale in (1, 1000):
            value = COMPLEX[name](*[moved(p, scale) for p in z])
            found.append([split(part) for part in ([value] if name == "abs" else [value.real, value.imag])])
        zero = any(high == 0 for high, _ in found[0])
        unclear = not all(z) and name in ("pow", "div", "sign", "reciprocal") or zero and name in ("pow", "div", "sign")
        return None if unclear or found[0] != found[1] else found[0]


# ---- Where functions are hard ------------------------------------------------------------------------

def lgamma_zeros():
    """Zeros of lgamma between -20 and -2, by bisection: |gamma| is 1 on both sides of its minimum between two poles."""
    zeros = []
    for n in range(2, 20):
        pole = mpf(10) ** -40
        least = min((lgamma(-n - mpf(k) / 64), k) for k in range(1, 64))[1]
        for outer, inner in ((-n - pole, -n - mpf(least) / 64), (-n - 1 + pole, -n - mpf(least) / 64)):
            if lgamma(inner) > 0:
                continue
            for _ in range(120):
                middle = (outer + inner) / 2
                outer, inner = (middle, inner) if lgamma(middle) > 0 else (outer, middle)
            zeros.append(outer)
    return zeros


QUARTERS = [k * PI / 2 for k in list(range(1, 9)) + [15, 100, 354, 12345, 10**6 + 1, 10**9 + 7, 10**15 + 1]]
ENDS = [mpf(x) for x in ("709.782712893384", "745.133219101941", "708.396418532264", "88.7228390520684", "103.9720770839918",
                         "87.3365447505531", "11.0898", "9.7", "17.3286795", "710.475860073944", "89.4159862922329", "1024",
                         "1074", "1022", "128", "149", "126", "22", "20", "36.7368005696771", "19.0615", "9.01")]
HARD = {
    "exp": ENDS, "exp2": ENDS, "expm1": ENDS, "sinh": ENDS, "cosh": ENDS, "tanh": ENDS, "expit": ENDS,
    "log": [1], "log2": [1, 2, 4, 1024], "log10": [1, 10, 100, 1000, mpf(10) ** 22], "log1p": [-1], "sin": QUARTERS,
    "cos": QUARTERS, "tan": QUARTERS + [k * PI / 4 for k in (1, 3, 5)], "asin": [1, mpf("0.5")], "acos": [1, -1, mpf("0.5")],
    "atan": [1, mp.sqrt(2) - 1, mpf("0.4375"), mpf("2.4375")], "asinh": [1], "acosh": [1], "atanh": [1],
    "cbrt": [8, 27, mpf("0.001"), 1000], "erf": [mpf("0.84375"), mpf("1.25"), mpf("5.92"), mpf("3.92")],
    "erfc": [mpf("0.65"), mpf("0.84375"), mpf("26.543"), mpf("27.226"), mpf("9.19"), mpf("10.05"), mpf("28.0"), mpf("-5.8")],
    "lgamma": [1, 2, mpf("0.5"), mpf("1.25"), mpf("2.5"), 8] + [-n for n in range(0, 30)] + lgamma_zeros(),
    "sinc": [1, 2, 3, 10, 1000, mpf("0.5")],
}
FAR = [2.0**100, 1e22, 2.0**1000, 6381956970095103 * 2.0**797, 1.7976931348623157e308, 3.4028234663852886e38, 2.0**126, 1e15]

# SPDX-License-Identifier: Apache-2.0
"""Elementwise functions whose results are exact or the nearest number, in Python's integers and fractions.

Each function in INTEGERS, FLOATS, COMPLEX and ALL takes the dtype and the arguments: ints for integers and bools,
floats (also for f32), or complex numbers. It returns the result in the same form.
"""

import math
from fractions import Fraction


PRECISION = {"f32": (24, -149, 128), "f64": (53, -1074, 1024)}  # digits, smallest exponent, overflow
INF, NAN = math.inf, math.nan


# ---- Rounding --------------------------------------------------------------------------------------

def nearest(value, dtype, zero=0.0):
    """The number of dtype nearest to a fraction, ties to even; a result of 0 has the sign of `zero`."""
    digits, least, top = PRECISION[dtype]
    if value == 0:
        return math.copysign(0.0, zero)
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    unit = Fraction(2) ** max(exponent - digits + 1, least)
    count = round(size / unit)  # Python rounds ties to even
    result = INF if count * unit >= Fraction(2) ** top else float(count * unit)
    return -result if value < 0 else result


def negative(x):
    return math.copysign(1.0, x) < 0


def finite(*numbers):
    return all(math.isfinite(x) for x in numbers)


def parts(z):
    return z.real, z.imag


# ---- Floating numbers ------------------------------------------------------------------------------

def add(dtype, a, b):
    return nearest(Fraction(a) + Fraction(b), dtype, a + b) if finite(a, b) else a + b


def mul(dtype, a, b):
    return nearest(Fraction(a) * Fraction(b), dtype, a * b) if finite(a, b) else a * b


def div(dtype, a, b):
    sign = -1.0 if negative(a) != negative(b) else 1.0
    if finite(a, b) and b:
        return nearest(Fraction(a) / Fraction(b), dtype, sign)
    if math.isnan(a) or math.isnan(b) or (math.isinf(a) and math.isinf(b)) or (a == 0 and b == 0):
        return NAN
    return sign * (INF if math.isinf(a) or b == 0 else 0.0)


def sqrt(dtype, a):
    if not a >= 0 or a in (0, INF):
        return NAN if a < 0 else a
    square = Fraction(a)
    root = Fraction(math.isqrt((square.numerator << 2400) // square.denominator), 1 << 1200)
    if root * root != square:  # not exact: a little more, so that it is not on a tie
        root += Fraction(1, 1 << 1300)
    return nearest(root, dtype)


def fma(dtype, a, b, c):
    if not finite(a, b):
        return a * b + c
    return nearest(Fraction(a) * Fraction(b) + Fraction(c), dtype, a * b + c if a * b == 0 else 0.0) if finite(c) else c


def sign(dtype, a):
    return a if math.isnan(a) else float((a > 0) - (a < 0))


def remainder(dtype, a, b):
    if not finite(a) or math.isnan(b) or b == 0:
        return NAN
    if math.isinf(b):
        return math.copysign(0.0, b) if a == 0 else a if (a < 0) == (b < 0) else b
    rest = Fraction(a) - Fraction(b) * (Fraction(a) / Fraction(b)).__floor__()
    return nearest(rest, dtype, b)


def floor_divide(dtype, a, b):
    if not finite(a) or math.isnan(b) or b == 0:
        return div(dtype, a, b) if b == 0 else NAN
    if math.isinf(b):
        return math.copysign(0.0, a) * math.copysign(1.0, b) if a == 0 or (a < 0) == (b < 0) else -1.0
    return nearest(Fraction((Fraction(a) / Fraction(b)).__floor__()), dtype, div(dtype, a, b))


def smaller(a, b):
    if math.isnan(a) or math.isnan(b):
        return NAN
    return a if (a, not negative(a)) < (b, not negative(b)) else b


def larger(a, b):
    return -smaller(-a, -b)


def nextafter(dtype, a, b):
    if math.isnan(a) or math.isnan(b):
        return NAN
    if a == b:
        return b
    if dtype == "f64":
        return math.nextafter(a, b)
    step = Fraction(2) ** -149
    if math.isinf(a):
        return math.copysign(float(2 - Fraction(2) ** -23) * 2.0 ** 127, a)
    towards = 1 if b > a else -1
    while True:  # steps of 1, 2, 4, ... smallest spacings, until the result is another number
        result = nearest(Fraction(a) + towards * step, "f32", a)
        if result != a:
            return result
        step *= 2


def integral(function):
    def rounded(dtype, a):
        return math.copysign(float(function(Fraction(a))), a) if finite(a) and a else a
    return rounded


FLOATS = {
    "add": add, "sub": lambda t, a, b: add(t, a, -b), "mul": mul, "div": div,
    "sqrt": sqrt, "neg": lambda t, a: -a, "abs": lambda t, a: math.copysign(a, 1.0),
    "square": lambda t, a: mul(t, a, a), "reciprocal": lambda t, a: div(t, 1.0, a), "fma": fma, "sign": sign,
    "floor_divide": floor_divide, "remainder": remainder, "nextafter": nextafter,
    "copysign": lambda t, a, b: math.copysign(a, b), "signbit": lambda t, a: int(negative(a)),
    "minimum": lambda t, a, b: smaller(a, b), "maximum": lambda t, a, b: larger(a, b),
    "clip": lambda t, a, b, c: smaller(larger(a, b), c),
    "isfinite": lambda t, a: int(finite(a)), "isinf": lambda t, a: int(math.isinf(a)),
    "isnan": lambda t, a: int(math.isnan(a)),
    "floor": integral(math.floor), "ceil": integral(math.ceil), "trunc": integral(math.trunc),
    "round": integral(round), "complex": lambda t, a, b: complex(a, b),
}


# ---- Complex numbers -------------------------------------------------------------------------------

def complex_mul(dtype, a, b):
    (ar, ai), (br, bi) = parts(a), parts(b)
    return complex(add(dtype, mul(dtype, ar, br), -mul(dtype, ai, bi)),
                   add(dtype, mul(dtype, ar, bi), mul(dtype, ai, br)))


def by_parts(function):
    def both(dtype, *numbers):
        return complex(function(dtype, *[z.real for z in numbers]), function(dtype, *[z.imag for z in numbers]))
    return both


COMPLEX = {
    "add": by_parts(add), "sub": by_parts(FLOATS["sub"]), "mul": complex_mul,
    "neg": by_parts(FLOATS["neg"]), "square": lambda t, a: complex_mul(t, a, a),
    "conj": lambda t, a: complex(a.real, -a.imag), "round": by_parts(FLOATS["round"]),
    "real": lambda t, a: a.real, "imag": lambda t, a: a.imag,
    "isfinite": lambda t, a: int(finite(*parts(a))), "isinf": lambda t, a: int(any(map(math.isinf, parts(a)))),
    "isnan": lambda t, a: int(any(map(math.isnan, parts(a)))),
}


# ---- Integers --------------------------------------------------------------------------------------

def bits_of(dtype):
    return 1 if dtype == "bool" else int(dtype[1:])


def wrap(dtype, x):
    bits = bits_of(dtype)
    x %= 1 << bits
    return x - (1 << bits) if dtype[0] == "i" and x >> (bits - 1) else x


def integer_pow(a, b, dtype):
    if b < 0:
        return 0 if a not in (1, -1) else a if b % 2 else 1
    return pow(a, b, 1 << bits_of(dtype))


def shift_right(a, b, dtype):
    return a >> b if 0 <= b < bits_of(dtype) else -1 if a < 0 else 0


INTEGERS = {
    "add": lambda t, a, b: a + b, "sub": lambda t, a, b: a - b, "mul": lambda t, a, b: a * b,
    "neg": lambda t, a: -a, "abs": lambda t, a: abs(a), "square": lambda t, a: a * a,
    "floor_divide": lambda t, a, b: a // b if b else 0, "remainder": lambda t, a, b: a % b if b else 0,
    "pow": lambda t, a, b: integer_pow(a, b, t), "sign": lambda t, a: (a > 0) - (a < 0),
    "bitwise_and": lambda t, a, b: a & b, "bitwise_or": lambda t, a, b: a | b,
    "bitwise_xor": lambda t, a, b: a ^ b, "bitwise_invert": lambda t, a: ~a,
    "bitwise_left_shift": lambda t, a, b: a << b if 0 <= b < bits_of(t) else 0,
    "bitwise_right_shift": lambda t, a, b: shift_right(a, b, t),
    "minimum": lambda t, a, b: min(a, b), "maximum": lambda t, a, b: max(a, b),
    "clip": lambda t, a, b, c: min(max(a, b), c),
    "logical_and": lambda t, a, b: a and b, "logical_or": lambda t, a, b: a or b,
    "logical_xor": lambda t, a, b: int(a != b), "logical_not": lambda t, a: 1 - a,
}

ALL = {  # functions of numbers of any kind
    "equal": lambda t, a, b: int(a == b), "not_equal": lambda t, a, b: int(a != b),
    "less": lambda t, a, b: int(a < b), "less_equal": lambda t, a, b: int(a <= b),
    "greater": lambda t, a, b: int(a > b), "greater_equal": lambda t, a, b: int(a >= b),
    "where": lambda t, a, b, c: b if a else c,
}


def exact(name, dtype):
    """The function `name` of arguments of dtype, or None."""
    table = INTEGERS if dtype[0] in "iu" or dtype == "bool" else COMPLEX if dtype[0] == "c" else FLOATS
    function = table.get(name) or ALL.get(name)
    if function and table is INTEGERS and name not in ALL:
        return lambda t, *a: wrap(t, int(function(t, *a)))
    return function

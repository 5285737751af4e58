# SPDX-License-Identifier: Apache-2.0
"""Numbers in expressions. Random texts are compared with Python's arithmetic with exact integers. Random
formulas of arrays and weak numbers, by evaluate and by lazy Arrays, are compared with NumPy 2's rules.
`python test_random_numbers.py SEED TEXTS FORMULAS` runs more."""

import ast
import operator
import random
import sys

import numpy as np
import pytest

import collet

OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
             "%": operator.mod, "**": operator.pow, "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_,
             "|": operator.or_, "^": operator.xor, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
             "==": operator.eq, "!=": operator.ne}
COMPARISONS = "<", "<=", ">", ">=", "==", "!="
INTEGERS = "int8 uint8 int16 uint16 int32 uint32 int64 uint64".split()
EDGES = [s * (2**n + d) for n in (7, 8, 15, 16, 31, 32, 53, 63, 64) for d in (-1, 0, 1) for s in (1, -1)]


class Refused(Exception):
    """Collet has to refuse the formula."""


class Skipped(Exception):
    """The formula is not compared, because the rules of Python and Collet differ."""


# ---- Texts of numbers ---------------------------------------------------------------------------


def sign(x):
    return type(x)((x > 0) - (x < 0)) if isinstance(x, float) else (x > 0) - (x < 0)


FUNCTIONS = {"abs": abs, "sign": sign, "square": lambda x: x * x, "minimum": min, "maximum": max,
             "clip": lambda x, low, high: min(max(x, low), high), "where": lambda c, a, b: a if c else b}
NAMES = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
         ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.Lt: "<", ast.LtE: "<=",
         ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


def python_binary(name, a, b):
    if isinstance(a, int) and isinstance(b, int) and b > 2000 and (abs(a) > 1 and name == "**" or a and name == "<<"):
        raise Refused
    try:
        return OPERATORS[name](a, b)
    except (ZeroDivisionError, OverflowError, ValueError, TypeError) as error:
        raise Refused from error


def python_value(node):
    """The value of the text in Python. Raises Refused if an intermediate integer has more than 127 bits."""
    if isinstance(node, ast.Constant):
        made = node.value
    elif isinstance(node, ast.UnaryOp):
        x = python_value(node.operand)
        if isinstance(node.op, ast.Invert) and not type(x) is int:
            raise Refused if isinstance(x, (float, complex)) else Skipped
        made = -x if isinstance(node.op, ast.USub) else ~x if isinstance(node.op, ast.Invert) else x
    elif isinstance(node, ast.BinOp):
        made = python_binary(NAMES[type(node.op)], python_value(node.left), python_value(node.right))
    elif isinstance(node, ast.Compare):
        made = python_binary(NAMES[type(node.ops[0])], python_value(node.left), python_value(node.comparators[0]))
    else:
        given = [python_value(argument) for argument in node.args]
        if not all(type(x) is int for x in given[node.func.id == "where":]) or isinstance(given[0], (float, complex)):
            raise Skipped  # functions of numbers that are not integers are computed by kernels
        made = FUNCTIONS[node.func.id](*given)
    if type(made) is int and abs(made) >= 2**127:
        raise Refused
    if isinstance(made, complex):
        raise Skipped
    return made


class Text:
    def __init__(self, choose):
        self.choose = choose

    def number(self):
        choose = self.choose
        kind = choose.random()
        if kind < 0.6:
            return str(choose.randrange(12))
        if kind < 0.85:
            return str(abs(choose.choice(EDGES)))
        if kind < 0.92:
            return str(choose.randrange(10**choose.randrange(1, 38)))
        return choose.choice(("True", "False", "0.5", "2.0", "1e20", "7.25"))

    def make(self, depth):
        choose = self.choose
        kind = choose.random()
        if depth == 0 or kind < 0.15:
            return self.number()
        if kind < 0.25:
            return choose.choice("--+~") + self.factor(depth)
        if kind < 0.35:
            name = choose.choice(tuple(FUNCTIONS))
            count = 3 if name in ("clip", "where") else 2 if name in ("minimum", "maximum") else 1
            return f"{name}({', '.join(self.make(depth - 1) for _ in range(count))})"
        name = choose.choice(tuple(OPERATORS))
        if name in COMPARISONS:  # Python would chain comparisons
            return f"(({self.make(depth - 1)}) {name} ({self.make(depth - 1)}))"
        return f"{self.factor(depth)} {name} {self.factor(depth)}"

    def factor(self, depth):
        made = self.make(depth - 1)
        return f"({made})" if self.choose.random() < 0.6 else made


def rounded(value, bits):
    """An integer rounded to `bits` significant bits, to nearest even, as a float."""
    size, shift = abs(value), max(abs(value).bit_length() - bits, 0)
    top, rest = size >> shift, size & ((1 << shift) - 1)
    top += rest > (1 << shift) // 2 or (rest * 2 == 1 << shift and shift and top & 1)
    return float(top << shift) * (-1 if value < 0 else 1)


def compare_text(choose):
    text = Text(choose).make(choose.randrange(1, 5))
    dtype = choose.choice(("float32", "float64", *INTEGERS))
    try:
        expected = python_value(ast.parse(text, mode="eval").body)
    except Refused:
        expected = Refused
    except Skipped:
        return 0
    x = np.zeros(1, dtype)
    try:
        made = collet.evaluate(f"x + ({text})", {"x": x})
    except collet.Error as error:
        fits = expected is not Refused and not (type(expected) is int and np.dtype(dtype).kind in "iu" and not (
            np.iinfo(dtype).min <= expected <= np.iinfo(dtype).max))
        assert not fits, f"{text} with {dtype} is {expected}, and {error}"
        return 1
    assert expected is not Refused, f"{text} with {dtype} is an error, not {made}"
    if type(expected) is int and np.dtype(dtype).kind == "f":
        expected = rounded(expected, 24 if dtype == "float32" else 53)
    right = expected if dtype != "float32" or made.dtype != "float32" else np.float32(expected)
    assert made[0] == right or (np.isnan(right) and np.isnan(made[0])), f"{text} with {dtype} is {expected!r}, not {made[0]!r}"
    return 1


# ---- Formulas beside NumPy ----------------------------------------------------------------------


def holds(dtype, *numbers):
    limits = np.iinfo(dtype)
    return all(limits.min <= n <= limits.max for n in numbers)


def convert(number, dtype):
    """Converts a Python number as NumPy 2 converts an operand of an array of this dtype."""
    dtype = np.dtype(dtype)
    if isinstance(number, bool):
        return np.asarray(number)
    if isinstance(number, float):
        return np.asarray(number, dtype if dtype.kind == "f" else "float64")
    if dtype.kind == "f":
        return np.asarray(rounded(number, 24 if dtype == np.float32 else 53)).astype(dtype)
    dtype = np.dtype("int64") if dtype.kind == "b" else dtype
    if not holds(dtype, number):
        raise Refused
    return np.asarray(number, dtype)


class Strong:
    """An array whose operators follow NumPy 2's rules for numbers, with any NumPy."""

    def __init__(self, array):
        self.array = np.asarray(array)

    def apply(self, function, other, swap=False):
        if isinstance(other, Selected):
            return other.apply(function, self, not swap)
        a, b = self.array, other.array if isinstance(other, Strong) else None
        if b is None:
            compares = function in [OPERATORS[name] for name in COMPARISONS]
            if compares and type(other) is int and a.dtype.kind in "iub":
                made = [function(other, int(n)) if swap else function(int(n), other) for n in a]
                return Strong(np.array(made, bool))
            b = convert(other, a.dtype)
        common = a.dtype if a.dtype == b.dtype else np.result_type(np.empty(1, a.dtype), np.empty(1, b.dtype))
        try:
            sides = (b.astype(common), a.astype(common)) if swap else (a.astype(common), b.astype(common))
            return Strong(function(*sides))
        except TypeError as error:
            raise Refused from error


class Selected:
    """The integers that where() selects from numbers: their exact values, and the bounds `low` and `high`. Functions of
    these integers are computed in i64, so all numbers in `needs` must fit in i64."""

    def __init__(self, values, low, high, needs=()):
        self.values, self.low, self.high, self.needs = values, low, high, needs
        if max(abs(low), abs(high)) >= 2**127:
            raise Refused

    @staticmethod
    def computed(values, ends, *operands):
        low, high = min(ends), max(ends)
        needs = [n for x in operands for n in (x.low, x.high, *x.needs)]
        return Selected(values, low, high, (low, high, *needs))

    def strong(self, dtype):
        dtype = np.dtype(dtype)
        if not holds("int64", *self.needs):
            raise Refused
        if dtype.kind == "f":
            return Strong([convert(n, dtype) for n in self.values])
        if not holds(dtype, self.low, self.high):
            raise Refused
        return Strong(np.array(self.values, dtype))

    def as_result(self):
        return self.strong("int64").array

    def apply(self, function, other, swap=False):
        compares = function in [OPERATORS[name] for name in COMPARISONS]
        if isinstance(other, Strong):
            dtype = other.array.dtype
            wide = dtype.kind == "b" or (compares and dtype.kind in "iu" and dtype != np.uint64)
            sides = self.strong("int64" if wide else dtype), other
            if compares and dtype.kind in "iu" and wide:
                sides = sides[0], Strong(other.array.astype("int64"))
            return sides[1].apply(function, sides[0]) if swap else sides[0].apply(function, sides[1])
        if isinstance(other, float):
            return Skip.now()
        other = other if isinstance(other, Selected) else Selected([int(other)] * len(self.values), int(other), int(other))
        a, b = (other, self) if swap else (self, other)
        if function in (operator.add, operator.sub, operator.mul, min, max):
            ends = [function(m, n) for m in (a.low, a.high) for n in (b.low, b.high)]
            return Selected.computed([function(m, n) for m, n in zip(a.values, b.values)], ends, a, b)
        return a.strong("int64").apply(NUMPY.get(function, function), b.strong("int64"))


class Skip:
    @staticmethod
    def now():
        raise Skipped


NUMPY = {min: np.minimum, max: np.maximum}


def method(function, swap=False):
    if swap:
        return lambda self, other: self.apply(function, other, True)
    return lambda self, other: self.apply(function, other)


for slot, name in {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%", "and": "&", "or": "|", "xor": "^"}.items():
    for kind in Strong, Selected:
        setattr(kind, f"__{slot}__", method(OPERATORS[name]))
        setattr(kind, f"__r{slot}__", method(OPERATORS[name], True))
for slot, name in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}.items():
    for kind in Strong, Selected:
        setattr(kind, f"__{slot}__", method(OPERATORS[name]))


def two(function):
    def apply(a, b):
        if not isinstance(a, (Strong, Selected)) and not isinstance(b, (Strong, Selected)):
            return function(a, b) if type(a) is type(b) else Skip.now()
        kinds = [x for x in (a, b) if isinstance(x, Selected)]
        if len(kinds) == 2 or (kinds and not any(isinstance(x, Strong) for x in (a, b))):
            return a.apply(function, b) if isinstance(a, Selected) else b.apply(function, a, True)
        return a.apply(NUMPY[function], b) if isinstance(a, (Strong, Selected)) else b.apply(NUMPY[function], a, True)
    return apply


def one(exact, numpy):
    def apply(x):
        if isinstance(x, Strong):
            return Strong(numpy(x.array))  # NumPy raises TypeError for bools
        if isinstance(x, Selected):
            ends = [exact(x.low), exact(x.high)] + ([0] if x.low <= 0 <= x.high else [])
            return Selected.computed([exact(n) for n in x.values], ends, x)
        return Skip.now() if isinstance(x, float) else exact(x)
    return apply


def selecting(weak):
    def where(condition, a, b):
        if not isinstance(condition, Strong):
            return Skip.now() if isinstance(condition, Selected) else choose_one(condition, a, b)
        c = condition.array.astype(bool)
        if isinstance(a, Strong) or isinstance(b, Strong):
            other = a if isinstance(a, Strong) else b
            a, b = (x.strong(np.int64 if other.array.dtype.kind == "b" else other.array.dtype) if isinstance(x, Selected) else x
                    for x in (a, b))
            a, b = (x.array if isinstance(x, Strong) else convert(x, other.array.dtype) for x in (a, b))
            return Strong(np.where(c, a.astype(common(a, b)), b.astype(common(a, b))))
        if isinstance(a, float) or isinstance(b, float) or (isinstance(a, bool) and isinstance(b, bool)):
            return Skip.now()
        parts = [x if isinstance(x, Selected) else Selected([int(x)] * len(c), int(x), int(x)) for x in (a, b)]
        made = Selected([m if flag else n for flag, m, n in zip(c, parts[0].values, parts[1].values)],
                        min(p.low for p in parts), max(p.high for p in parts), parts[0].needs + parts[1].needs)
        return made if weak else made.strong("int64")
    return where


def common(a, b):
    return np.result_type(np.empty(1, a.dtype), np.empty(1, b.dtype))


def choose_one(condition, a, b):
    if isinstance(a, (Strong, Selected)) or isinstance(b, (Strong, Selected)) or type(a) is not int or type(b) is not int:
        return Skip.now()  # the result's dtype depends on both
    return a if condition else b


class Formula(Text):
    def number(self):
        choose = self.choose
        kind = choose.random()
        if kind < 0.5:
            return choose.choice("abcd")
        if kind < 0.65:
            return choose.choice("km")
        return str(choose.choice((0, 1, 2, 3, 5, 100, 127, 128, 200, 255, 256, 300, 70000))) if kind < 0.93 else str(
            abs(choose.choice(EDGES))) if kind < 0.98 else "0.5"

    def make(self, depth):
        choose = self.choose
        kind = choose.random()
        if depth == 0 or kind < 0.1:
            return self.number()
        if kind < 0.2:
            return f"(-{self.make(depth - 1)})"
        if kind < 0.3:
            return f"{choose.choice(('abs', 'sign', 'square'))}({self.make(depth - 1)})"
        if kind < 0.4:
            return f"{choose.choice(('minimum', 'maximum'))}({self.make(depth - 1)}, {self.make(depth - 1)})"
        if kind < 0.55:
            condition = f"{choose.choice('abcd')} {choose.choice(COMPARISONS)} {self.number()}"
            return f"where({condition}, {self.make(depth - 1)}, {self.make(depth - 1)})"
        name = choose.choice(("+", "-", "*", "//", "%", "&", "|", "^", *COMPARISONS, *COMPARISONS, "+", "-", "*"))
        return f"({self.make(depth - 1)} {name} {self.make(depth - 1)})"


def fresh(choose):
    dtype = choose.choice((*INTEGERS, *INTEGERS, "float32", "float64", "bool"))
    if dtype in INTEGERS:
        limits = np.iinfo(dtype)
        return np.array([choose.choice((0, 1, 3, 5, 100, limits.min, limits.max, limits.max - 1)) for _ in range(4)], dtype)
    return np.array([choose.choice((0, 1, 3, 5)) for _ in range(4)], dtype)


LAZY = {"abs": lambda x: abs(x), "minimum": lambda a, b: collet.minimum(a, b), "maximum": lambda a, b: collet.maximum(a, b),
        "sign": lambda x: collet.sign(x), "square": lambda x: collet.square(x), "where": lambda c, a, b: collet.where(c, a, b)}


def with_numbers(name, function, python):
    """Returns a function that computes Arrays by `function`. If all arguments are numbers, it computes a number by
    `python`."""
    def apply(*given):
        if any(isinstance(x, collet.Array) for x in given):
            return function(*given)
        return python(*given)
    return apply


def space_of(arrays, numbers, weak):
    made = {name: Strong(a) for name, a in arrays.items()} | numbers
    functions = {"abs": one(abs, np.abs), "sign": one(sign, np.sign), "square": one(lambda x: x * x, np.square),
                 "minimum": two(min), "maximum": two(max), "where": selecting(weak)}
    return made | functions


class Negated(ast.NodeTransformer):
    """Replaces -x by neg(x), so that the rules of functions apply to it."""

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return ast.Call(ast.Name("neg", ast.Load()), [node.operand], []) if isinstance(node.op, ast.USub) else node


def expected_of(text, arrays, numbers, weak):
    tree = ast.fix_missing_locations(Negated().visit(ast.parse(text, mode="eval")))
    space = space_of(arrays, numbers, weak) | {"neg": one(operator.neg, np.negative)}
    try:
        made = eval(compile(tree, "formula", "eval"), space)
    except (ZeroDivisionError, TypeError) as error:
        if isinstance(error, ZeroDivisionError) and "0.5" in text:
            raise Skipped from error  # real numbers that a kernel computes follow IEEE 754
        raise Refused from error
    if isinstance(made, Selected):
        return made.as_result()
    if not isinstance(made, Strong):
        raise Skipped  # no arrays
    return made.array


def same(a, b):
    return a.dtype == b.dtype and np.array_equal(np.nan_to_num(a, nan=12345.0), np.nan_to_num(b, nan=12345.0))


def outcome(function):
    try:
        return function()
    except Refused:
        return Refused


def compare_formula(choose):
    text = Formula(choose).make(choose.randrange(1, 4))
    arrays = {name: fresh(choose) for name in "abcd"}
    numbers = {name: choose.choice((0, 1, -1, 2, 5, 127, 128, 255, 256, -128, True, 2**40, 2**63, choose.choice(EDGES[:-6])))
               for name in "km"}
    label = f"{text} with {[(n, a.dtype.name, a.tolist()) for n, a in arrays.items() if n in text]}, {numbers}"
    lazy = {n: collet.asarray(a) for n, a in arrays.items()} | numbers
    lazy |= {n: with_numbers(n, f, {**FUNCTIONS}[n]) for n, f in LAZY.items()}

    def evaluated():
        return collet.evaluate(text, arrays | numbers)

    def waiting():
        made = eval(text, lazy)
        if isinstance(made, collet.Array):
            return made.to_numpy()
        raise Skipped

    tried = 0
    for weak, compute in (True, evaluated), (False, waiting):
        try:
            expected = outcome(lambda: expected_of(text, arrays, numbers, weak))
            made = compute()
        except Skipped:
            continue
        except (collet.Error, ZeroDivisionError, OverflowError, TypeError) as error:
            if expected is not Refused and "127 bits" not in str(error) and "beyond the integers" not in str(error):
                raise AssertionError(f"{label} ({compute.__name__}) is {expected!r}, and {type(error).__name__}: {error}") from error
            tried += 1
            continue
        assert expected is not Refused, f"{label} ({compute.__name__}) is an error, not {made!r}"
        assert same(np.asarray(made), expected), f"{label} ({compute.__name__}) is {expected!r}, not {made!r}"
        tried += 1
    return tried


# ---- The tests ----------------------------------------------------------------------------------


def texts(seed, count):
    choose, tried = random.Random(seed), 0
    with np.errstate(all="ignore"):
        while tried < count:
            tried += compare_text(choose)


def formulas(seed, count):
    choose, tried = random.Random(seed), 0
    with np.errstate(all="ignore"):
        while tried < 2 * count:
            tried += compare_formula(choose)


def test_texts():
    texts(1, 1500)


def test_formulas():
    formulas(1, 1000)


@pytest.mark.usefixtures("all_wait")
def test_formulas_that_wait():
    formulas(2, 1000)


if __name__ == "__main__":
    texts(int(sys.argv[1]), int(sys.argv[2]))
    formulas(int(sys.argv[1]), int(sys.argv[3]) // 2)
    collet._core.wait_from(0)
    formulas(int(sys.argv[1]) + 1, int(sys.argv[3]) // 2)

# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_transforms.py
"""The public functions of gradients, under JAX's names. collet exports them."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Generic, Literal, ParamSpec, TypeVar, overload

import numpy as np

from .. import _core
from .. import _hook as hook
from .. import functions as f
from .._array.creation import asarray, shared
from .._array.operands import result_type
from .._standard.array import Array
from . import array_rules, elementwise_rules, reduction_rules, rules, tape, traced
from .tape import Differentiated, Node, Traced, bottom
from .trees import leaves, mapped, node, rebuilt

__all__ = ["custom_vjp", "grad", "hessian", "jacobian", "stop_gradient", "value_and_grad", "vjp"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
_Function = Callable[Concatenate[Array, ...], Array]  # a function of an Array, whose gradient is an Array
_PLAIN = (bool, int, float, complex, str, bytes)
_NUMPY = (np.ndarray, np.generic)

# ---- Tracing


_REAL = {"complex64": "float32", "complex128": "float64"}


def _number(value: Any, tree: Any) -> Any:
    """Converts a float or complex number of a tree to an Array, with the precision of the arrays of the tree."""
    kind = tape.kind_of_number(value)
    dtypes = {x.dtype for x in leaves(tree) if tape.floating(x) or isinstance(x, _NUMPY) and x.dtype.kind in "fcV"}
    dtype = result_type(kind(0), *dtypes) if dtypes else np.dtype(kind)
    return asarray(value, _REAL.get(dtype.name, dtype) if kind is float else dtype)


def _argument(value: Any, where: str, whole: Any) -> Any:
    """A leaf of the argument `whole`, as an Array if it can be differentiated."""
    alone = node(whole) is None
    if tape.kind_of_number(value) in (float, complex):
        return _number(value, whole)
    if type(value) in _PLAIN:
        if alone:
            raise TypeError(f"{where} is {value!r}; only floating-point numbers and arrays have a gradient: "
                            "give a float, or choose others by argnums")
        return value
    if isinstance(value, Traced):
        return value
    if isinstance(value, (Array, *_NUMPY)):
        array = value if isinstance(value, Array) else shared(value)
        if alone and not tape.floating(array):
            raise TypeError(f"{where} has the dtype {array.dtype}; only floating-point arrays have a "
                            "gradient: convert it by astype, or choose others by argnums")
        return array
    return value


class _Run:
    """One call of a function, with traced arguments at the indices `argnums`."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any],
                 argnums: tuple[int, ...]) -> None:
        self.of_trace = next(tape.numbers)
        self.trees, given = [], list(arguments)
        for i in argnums:
            tree = arguments[i]
            tree = mapped(functools.partial(_argument, where=f"argument {i}", whole=tree), tree)
            nodes = mapped(lambda leaf: _Leaf(leaf) if tape.floating(leaf) else leaf, tree)
            if not any(isinstance(n, _Leaf) for n in leaves(nodes)):
                raise TypeError(f"argument {i} has no floating-point array, so there is nothing to "
                                "differentiate by: give collet.asarray of its numbers")
            self.trees.append(nodes)
            given[i] = mapped(self._trace, nodes)
        hook.start(tape)
        try:
            self.result = function(*given, **keywords)
        finally:
            hook.stop()

    def _trace(self, leaf: Any) -> Any:
        return Differentiated(leaf.value, self.of_trace, leaf.node) if isinstance(leaf, _Leaf) else leaf

    def traced(self, value: Any) -> bool:
        return type(value) is Differentiated and value.of_trace == self.of_trace

    def value(self, value: Any) -> Any:
        """The result with this trace removed."""
        return value.value if self.traced(value) else value

    def gradients(self, ends: list[tuple[Any, Any]], keep: bool) -> list[Any]:
        """The gradients with respect to each argument. ends: pairs (result, gradient with respect to the result)."""
        found = tape.pull([(end.node, end.index, g) for end, g in ends if self.traced(end)], keep)

        def of(leaf: Any) -> Any:
            if not isinstance(leaf, _Leaf):
                return None
            gradient = found.get(leaf.node.number)
            return f.zeros_like(bottom(leaf.value)) if gradient is None else gradient

        return [mapped(of, tree) for tree in self.trees]


class _Leaf:
    def __init__(self, value: Any) -> None:
        self.value, self.node = value, Node()


def _numbers(argnums: int | Sequence[int], count: int, name: str) -> tuple[int, ...]:
    numbers = (argnums,) if hasattr(argnums, "__index__") else tuple(argnums)
    for n in numbers:
        if not -count <= operator.index(n) < count:
            raise TypeError(f"{name}: argnums has {n}; the function was called with {count} positional "
                            "arguments")
    numbers = tuple(n % count for n in numbers)
    if len({*numbers}) < len(numbers):
        raise ValueError(f"{name}: argnums is {argnums}, which names an argument twice")
    return numbers


def _chosen(gradients: list[Any], argnums: int | Sequence[int]) -> Any:
    return gradients[0] if hasattr(argnums, "__index__") else tuple(gradients)


def _with_aux(result: Any, name: str) -> tuple[Any, Any]:
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError(f"{name} with has_aux needs a function that returns (result, others), not "
                        f"{type(result).__name__}")
    return result


def _scalar(result: Any, name: str) -> Any:
    """The result, a real number."""
    if type(result) in (int, float):
        return asarray(float(result))
    if not isinstance(result, (Array, Traced)):
        raise TypeError(f"{name}: the function returned {type(result).__name__}, not an array")
    if result.shape != () or result.dtype.kind not in "fV":
        raise TypeError(f"{name}: the function returned the shape {result.shape} of {result.dtype}; it has "
                        "to be one real number: sum it, or take collet.jacobian")
    return result


@overload
def value_and_grad(fun: _Function, argnums: Literal[0] = 0, has_aux: Literal[False] = False
                   ) -> Callable[..., tuple[Array, Array]]: ...
@overload
def value_and_grad(fun: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
                   ) -> Callable[P, tuple[Any, Any]]: ...
def value_and_grad(fun: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
                   ) -> Callable[P, tuple[Any, Any]]:
    """Like grad, but the returned function returns (value, gradient). With has_aux the returned function returns
    ((value, others), gradient); `others` are the other results of `fun`.

    >>> [float(x) for x in collet.value_and_grad(lambda x: x**2)(3.0)]
    [9.0, 6.0]"""
    @functools.wraps(fun)
    def differentiated(*arguments: P.args, **keywords: P.kwargs) -> Any:
        name = "value_and_grad"
        run = _Run(fun, arguments, keywords, _numbers(argnums, len(arguments), name))
        result, aux = _with_aux(run.result, name) if has_aux else (run.result, None)
        result = _scalar(result, name)
        run.result = None  # type: ignore[assignment]
        value = run.value(result)
        one = f.ones_like(bottom(value))
        gradients = _chosen(run.gradients([(result, one)], keep=False), argnums)
        return ((value, mapped(run.value, aux)) if has_aux else value), gradients

    return differentiated


@overload
def grad(fun: _Function, argnums: Literal[0] = 0, has_aux: Literal[False] = False) -> Callable[..., Array]: ...
@overload
def grad(fun: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[P, Any]: ...
def grad(fun: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
         ) -> Callable[P, Any]:
    """A function that returns the gradient of `fun`, whose result is one real number. The derivative is taken with
    respect to the argument with the index `argnums`; a tuple of indices gives a tuple of gradients. has_aux: `fun`
    returns (result, others), and the returned function returns (gradient, others).

    An argument is an Array, or lists, tuples and dicts of Arrays. Its gradient has the same structure.
    NumPy arrays and floats become Arrays, and gradients are Arrays. A float becomes float64; inside of a list, tuple or dict
    it gets the dtype of the floating-point arrays there. Integers, also arrays of them, and None are passed on; their
    gradient is None.

    The gradient with respect to a complex argument is d/d(real part) - i d/d(imaginary part), as in JAX. Transforms
    nest. docs/gradients.md lists the functions that have a gradient.

    >>> collet.grad(lambda x: collet.sum(x**3))(np.array([1.0, 2]))
    collet.Array([ 3., 12.], dtype=float64, shape=(2,), device='host')"""
    both = value_and_grad(fun, argnums, has_aux)

    @functools.wraps(fun)
    def differentiated(*arguments: P.args, **keywords: P.kwargs) -> Any:
        value, gradients = both(*arguments, **keywords)
        return (gradients, value[1]) if has_aux else gradients

    return differentiated


@overload
def vjp(fun: Callable[..., R], *primals: Any, has_aux: Literal[False] = False
        ) -> tuple[R, Callable[[R], tuple[Any, ...]]]: ...
@overload
def vjp(fun: Callable[..., tuple[R, T]], *primals: Any, has_aux: Literal[True]
        ) -> tuple[R, Callable[[R], tuple[Any, ...]], T]: ...
@overload
def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool) -> tuple[Any, ...]: ...
def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Returns (result, pullback), and with has_aux (result, pullback, others). g has the structure of the
    result. pullback(g) returns a tuple: the gradients of sum(g * result) with respect to all arguments.
    pullback may be called several times, and keeps the arrays that it needs.

    >>> y, pullback = collet.vjp(lambda x: 2*x, collet.ones(3))
    >>> pullback(collet.ones(3))[0]
    collet.Array([2., 2., 2.], dtype=float64, shape=(3,), device='host')"""
    run = _Run(fun, primals, {}, tuple(range(len(primals))))
    result, aux = _with_aux(run.result, "vjp") if has_aux else (run.result, None)
    run.result = None  # type: ignore[assignment]

    def pullback(gradient: Any) -> tuple[Any, ...]:
        ends, given = leaves(result), leaves(gradient)
        if len(ends) != len(given):
            raise TypeError(f"vjp: the result has {len(ends)} arrays, the gradient has {len(given)}")
        pairs = []
        for end, g in zip(ends, given):
            g = g if isinstance(g, (Array, Traced)) else asarray(g)
            if run.traced(end):
                if g.shape != end.shape:
                    raise _core.ShapeError(f"vjp: the result has the shape {end.shape}, its gradient "
                                           f"{g.shape}")
                pairs.append((end, rules.cast(g, end.dtype)))
        return tuple(run.gradients(pairs, keep=True))

    made = mapped(run.value, result), pullback
    return (*made, mapped(run.value, aux)) if has_aux else made


@overload
def jacobian(fun: _Function, argnums: Literal[0] = 0, has_aux: Literal[False] = False) -> Callable[..., Array]: ...
@overload
def jacobian(fun: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[P, Any]: ...
def jacobian(fun: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
             ) -> Callable[P, Any]:
    """A function that returns the derivatives of each element of fun's result with respect to each element
    of the argument argnums. fun returns a real array, or lists, tuples and dicts of real arrays. Each array
    of the result is replaced by its derivatives, whose first axes are the array's axes. Each element takes
    one backward pass.

    >>> collet.jacobian(lambda x: x**2)(np.array([1.0, 3]))
    collet.Array([[2., 0.],
                  [0., 6.]], dtype=float64, shape=(2, 2), device='host')"""
    @functools.wraps(fun)
    def differentiated(*arguments: P.args, **keywords: P.kwargs) -> Any:
        run = _Run(fun, arguments, keywords, _numbers(argnums, len(arguments), "jacobian"))
        result, aux = _with_aux(run.result, "jacobian") if has_aux else (run.result, None)

        def of(end: Any) -> Any:
            if not isinstance(end, (Array, Traced)) or end.dtype.kind not in "fV":
                raise TypeError("jacobian: the function returned "
                                f"{getattr(end, 'dtype', type(end).__name__)}, not a real array")
            units = f.eye(end.size, dtype=end.dtype) if end.size else f.zeros_like(f.eye(1))[:0]
            rows = [_chosen(run.gradients([(end, units[i].reshape(end.shape))], keep=True), argnums)
                    for i in range(end.size)]
            if not rows:
                raise _core.ShapeError(f"jacobian: the result has the shape {end.shape}, without elements")
            columns = zip(*map(leaves, rows))
            stacked = [f.reshape(f.stack(c), (*end.shape, *c[0].shape)) for c in columns]
            return rebuilt(rows[0], stacked)

        made = mapped(of, result)
        return (made, mapped(run.value, aux)) if has_aux else made

    return differentiated


@overload
def hessian(fun: _Function, argnums: Literal[0] = 0, has_aux: Literal[False] = False) -> Callable[..., Array]: ...
@overload
def hessian(fun: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[P, Any]: ...
def hessian(fun: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
            ) -> Callable[P, Any]:
    """A function that returns the second derivatives: the jacobian of the jacobian.

    >>> collet.hessian(lambda x: collet.sum(x**3))(np.array([1.0, 2]))
    collet.Array([[ 6.,  0.],
                  [ 0., 12.]], dtype=float64, shape=(2, 2), device='host')"""
    return jacobian(jacobian(fun, argnums, has_aux), argnums, has_aux)


def stop_gradient(x: T) -> T:
    """Returns the argument unchanged. Gradients treat it as a constant.

    >>> float(collet.grad(lambda x: x * collet.stop_gradient(x))(3.0))
    3.0"""
    return mapped(bottom, x)


# ---- User-defined gradients


class custom_vjp(Generic[R]):
    """A function with a user-defined gradient, as in JAX.

    forward(*arguments) returns (result, saved). backward(saved, gradient) returns a tuple with the gradient
    with respect to each argument; None stands for 0.

    >>> @collet.custom_vjp
    ... def clipped(x):
    ...     return collet.clip(x, -1, 1)
    >>> clipped.defvjp(lambda x: (clipped(x), None), lambda _, g: (g,))  # as if it were x
    >>> float(collet.grad(clipped)(5.0))
    1.0"""

    def __init__(self, fun: Callable[..., R]) -> None:
        functools.update_wrapper(self, fun)
        self._fun = fun
        self._forward: Callable[..., tuple[Any, Any]] | None = None
        self._backward: Callable[[Any, Any], tuple[Any, ...]] | None = None

    def defvjp(self, forward: Callable[..., tuple[Any, Any]], backward: Callable[[Any, Any], tuple[Any, ...]]
               ) -> None:
        """Sets the two functions."""
        self._forward, self._backward = forward, backward

    def __call__(self, *arguments: Any) -> R:
        flat = leaves(arguments)
        trace = max((leaf.of_trace for leaf in flat if type(leaf) is Differentiated), default=-1)
        if trace < 0:
            return self._fun(*arguments)
        name = getattr(self, "__name__", "the function")
        if self._forward is None or self._backward is None:
            raise TypeError(f"custom_vjp: {name} has no gradient yet: call {name}.defvjp(forward, backward)")
        def ours(leaf: Any) -> bool:
            return type(leaf) is Differentiated and leaf.of_trace == trace

        places = [(leaf, i, None) for i, leaf in enumerate(flat) if ours(leaf)]
        values = mapped(lambda leaf: leaf.value if ours(leaf) else leaf, arguments)
        result, kept = self._forward(*values)
        ends, backward = leaves(result), self._backward
        for end in ends:
            if type(end) is Differentiated and end.of_trace >= trace:
                raise TypeError(f"custom_vjp: {name} uses an array that is differentiated and not its argument: make "
                                "it an argument")

        def back(gradients: Sequence[Any]) -> list[Any]:
            given = [f.zeros_like(bottom(end)) if g is None and tape.floating(end) else g
                     for end, g in zip(ends, gradients)]
            found = backward(kept, rebuilt(result, given))
            if not isinstance(found, (tuple, list)) or len(found) != len(arguments):
                raise TypeError(f"custom_vjp: the backward function of {name} has to return a tuple of "
                                f"{len(arguments)} gradients")
            return _spread(values, found, name)

        made = tape.attach(tuple(ends), trace, places, back)
        return rebuilt(result, made)


def _spread(values: Any, found: Any, name: str) -> list[Any]:
    """The gradients of all leaves. If the gradient of an argument is None, each of its leaves has the gradient
    None."""
    inner = node(values)
    if inner is None:
        if found is not None and not isinstance(found, (Array, Traced)):
            found = asarray(found)
        shape = getattr(values, "shape", ())
        if found is not None and found.shape != shape:
            raise _core.ShapeError(f"custom_vjp: the backward function of {name} returned the shape "
                                   f"{found.shape} for an argument of the shape {shape}")
        return [found if found is None or not hasattr(values, "dtype") else rules.cast(found, values.dtype)]
    if found is None:
        parts = [None] * len(inner.children)
    else:
        parts = [found[n] for n in values] if isinstance(values, dict) else getattr(node(found), "children", [])
    if len(parts) != len(inner.children):
        raise TypeError(f"custom_vjp: the backward function of {name} returned {found!r} for an argument with "
                        f"{len(inner.children)} parts")
    return [g for v, part in zip(inner.children, parts) for g in _spread(v, part, name)]

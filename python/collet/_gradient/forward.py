# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_forward.py
"""Derivatives along directions. The pullback of vjp is linear in its argument, so the pullback of the pullback is the
derivative along a direction. So every function with a gradient also has this derivative."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, ParamSpec, TypeVar, overload

from .. import _core
from .. import functions as f
from .._array.creation import asarray
from .._standard.array import Array
from .rules import E_
from .tape import Traced, bottom, floating, is_number, kind_of_number
from .transforms import _chosen, _Function, _number, _numbers, grad, vjp
from .trees import leaves, mapped, node, rebuilt
from .vmap import vmap

__all__ = ["hvp", "jacfwd", "jvp", "linearize"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def _directions(primal: Any, tangent: Any, name: str, where: str) -> Iterator[Any]:
    """The tangent of each array of the primal that can be differentiated."""
    inner, given = node(primal), node(tangent)
    if inner is None:
        if not floating(primal):
            return
        tangent = tangent if isinstance(tangent, Traced) and not is_number(tangent) else asarray(tangent)
        if tangent.shape != primal.shape:
            raise _core.ShapeError(f"{name}: {where} has an array of the shape {primal.shape}, and its tangent has the shape "
                                   f"{tangent.shape}")
        yield tangent
        return
    if given is None or len(given.children) != len(inner.children):
        raise TypeError(f"{name}: {where} is a tree with {len(inner.children)} parts, and its tangent is {tangent!r}")
    parts = [tangent[key] for key in primal] if isinstance(primal, dict) else given.children
    for child, part in zip(inner.children, parts):
        yield from _directions(child, part, name, where)


def _arrays(tree: Any) -> Any:
    """Converts the floating-point numbers and NumPy arrays of a tree to Arrays."""
    def leaf(value: Any) -> Any:
        if kind_of_number(value) in (float, complex):
            return _number(value, tree)
        return asarray(value) if hasattr(value, "__array_struct__") else value

    return mapped(leaf, tree)


def _linearized(fun: Callable[..., Any], primals: Sequence[Any], name: str, has_aux: bool = False) -> Any:
    """Returns the result of the function, and a function that maps tangents to the derivative of the result along
    them. With has_aux also returns the other results."""
    primals = [_arrays(tree) for tree in primals]
    value, pullback, *others = vjp(fun, *primals, has_aux=has_aux)
    ends = [end for end in leaves(value) if floating(end)]
    pushforward = None
    if ends:
        def transposed(given: list[Any]) -> list[Any]:
            following = iter(given)
            tree = mapped(lambda end: next(following) if floating(end) else end, value)
            return leaves(pullback(tree))

        _, pushforward = vjp(transposed, [f.zeros_like(bottom(end)) for end in ends])

    def push(tangents: Sequence[Any]) -> Any:
        if len(tangents) != len(primals):
            raise TypeError(f"{name}: there are {len(primals)} primals and {len(tangents)} tangents")
        given = [t for i, (p, t) in enumerate(zip(primals, tangents)) for t in _directions(p, t, name, f"argument {i}")]
        found = iter(pushforward(given)[0] if pushforward else ())
        return mapped(lambda end: next(found) if floating(end) else f.zeros_like(end) if hasattr(end, "shape") else 0, value)

    return value, push, *others


@overload
def linearize(fun: Callable[..., R], *primals: Any, has_aux: Literal[False] = False) -> tuple[R, Callable[..., R]]: ...
@overload
def linearize(fun: Callable[..., tuple[R, T]], *primals: Any, has_aux: Literal[True]
              ) -> tuple[R, Callable[..., R], T]: ...
@overload
def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool) -> tuple[Any, ...]: ...
def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Returns the result of `fun`, and a function that maps tangents, one for each argument, to the derivative of the
    result along them. With has_aux also returns the other results, as in JAX. The function keeps the arrays that it
    needs.

    >>> y, along = collet.linearize(lambda x: x**2, collet.asarray([1.0, 3.0]))
    >>> along(collet.asarray([1.0, 10.0]))
    collet.Array([ 2., 60.], dtype=float64, shape=(2,), device='host')"""
    value, push, *others = _linearized(fun, primals, "linearize", has_aux)
    return value, lambda *tangents: push(tangents), *others


@overload
def jvp(fun: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any], has_aux: Literal[False] = False) -> tuple[R, R]: ...
@overload
def jvp(fun: Callable[..., tuple[R, T]], primals: Sequence[Any], tangents: Sequence[Any], *, has_aux: Literal[True]
        ) -> tuple[R, R, T]: ...
@overload
def jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool) -> tuple[Any, ...]: ...
def jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """Returns (result, derivative of the result along the tangents), and with has_aux also the other results, as in
    JAX. primals: the arguments of `fun`; tangents: trees of the same structure. The tangents of arrays of integers
    have no effect.

    >>> collet.jvp(collet.sin, [collet.asarray(0.0)], [collet.asarray(2.0)])[1]
    collet.Array(2., dtype=float64, shape=(), device='host')"""
    value, push, *others = _linearized(fun, primals, "jvp", has_aux)
    return value, push(tangents), *others


@overload
def jacfwd(fun: _Function, argnums: Literal[0] = 0, has_aux: Literal[False] = False) -> Callable[..., Array]: ...
@overload
def jacfwd(fun: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[P, Any]: ...
def jacfwd(fun: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[P, Any]:
    """Like jacobian, but computes the derivatives along all elements of the argument at once, which takes less time if the
    result has more elements than the argument. Raises TypeError for complex arguments.

    >>> collet.jacfwd(lambda x: collet.stack([x, x**2]))(3.0)
    collet.Array([1., 6.], dtype=float64, shape=(2,), device='host')"""
    @functools.wraps(fun)
    def differentiated(*arguments: P.args, **keywords: P.kwargs) -> Any:
        numbers = _numbers(argnums, len(arguments), "jacfwd")
        trees = [_arrays(arguments[i]) for i in numbers]

        def of(*chosen: Any) -> Any:
            given: list[Any] = list(arguments)
            for i, tree in zip(numbers, chosen):
                given[i] = tree
            return fun(*given, **keywords)  # type: ignore[arg-type]

        value, push, *others = _linearized(of, trees, "jacfwd", has_aux)
        columns = []
        flat = leaves(trees)
        for place, leaf in enumerate(flat):
            if not floating(leaf):
                columns.append(None)
                continue
            if leaf.dtype.kind == "c":
                raise TypeError("jacfwd: an argument is complex: differentiate by its real and imaginary part")
            units = f.reshape(f.eye(leaf.size, dtype=leaf.dtype), (leaf.size, *leaf.shape))
            rest = [f.zeros_like(bottom(x)) if floating(x) else x for x in flat]

            def along(unit: Any, place: int = place, rest: list[Any] = rest) -> Any:
                return push(rebuilt(trees, [*rest[:place], unit, *rest[place + 1:]]))

            found = vmap(along)(units)
            columns.append([f.reshape(f.moveaxis(x, 0, -1), (*x.shape[1:], *leaf.shape)) for x in leaves(found)])
        made = [_chosen(rebuilt(trees, [c and c[i] for c in columns]), argnums) for i in range(len(leaves(value)))]
        made = rebuilt(value, made)
        return (made, *others) if has_aux else made

    return differentiated


@overload
def hvp(fun: Callable[..., Array], primals: Sequence[Array], tangents: Sequence[Array]) -> Array: ...
@overload
def hvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any: ...
def hvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The derivative of grad(fun) along the tangents: for one argument the product of the Hessian of `fun` and the tangent,
    computed without the Hessian. It has the structure of the first argument.

    >>> collet.hvp(lambda x: collet.sum(x**3), [collet.asarray([1.0, 2.0])], [collet.asarray([1.0, 1.0])])
    collet.Array([ 6., 12.], dtype=float64, shape=(2,), device='host')"""
    def slope(*given: Any) -> Any:
        """The derivative of `fun` along the tangents. Second derivatives are symmetric, so the gradient of this
        function is the result of hvp."""
        gradients = grad(fun, tuple(range(len(given))))(*given)
        pairs = zip(leaves(gradients), [t for i, (p, t) in enumerate(zip(given, tangents))
                                        for t in _directions(p, t, "hvp", f"argument {i}")])
        return sum(f.sum(E_["real"](g * t)) for g, t in pairs)

    if len(primals) != len(tangents):
        raise TypeError(f"hvp: there are {len(primals)} primals and {len(tangents)} tangents")
    return grad(slope)(*map(_arrays, primals))

# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_transforms.py
"""Trees: nested lists, tuples, named tuples, dicts, dataclasses and objects of registered classes. Everything else is a
leaf."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple


class Node(NamedTuple):
    """An inner node. build(children) makes a node of the same kind; two nodes have the same structure if their
    keys are equal and their children have the same structure."""

    children: list[Any]
    build: Callable[[list[Any]], Any]
    key: Any


_registered: dict[type, tuple[Callable[[Any], tuple[Iterable[Any], Any]], Callable[[Any, Sequence[Any]], Any]]] = {}


def register_pytree_node(nodetype: type, flatten_func: Callable[[Any], tuple[Iterable[Any], Any]],
                         unflatten_func: Callable[[Any, Sequence[Any]], Any]) -> None:
    """Makes objects of the class inner nodes of the trees that transforms take, as in JAX. flatten_func(object)
    returns (children, aux), where aux is hashable; unflatten_func(aux, children) makes an object. Raises ValueError
    if the class is a tree already. Dataclasses and named tuples are trees already, without a registration.

    >>> class Line:
    ...     def __init__(self, slope, offset):
    ...         self.slope, self.offset = slope, offset
    >>> collet.register_pytree_node(Line, lambda l: ((l.slope, l.offset), None), lambda _, parts: Line(*parts))
    >>> float(collet.grad(lambda l: l.slope**2 + l.offset)(Line(collet.asarray(3.0), collet.asarray(1.0))).slope)
    6.0"""
    if nodetype in _registered or issubclass(nodetype, (dict, list, tuple)):
        raise ValueError(f"register_pytree_node: {nodetype.__name__} is a tree already")
    _registered[nodetype] = flatten_func, unflatten_func


def _replaced(tree: Any, names: tuple[str, ...], values: list[Any]) -> Any:
    """A copy of a dataclass with other fields. The checks of __post_init__ do not run, because the fields may be
    traced arrays or gradients."""
    made = copy.copy(tree)
    for name, value in zip(names, values):
        object.__setattr__(made, name, value)
    return made


def node(tree: Any) -> Node | None:
    """The inner node, or None for a leaf. None is a node without children."""
    kind = type(tree)
    if kind is tuple or kind is list:
        return Node(list(tree), kind, (kind, len(tree)))
    if tree is None:
        return Node([], lambda _: None, None)
    if isinstance(tree, dict):
        names = tuple(tree)
        return Node(list(tree.values()), lambda values: kind(zip(names, values)), (kind, names))
    if kind in _registered:
        flatten, unflatten = _registered[kind]
        children, aux = flatten(tree)
        return Node(list(children), lambda values: unflatten(aux, values), (kind, aux))
    if isinstance(tree, (list, tuple)):
        return Node(list(tree), getattr(kind, "_make", kind), (kind, len(tree)))
    if dataclasses.is_dataclass(kind):
        fields = tuple(field.name for field in dataclasses.fields(kind))
        return Node([getattr(tree, n) for n in fields], lambda values: _replaced(tree, fields, values), (kind, fields))
    return None


def leaves(tree: Any) -> list[Any]:
    """The leaves, in order."""
    found: list[Any] = []
    structure(tree, found)
    return found


def structure(tree: Any, found: list[Any]) -> Any:
    """Appends the leaves to `found`. Returns a value that is equal for trees of one structure; "" for a leaf."""
    kind = type(tree)
    if kind is tuple or kind is list:  # the frequent kinds, without making a Node
        return kind, *[structure(child, found) for child in tree]
    if kind is dict:
        return kind, *tree, *[structure(child, found) for child in tree.values()]
    inner = node(tree)
    if inner is None:
        found.append(tree)
        return ""
    return inner.key, *[structure(child, found) for child in inner.children]


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """The tree with every leaf replaced by function(leaf)."""
    inner = node(tree)
    return function(tree) if inner is None else inner.build([mapped(function, child) for child in inner.children])


def rebuilt(tree: Any, values: Iterable[Any]) -> Any:
    """The tree with its leaves replaced by the values, in order."""
    following = iter(values)
    return mapped(lambda _: next(following), tree)

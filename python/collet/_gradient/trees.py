# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/gradient/test_transforms.py
"""Nested lists, tuples, named tuples and dicts of arrays."""


def leaves(tree):
    """The leaves, in order. None counts as an empty tree."""
    if isinstance(tree, dict):
        return [leaf for value in tree.values() for leaf in leaves(value)]
    if isinstance(tree, (list, tuple)):
        return [leaf for value in tree for leaf in leaves(value)]
    return [] if tree is None else [tree]


def mapped(function, tree):
    """The tree with every leaf replaced by function(leaf)."""
    if isinstance(tree, dict):
        made = {name: mapped(function, value) for name, value in tree.items()}
        return made if type(tree) is dict else type(tree)(made)
    if isinstance(tree, (list, tuple)):
        made = [mapped(function, value) for value in tree]
        if hasattr(tree, "_make"):
            return type(tree)._make(made)
        return made if type(tree) is list else type(tree)(made)
    return None if tree is None else function(tree)


def rebuilt(tree, values):
    """The tree with its leaves replaced by the values, in order."""
    values = iter(values)
    return mapped(lambda _: next(values), tree)

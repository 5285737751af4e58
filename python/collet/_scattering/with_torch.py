# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/scatter/test_scatter_torch.py
"""collet.scatter.torch_function, imported by its first call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from .._core import InvalidError, RefusedError
from .functions import Function
from .patterns import Patterns


class _Call:
    """One call: its patterns, which compute the gradients later."""

    def __init__(self, function: Function, patterns: Patterns, device: torch.device) -> None:
        self.function, self.patterns, self.device = function, patterns, device

    def gradients(self, cotangents: torch.Tensor, tensors: Sequence[torch.Tensor],
                  needs: Sequence[bool]) -> tuple[torch.Tensor | None, ...]:
        given = cotangents.detach().cpu().numpy()  # the engine ignores cotangents of pixels that are NaN
        found = self.function.gradients(self.patterns, given, tensors, needs)
        return tuple(None if g is None else torch.from_numpy(g).to(self.device, t.dtype)
                     for g, t in zip(found, tensors))


class _Patterns(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
    @staticmethod
    def forward(ctx: Any, call: _Call, values: list[torch.Tensor], *tensors: torch.Tensor) -> torch.Tensor:
        ctx.call = call
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors)  # PyTorch then refuses gradients of tensors that were changed in place
        return values.pop()

    @staticmethod
    def backward(ctx: Any, cotangents: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        tensors = ctx.saved_tensors
        if cotangents is None:
            return (None,) * (2 + len(tensors))
        return None, None, *_Gradients.apply(ctx.call, ctx.needs_input_grad[2:], cotangents, *tensors)


class _Gradients(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
    """The gradients, as a function that raises when it is differentiated."""

    @staticmethod
    def forward(ctx: Any, call: _Call, needs: Sequence[bool], cotangents: torch.Tensor,
                *tensors: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        return call.gradients(cotangents, tensors, needs)

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise RefusedError("torch_function: gradients of patterns cannot be differentiated; only first derivatives are "
                           "computed")


def _check(shared: Function, tensors: Sequence[Any]) -> torch.device:
    """Raises for arguments that are not tensors of one device. Returns the device."""
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"{shared.name(i)} is {type(tensor).__name__}, not a torch.Tensor")
        if tensor.device != tensors[0].device:
            raise InvalidError(f"{shared.name(i)} is on {tensor.device}, {shared.name(0)} on {tensors[0].device}: the "
                               "tensors must be on one device")
    device: torch.device = tensors[0].device
    return device


def function(shared: Function) -> Callable[..., Any]:
    def patterns(*tensors: torch.Tensor) -> Any:
        shared.count(len(tensors))
        device = _check(shared, tensors)
        shared.shape([tuple(t.shape) for t in tensors])
        dtype = shared.dtype([str(t.dtype).removeprefix("torch.") for t in tensors])
        made = shared.patterns([t.detach().cpu().numpy() for t in tensors], dtype)
        try:
            found = shared.values(made)
        except BaseException:
            made.close()
            raise
        values = torch.from_numpy(found).to(device)
        if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
            return _Patterns.apply(_Call(shared, made, device), [values], *tensors)
        made.close()
        return values

    return patterns

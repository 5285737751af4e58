# SPDX-License-Identifier: Apache-2.0
"""Random numbers of the tests of analyses."""

import copy

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def same_numbers(request, monkeypatch):
    """Each test gets a copy of its module's generator, so its random numbers do not depend on earlier tests."""
    if isinstance(getattr(request.module, "random", None), np.random.Generator):
        monkeypatch.setattr(request.module, "random", copy.deepcopy(request.module.random))

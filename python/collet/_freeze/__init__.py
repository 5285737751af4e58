# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/process/test_frozen.py
"""Frozen applications: the folder with PyInstaller's hook, which collects the whole package."""

import os


def hook_dirs():
    return [os.path.dirname(__file__)]

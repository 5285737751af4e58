# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/process/test_frozen.py
"""PyInstaller's hook. Backends, programs and the start of the package are opened by path. PyInstaller's
analysis of imports does not find them."""

import os

from PyInstaller.utils.hooks import collect_submodules, get_module_file_attribute

_FOLDER = os.path.dirname(get_module_file_attribute("collet"))

hiddenimports = collect_submodules("collet", filter=lambda name: "_freeze" not in name)
datas = [(os.path.join(folder, name), os.path.relpath(folder, os.path.dirname(_FOLDER)))
         for folder, _, names in os.walk(_FOLDER) for name in names
         if "__pycache__" not in folder and not name.endswith(".pyi")]

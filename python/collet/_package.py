# SPDX-License-Identifier: Apache-2.0
"""The start of the package: refuses a folder that it shares with another distribution, the
program `collet` of PyPI, and runs __init__.py. __init__.abi3.so calls it, which Python prefers to
an __init__.py of either."""

import os

DISTRIBUTION = "collet-runtime"
_AGAIN = f"pip install --force-reinstall --no-deps {DISTRIBUTION}"
MEND = f"pip uninstall --yes collet && {_AGAIN}"


def strangers(folder):
    """The distributions called `collet` whose metadata is in a folder of sys.path, as "collet
    0.0.1". importlib.metadata would take longer to import than the package."""
    try:
        entries = os.listdir(folder)
    except OSError:
        return []
    ends = (".dist-info", ".egg-info")
    return [name.rpartition(".")[0].replace("-", " ", 1) for name in sorted(entries)
            if name.endswith(ends) and name.lower().startswith(("collet-", "collet.egg"))]


def load(package):
    """Runs __init__.py, which may be compiled already, in the module `package`."""
    folder = package.__path__[0]
    site = os.path.dirname(folder)
    for other in strangers(site):
        raise ImportError(f"two distributions have overwritten each other's files in {folder}: "
                          f"{DISTRIBUTION} and the unrelated {other}. Keep one: {MEND}")
    for name in ("__init__.py", "__main__.py"):
        if not os.path.exists(os.path.join(folder, name)):
            raise ImportError(f"{folder}/{name} is missing, perhaps since the unrelated "
                              f"distribution collet was uninstalled: {_AGAIN}")
    package.__file__ = os.path.join(folder, "__init__.py")
    source = type(__spec__.loader)("collet", package.__file__)
    exec(source.get_code("collet"), package.__dict__)

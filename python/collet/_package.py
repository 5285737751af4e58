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


def _folder(package, own):
    """Where __init__.py and __main__.py are: beside the extension, or, of an editable installation,
    with the sources."""
    for name in ("__init__.py", "__main__.py"):
        found = [f for f in (own, *package.__path__) if os.path.exists(os.path.join(f, name))]
        if not found:
            raise ImportError(f"{own}/{name} is missing, perhaps since the unrelated distribution "
                              f"collet was uninstalled: {_AGAIN}")
    return found[0]


def load(package):
    """Runs __init__.py, which may be compiled already, in the module `package`."""
    own = os.path.dirname(package.__spec__.origin)
    for other in strangers(os.path.dirname(own)):
        raise ImportError(f"two distributions have overwritten each other's files in {own}: "
                          f"{DISTRIBUTION} and the unrelated {other}. Keep one: {MEND}")
    package.__file__ = os.path.join(_folder(package, own), "__init__.py")
    source = type(__spec__.loader)("collet", package.__file__)
    exec(source.get_code("collet"), package.__dict__)

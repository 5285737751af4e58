# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_distributions.py
"""The start of the package: raises ImportError if another distribution, the program `collet` of PyPI, is in the
same folder; else runs __init__.py. __init__.abi3.so calls this module; Python prefers __init__.abi3.so to the
__init__.py of either distribution."""

import os

DISTRIBUTION = "collet-runtime"
_AGAIN = f"pip install --force-reinstall --no-deps {DISTRIBUTION}"


def _removal(info):
    """The command that uninstalls a distribution. A leftover folder may lack the name or the list of files:
    pip skips a distribution without a name, and fails for a distribution without a list of files."""
    files = ("METADATA", "RECORD") if info.endswith(".dist-info") else ("PKG-INFO",)
    if all(os.path.exists(os.path.join(info, name)) for name in files):
        return "pip uninstall --yes collet"
    from shlex import quote
    return f"rm -r {quote(info)}"


def strangers(folder):
    """The distributions called `collet` whose metadata is in a folder of sys.path, as ("collet 0.0.1", the
    command that uninstalls it). Does not use importlib.metadata: importing that takes longer than importing
    this package."""
    try:
        entries = os.listdir(folder)
    except OSError:
        return []
    ends = (".dist-info", ".egg-info")
    return [(name.rpartition(".")[0].replace("-", " ", 1), _removal(os.path.join(folder, name)))
            for name in sorted(entries) if name.endswith(ends) and
            name.lower().startswith(("collet-", "collet.egg"))]


def _start(package, own):
    """The path of __init__.py, or of __init__.pyc if the package has no sources. The file is in the folder of the
    extension. In an editable installation, it is in the folder of the sources. __main__ is in the same folder."""
    import sys
    kinds = (".pyc", ".py") if __file__.endswith(".pyc") else (".py",)
    for name in ("__main__", "__init__"):
        found = [f for folder in (own, *package.__path__) for kind in kinds
                 if os.path.exists(f := os.path.join(folder, name + kind))]
        if not found and (getattr(sys, "frozen", False) or "__compiled__" in globals()):
            raise ImportError(f"this frozen application has only a part of {DISTRIBUTION}, without {own}/{name}.py: build "
                              "it again with PyInstaller's --collect-all collet; with cx_Freeze's packages = "
                              "[\"collet\"] and include_files with the pair (FOLDER/collet/__init__.py, "
                              "lib/collet/__init__.py), FOLDER being site-packages; or with Nuitka's "
                              "--include-package=collet and --include-raw-dir=FOLDER/collet=collet")
        if not found:
            raise ImportError(f"{own}/{name}{kinds[0]} is missing, perhaps since the unrelated distribution "
                              f"collet was uninstalled: {_AGAIN}")
    return found[0]


def missing_extension():
    """Returns the message that says why collet._core is not found, and what to do."""
    import sys
    import sysconfig
    folder = os.path.dirname(os.path.abspath(__file__))
    if os.path.exists(os.path.join(folder, "..", "..", "core", "DESIGN.md")):
        return (f"{folder} is in Collet's sources, where nothing is compiled, and Python found it before an installed "
                f"package: start Python in another folder (or take this one out of PYTHONPATH), after "
                f"`{sys.executable} -m pip install .` in the root of the sources")
    kind = "free-threaded " if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    return (f"this installation of {DISTRIBUTION} has no extension for the {kind}Python "
            f"{sys.version.split()[0]} ({sys.executable}): " +
            ("a free-threaded Python needs a separate build, by " if kind else "install it by ") +
            f"`{sys.executable} -m pip install .` in Collet's sources, or use the Python of the build")


def load(package):
    """Runs __init__.py, which may be compiled already, in the module `package`."""
    own = os.path.dirname(package.__spec__.origin)
    for other, removal in strangers(os.path.dirname(own)):
        raise ImportError(f"two distributions have overwritten each other's files in {own}: "
                          f"{DISTRIBUTION} and the unrelated {other}. To keep {DISTRIBUTION}: "
                          f"{removal} && {_AGAIN}")
    package.__file__ = _start(package, own)
    from importlib.machinery import SourceFileLoader, SourcelessFileLoader
    compiled = package.__file__.endswith(".pyc")
    source = (SourcelessFileLoader if compiled else SourceFileLoader)("collet", package.__file__)
    exec(source.get_code("collet"), package.__dict__)

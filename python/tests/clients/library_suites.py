# SPDX-License-Identifier: Apache-2.0
"""library_suites.py scipy[.MODULE] | sklearn [pytest's arguments]: runs on collet the tests that SciPy and
scikit-learn have for libraries of the array API standard. Prints a table: the functions whose tests all
pass, and the functions with failing tests, each with the error. Tests that a library skips do not count. The
program needs pytest, and packages that contain their tests, as the wheels on PyPI do.

    PYTHONPATH=build/python python python/tests/clients/library_suites.py scipy.special

The file is also a pytest plugin, which adds collet to the libraries that the tests know."""

import collections
import json
import os
import signal
import subprocess
import sys
import tempfile

LIMIT_S = 60  # seconds for one test


def _functions_marked():
    """Makes SciPy's pytest marks also store the names of the functions that a test covers."""
    import pytest
    import scipy._lib._array_api as api
    made = api.make_xp_pytest_marks

    def make(*functions, **keywords):
        names = [f"{f.__module__.rpartition('._')[0]}.{f.__name__}" for f in functions]
        return [pytest.mark.collet_functions(*names), *made(*functions, **keywords)]

    api.make_xp_pytest_marks = make


def _devices_listed():
    """Makes devices() return a list, because SciPy's tests add a list to the result. The standard has required a tuple
    since version 2025.12."""
    import collet
    info = collet.__array_namespace_info__
    devices = info.devices
    info.devices = lambda self: list(devices(self))


def _combinations(**_):
    for dtype in ("float64", "float32"):
        yield "collet", None, dtype


def pytest_configure(config):
    config.addinivalue_line("markers", "collet_functions(names): what a test is for")
    if os.environ.get("COLLET_SUITE") == "sklearn":
        import sklearn.utils._array_api as api
        api.yield_namespaces = lambda **_: iter(["collet"])
        api.yield_namespace_device_dtype_combinations = _combinations
    else:
        _functions_marked()
        _devices_listed()


def pytest_generate_tests(metafunc):
    import pytest

    import collet
    if os.environ.get("COLLET_SUITE") != "sklearn" and "xp" in metafunc.fixturenames:
        import scipy.conftest
        scipy.conftest.xp_known_backends.add("collet")
        metafunc.definition.add_marker(pytest.mark.parametrize("xp", [collet], ids=["collet"], indirect=True))


pytest_generate_tests.tryfirst = True


def _is_ours(item):
    return "collet" in getattr(getattr(item, "callspec", None), "id", "")


def pytest_collection_modifyitems(config, items):
    others = [i for i in items if not _is_ours(i)]
    items[:] = [i for i in items if _is_ours(i)]
    config.hook.pytest_deselected(items=others)


def _late(*_):
    raise TimeoutError(f"the test takes longer than {LIMIT_S} s")


def pytest_runtest_setup(item):
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(LIMIT_S)
    names = [n for m in item.iter_markers("collet_functions") for n in m.args]
    module = item.module.__name__.replace(".tests", "")
    item.user_properties.append(("functions", [*dict.fromkeys(names)] or [f"{module}: {item.originalname}"]))


def pytest_runtest_teardown(item):
    signal.alarm(0)


def pytest_runtest_logreport(report):
    if report.when == "call" or (report.when == "setup" and report.outcome != "passed"):
        text = ""
        if report.outcome == "failed":
            crash = getattr(report.longrepr, "reprcrash", None)
            text = crash.message if crash else str(report.longrepr)[-300:]
        elif report.outcome == "skipped" and isinstance(report.longrepr, tuple):
            text = report.longrepr[2]
        with open(os.environ["COLLET_SUITE_RESULTS"], "a") as file:
            json.dump([report.nodeid, dict(report.user_properties).get("functions", [report.nodeid]),
                       "left out" if hasattr(report, "wasxfail") else report.outcome, text], file)
            file.write("\n")


def run(library, arguments):
    """The results of a library's tests: [test, functions, outcome, text of the error]."""
    with tempfile.TemporaryDirectory() as folder:
        results = os.path.join(folder, "results")
        open(results, "w").close()
        here = os.path.dirname(os.path.abspath(__file__))
        environment = {
            **os.environ, "SCIPY_ARRAY_API": "1", "COLLET_SUITE": library.partition(".")[0],
            "COLLET_SUITE_RESULTS": results,
            "PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])}
        subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "library_suites",
                        "-p", "no:cacheprovider", "-W", "ignore", "--tb=line", "--pyargs", library,
                        *arguments], env=environment, stdout=sys.stderr)
        with open(results) as lines:
            return [json.loads(line) for line in lines]


def table(results):
    """Rows of Markdown: a module with the functions whose tests all pass, then each function with a failing
    test and its first error."""
    counts = collections.defaultdict(collections.Counter)
    errors = {}
    for _, functions, outcome, text in results:
        for name in functions:
            counts[name][outcome] += 1
            if outcome == "failed":
                errors.setdefault(name, " ".join(text.split())[:150])
    good = collections.defaultdict(list)
    for name in sorted(counts):
        if counts[name]["passed"] and not counts[name]["failed"]:
            module, _, function = name.replace(": ", ".").rpartition(".")
            good[module].append(function)
    for module, functions in good.items():
        yield f"| {module} | all of {len(functions)} functions | {', '.join(functions)} |"
    for name in sorted(errors):
        c = counts[name]
        yield f"| {name} | {c['failed']} of {c['passed'] + c['failed']} tests fail | {errors[name]} |"


if __name__ == "__main__":
    found = run(sys.argv[1], sys.argv[2:])
    print("| module or function | tests | functions, or the first error |\n|-|-|-|")
    print(*table(found), sep="\n")
    total = collections.Counter(outcome for _, _, outcome, _ in found)
    print(f"\n{len(found)} tests of {sys.argv[1]}: {dict(total)}")

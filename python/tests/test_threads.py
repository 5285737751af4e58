# SPDX-License-Identifier: Apache-2.0
"""The number of threads can be set while Arrays exist, and by threadpoolctl."""

import os
import subprocess
import sys

import pytest

import collet

CPUS = len(os.sched_getaffinity(0))
needs_two = pytest.mark.skipif(CPUS < 2, reason="there is one processor")
# Threads of cpu_openmp start when a call first uses them.
START = """
import os
import collet
collet.set_num_threads(1)
x = collet.ones(4_000_000)
counts = [0]
def more():
    float(collet.sum(collet.exp(x)))
    counts.append(len(os.listdir("/proc/self/task")))
    return counts[-1] > counts[-2]
more()
"""


def words(text, **environment):
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "COLLET_BACKEND": "cpu_openmp", **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@needs_two
def test_limit_is_set_while_arrays_exist():
    assert words(START + """
print(more(), collet.get_num_threads())
collet.set_num_threads(0)
print(more(), collet.get_num_threads() > 1)""") == ["False", "1", "True", "True"]


def test_limits():
    assert words("import collet; print(collet.get_num_threads())", COLLET_NUM_THREADS="1") == ["1"]
    for wrong in -1, 2**40:
        with pytest.raises(collet.InvalidError, match=f"count is {wrong}; it must be at least 1, or 0"):
            collet.set_num_threads(wrong)
    assert 1 <= collet.get_num_threads() <= CPUS


@needs_two
@pytest.mark.parametrize("start", ["import threadpoolctl, collet", "import collet, threadpoolctl",
                                   "import collet; collet.ones(3); import threadpoolctl; collet.register_threadpoolctl()"])
def test_threadpoolctl(start):
    pytest.importorskip("threadpoolctl", minversion="3.3")
    assert words(start + START + """
collet.set_num_threads(0)
with threadpoolctl.threadpool_limits(1):
    print(more(), collet.get_num_threads())
print(more(), collet._core.thread_limit())
with threadpoolctl.threadpool_limits({"collet": 1}):
    print(*(f"{r['internal_api']} {r['num_threads']} {r['version']}" for r in threadpoolctl.threadpool_info()
            if r["user_api"] == "collet"))""") == ["False", "1", "True", "0", "collet", "1", collet.__version__]


def test_old_threadpoolctl_is_left_alone(tmp_path):
    """threadpoolctl before 3.3 supports only libraries that it knows."""
    (tmp_path / "threadpoolctl.py").write_text("")
    path = f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"
    assert words("import threadpoolctl, collet; print(collet.sum(collet.ones(3)))", PYTHONPATH=path) == ["3.0"]
    assert words("""
import collet
try:
    collet.register_threadpoolctl()
except ImportError as error:
    print("3.3" in str(error))""", PYTHONPATH=path) == ["True"]

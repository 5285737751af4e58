# SPDX-License-Identifier: Apache-2.0
"""The end of Python: queued work finishes before the C library's exit handlers run, within a bounded
time."""

import os
import subprocess
import sys
import textwrap

import pytest

import collet

BACKENDS = {b.name: b.state for b in collet.backends()}
CHOICES = [c for c in ("cpu_openmp", "opencl", "worker:cpu_scalar", "worker:opencl")
           if c.split(":")[0] in BACKENDS and BACKENDS.get(c.split(":")[-1]) == "usable"]

ENDS = {
    "queued work": "x = collet.ones(1000000)",
    "after other work": "float(collet.sum(collet.ones(7))); x = collet.ones(1000000) * 2",
    "sys.exit": "x = collet.ones(1000000); sys.exit()",
    "a daemon thread": """
        started = threading.Event()
        def work():
            with collet.using(choice):
                for n in range(1000, 1000000, 1000):
                    x = collet.op.add(collet.ones(n), 1.0)
                    started.set()
        threading.Thread(target=work, daemon=True).start()
        started.wait()""",
    "a thread that is joined": """
        def work():
            with collet.using(choice):
                time.sleep(0.2)
                print(float(collet.sum(collet.ones(12))))
        threading.Thread(target=work).start()""",
    "a cycle": "x = [collet.ones(1000000)]; x.append(x)",
    "a child of fork": """
        x = collet.ones(1000000)
        child = os.fork()
        if not child:
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0""",
}

START = """
import atexit, os, sys, threading, time
kept = []
atexit.register(lambda: print("kept", *kept and [float(kept[0][3])]))  # before collet's own
import collet
choice = sys.argv[1]
collet.set_backend(choice)
"""


def ends(text, choice, tmp_path, **more):
    directory = tmp_path / "pocl"
    directory.mkdir()
    environment = dict(os.environ, POCL_CACHE_DIR=str(directory), **more)
    text = START + textwrap.dedent(text)
    return subprocess.run([sys.executable, "-W", "ignore", "-c", text, choice], timeout=120,
                          env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("choice", CHOICES)
def test_ends(choice, end, tmp_path):
    done = ends(ENDS[end], choice, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split("\n")[-2] == "kept"
    assert "joined" not in end or "12.0" in done.stdout


@pytest.mark.parametrize("choice", CHOICES)
def test_handlers_compute(choice, tmp_path):
    done = ends("kept.append(collet.ones(100000) * 3)", choice, tmp_path)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "kept 3.0\n")

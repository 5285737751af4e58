# SPDX-License-Identifier: Apache-2.0
"""PoCL ends the process if it cannot write its cache. opencl checks the cache's folder before it
compiles."""

import os
import shutil
import subprocess
import sys

import pytest

import collet

OPENCL = [d.name for b in collet.backends() if b.name == "opencl" for d in b.devices]
pytestmark = pytest.mark.skipif(not any("pthread" in n or "cpu" in n for n in OPENCL), reason="no PoCL")

TEXT = """
import os, shutil, sys, time, collet
place = os.environ["POCL_CACHE_DIR"]
collet.set_backend("opencl")
def outcome(n):
    try:
        return float(collet.sum(collet.ones(n) * 2))
    except collet.Error as error:
        return type(error).__name__ + ": " + str(error)
print(outcome(100))
{spoil}
time.sleep(0.1)
print(outcome(70000))
{mend}
time.sleep(0.1)
print(outcome(80000))
"""


def run(place, spoil, mend, *before):
    text = TEXT.replace("{spoil}", spoil).replace("{mend}", mend)
    done = subprocess.run([*before, sys.executable, "-c", text], capture_output=True, text=True, timeout=120,
                          env=dict(os.environ, POCL_CACHE_DIR=str(place)))
    assert not done.returncode, done.stderr
    return done.stdout.splitlines()


def test_a_file_in_its_place(tmp_path):
    lines = run(tmp_path / "pocl", "shutil.rmtree(place); open(place, 'w').close()",
                "os.unlink(place); os.mkdir(place)")
    assert lines[0] == "200.0" and lines[2] == "160000.0"
    assert "which is not a directory" in lines[1] and "set POCL_CACHE_DIR" in lines[1]


def test_a_full_disk(tmp_path):
    """PoCL's cache is on a file system of 40 MiB that is full."""
    mounts = "mount -t tmpfs -o size=40m none " + str(tmp_path)
    if not shutil.which("unshare") or subprocess.run(["unshare", "-m", "sh", "-c", mounts],
                                                     capture_output=True).returncode:
        pytest.skip("no right to mount")
    fill = "f = open(place + '/../full', 'wb')\ntry:\n    f.write(bytes(60 << 20))\nexcept OSError:\n    pass"
    shell = ["unshare", "-m", "sh", "-c", mounts + ' && mkdir "$0/pocl" && exec "$@"', str(tmp_path)]
    lines = run(tmp_path / "pocl", fill, "f.truncate(0)", *shell)
    assert lines[0] == "200.0" and lines[2] == "160000.0"
    assert "whose file system is full" in lines[1] and "free 8 MiB there" in lines[1]

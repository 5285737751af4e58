# SPDX-License-Identifier: Apache-2.0
"""The total memory is the memory that the process may use. Devices keep a bounded part of freed memory."""

import os
import resource
import subprocess
import sys

import pytest

import collet

MIB = 1 << 20
OPENCL = ("opencl", "usable") in {(b.name, b.state) for b in collet.backends()}


def python(text, address_space=None):
    def limit():
        if address_space:
            resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120,
                          preexec_fn=limit)
    assert not done.returncode, done.stderr
    return done.stdout


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""),
                    reason="the address sanitizer reserves terabytes of addresses")
def test_the_process_may_use_a_part():
    text = "import collet; m = collet.memory(); print(m['total'], m['available'], m['limit'], sep='|')"
    total, available, by = python(text, 3000 * MIB).strip().split("|")
    assert int(total) == 3000 * MIB and int(available) < int(total) and "ulimit -v" in by
    text = "import collet; print(collet.doctor()); print([d.memory_bytes for b in collet.backends() for d in b.devices])"
    shown = python(text, 3000 * MIB)
    assert "memory: 2.9 GiB, the limit of addresses (ulimit -v)" in shown
    assert str(3000 * MIB) in shown.splitlines()[-1]


def test_available_counts_what_the_system_can_give_up():
    with open("/proc/meminfo") as file:
        lines = dict(line.split(":", 1) for line in file)
    seen = collet.memory()["available"]
    assert seen <= collet.memory()["total"]
    if not collet.memory()["limit"]:
        kib = int(lines["MemAvailable"].split()[0])
        assert abs(seen - kib * 1024) < 0.2 * collet.memory()["total"]


POOL = """
import numpy as np, collet
with collet.using("opencl"):
    for mib in (60, 90, 130, 200):
        x = collet.asarray(np.ones(mib << 17))
        float(collet.sum(x[:10]))  # which copies all of x
        del x
    m = collet.memory("opencl")
    print(m["held"] - m["current"], m["peak"], m["total"], m["available"])
"""


@pytest.mark.skipif(not OPENCL, reason="no OpenCL")
def test_a_device_keeps_a_part():
    idle, peak, total, available = map(int, python(POOL).split())
    assert idle <= 256 * MIB and 0 < available <= total
    text = POOL.replace("np, collet", "np, collet; collet.configure(**{'opencl.pool': '1M'})")
    assert int(python(text).split()[0]) <= MIB
    text = POOL.replace("np, collet", "np, collet; collet.configure(**{'opencl.pool': 'off'})")
    assert int(python(text).split()[0]) == 0


@pytest.mark.skipif(not OPENCL, reason="no OpenCL")
def test_a_larger_block_serves_a_smaller_size():
    text = """
import numpy as np, collet
with collet.using("opencl"):
    x = collet.asarray(np.ones(1 << 20)); float(x[0]); del x
    held = []
    for n in (1 << 20) - 1000, 900000, 700000, 530000:
        x = collet.asarray(np.ones(n))
        float(collet.sum(x)); del x; collet.finish()
        held.append(collet.memory("opencl")["held"])
    print(held[-1] - held[0])
"""
    assert int(python(text)) < MIB

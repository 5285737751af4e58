# SPDX-License-Identifier: Apache-2.0
"""Threads, and processes by fork, forkserver and spawn: correct results or a clear error, never a hang."""

import functools
import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import collet
from collet import op


def work(n):
    a = np.full(10 + n, n, "f8")
    return float(op.sum(op.add(a, a))), float(collet.asarray(a).reshape(-1)[0])


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_pools(method):
    op.add(np.ones(3), np.ones(3))
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(work, range(8)).get(120) == [(2 * n * (10 + n), n) for n in range(8)]


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_pools_of_ops(method):
    rows = [np.full(3, n, "f8") for n in range(4)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert [y.tolist() for y in pool.map_async(op.neg, rows).get(120)] == \
            [[-n] * 3 for n in range(4)]
        power = functools.partial(op.add, b=2.0)
        arrays = pool.map_async(power, map(collet.asarray, rows)).get(120)
        assert [y.to_numpy().tolist() for y in arrays] == [[n + 2] * 3 for n in range(4)]
        with pytest.raises(collet.ShapeError, match="add: ") as caught:
            pool.apply_async(op.add, (np.ones(2), np.ones(3))).get(120)
        assert caught.value.status == collet.ShapeError.status


def in_child(function):
    """The result of `function` in a forked child. The child has 60 s."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(write, str(function()).encode())
        finally:
            os._exit(0)
    os.close(write)
    timer = threading.Timer(60, os.kill, (child, 9))
    timer.start()
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    timer.cancel()
    return text


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork_after_opencl():
    """The driver's threads do not exist in the child. The child raises instead of waiting for them."""
    if ("opencl", "usable") not in {(b.name, b.state) for b in collet.backends()}:
        pytest.skip("no OpenCL")

    def total():
        with collet.using("opencl"):
            return float(collet.sum(collet.ones(3)))

    def child():
        try:
            return total()
        except collet.UnavailableError as error:
            return f"{error}|{float(collet.sum(collet.ones(3)))}"

    assert total() == 3
    text, other = in_child(child).split("|")
    assert "forked by one which used it" in text and other == "3.0"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork():
    x = collet.ones(5)
    x + x

    def child():
        try:
            x + x
        except collet.ForkedError as error:
            assert x.shape == (5,)
            return f"{error}|{float(op.sum(np.ones(5)))}|{float((collet.ones(2) + 1)[0])}"
        return "no error"

    text, total, one = in_child(child).split("|")
    assert "fork" in text and total == "5.0" and one == "2.0"
    assert in_child(lambda: x.__repr__ and work(1)) == str(work(1))
    assert (x + x).to_numpy().tolist() == [2] * 5


def test_fork_while_another_thread_computes():
    text = """if True:
        import os, threading, time, numpy as np, collet
        a = np.ones((900, 900))
        collet.set_backend("cpu_scalar")
        collet.op.add(1.0, 2.0)
        thread = threading.Thread(target=lambda: collet.op.matmul(a, a))
        thread.start()
        time.sleep(0.2)
        child = os.fork()
        if not child:
            try:
                collet.op.add(1.0, 2.0)
            except collet.ForkedError as error:
                print("spawn" in str(error), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        thread.join()
        print(float(collet.op.add(1.0, 2.0)))
    """
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", text], capture_output=True,
                          text=True, timeout=120)
    assert done.stdout.split() == ["True", "3.0"], done.stderr


def test_threads():
    expected = [work(n) for n in range(50)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(50))) == expected
    shared = collet.asarray(np.arange(1000.0))
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda n: float(op.sum(shared * n)), range(50)))
    assert results == [499500.0 * n for n in range(50)]


def test_threads_that_end_release_their_contexts():
    def one():
        with collet.using("cpu_scalar"):
            op.add(np.ones(3), np.ones(3))

    for _ in range(200):
        thread = threading.Thread(target=one)
        thread.start()
        thread.join()


def test_arrays_are_freed_on_other_threads():
    arrays = [collet.ones(100) for _ in range(20)]
    thread = threading.Thread(target=arrays.clear)
    thread.start()
    thread.join()
    assert not arrays


@pytest.mark.parametrize("text", [
    "x = collet.ones(3); x + x",
    "import numpy as np; x = collet.asarray(np.ones(3), copy=False)",
    "import threading; threading.Thread(target=lambda: collet.ones(3) + 1).start()",
    "import sys; x = collet.ones(3); sys.modules['keep'] = x",
    "import numpy as np; x = np.from_dlpack(collet.ones(3)) if hasattr(np, 'from_dlpack') else 1",
])
def test_the_end_of_the_process(text):
    done = subprocess.run([sys.executable, "-c", "import collet; " + text], capture_output=True,
                          text=True, timeout=120, env={**os.environ, "COLLET_LOG": "error"})
    assert (done.returncode, done.stderr) == (0, "")

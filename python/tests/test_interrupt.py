# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C during one long call, and work that continues after it."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import collet
from collet import op, ternary

REMOTE = pathlib.Path(collet._core.directory()).parent / "tests/remote"
NEEDS_REMOTE = pytest.mark.skipif(not (REMOTE / "remote.so").exists(),
                                  reason="the backend of tests, remote, was not built")


def long_matrix():
    """A matrix of ones so large that its product takes more than 0.2 s on cpu_scalar."""
    n, took = 150, 0
    with collet.using("cpu_scalar"):
        while took < 0.2:
            n += n // 3
            a = np.ones((n, n))
            start = time.process_time()  # other processes may be busy
            op.matmul(a, a)
            took = time.process_time() - start
    return a


A = long_matrix()
N = len(A)


def seconds_until_heard(function):
    """Seconds of processor time from SIGINT to its exception: other processes do not add to processor time. Infinite if
    the exception did not come during `function`."""
    sent, stage = [], "before"

    def send():
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    try:
        threading.Timer(0.02, send).start()
        stage = "during"
        function()
        stage = "after"
        time.sleep(60)
    except KeyboardInterrupt:
        heard = time.process_time()
    return heard - sent[0] if stage == "during" else float("inf")


def long_op(out=None):
    return op.matmul(A, A, out=out)


def is_heard(function):
    """Whether the exception comes soon in at least one of several calls. In other calls the signal may come too
    late."""
    with collet.using("cpu_scalar"):
        for _ in range(20):
            if seconds_until_heard(function) < 0.1:
                return True
            collet.finish()
    return False


def test_an_op_is_interrupted():
    with collet.using("cpu_scalar"):
        assert is_heard(long_op)
        assert collet.get_backend() == "cpu_scalar"
        assert float(op.add(1.0, 2.0)) == 3
        collet.finish()
    assert (long_op() == N).all()


def test_out_is_written_until_finish(caplog):
    out = np.zeros_like(A)
    for _ in range(5):  # on a busy machine SIGINT may come after the op
        with collet.using("cpu_scalar"):
            seconds_until_heard(lambda: long_op(out))
        if caplog.text:
            break
    assert "matmul was interrupted, but continues and writes `out`" in caplog.text
    collet.finish()
    assert (out == N).all()


def test_a_handler_computes_meanwhile():
    sums = []

    def handle(*_):
        sums.append((float(op.sum(A)), collet.get_backend(), float(long_op()[0, 0])))

    before = signal.signal(signal.SIGUSR1, handle)
    timer = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGUSR1))
    try:
        with collet.using("cpu_scalar"):
            timer.start()
            assert (long_op() == N).all()
            assert float(op.add(1.0, 2.0)) == 3
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)
    assert sums == [(float(N * N), "cpu_scalar", float(N))]


def test_an_error_of_a_long_call_has_its_text():
    with pytest.raises(collet.ShapeError, match="matmul"):
        op.matmul(A, A, out=np.empty((3, 3)))


def test_a_network_is_interrupted():
    layer = ternary.Linear(ternary.Weights.from_codes(np.ones((N, N), "i1")), activations="f32")
    network, x = ternary.Network([layer]), A.astype("f4")
    assert is_heard(lambda: network(x))
    assert (network(x[:1]) == N).all()  # waits for the interrupted run
    collet.finish()


def test_packing_is_interrupted():
    zeros = np.zeros((4000, 4000), "f4")
    assert is_heard(lambda: ternary.Weights.quantize(zeros))
    codes = np.zeros((10000, 10000), "i1")
    assert is_heard(lambda: ternary.Weights.from_codes(codes))
    collet.finish()


def run(text, **environment):
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", "import collet, os, signal, threading, time\n"
                           "import numpy as np\n" + text], capture_output=True, text=True,
                          timeout=120, env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr, time.perf_counter() - start


def test_a_program_ends_by_ctrl_c():
    code, _, error, took = run("""if True:
        a = np.ones((5000, 5000), "f4")  # minutes
        collet.set_backend("cpu_scalar")
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        collet.op.matmul(a, a)
    """)
    assert code == -signal.SIGINT and "KeyboardInterrupt" in error and took < 60


def test_an_array_that_is_read_before_the_first_kernel_slows_no_call():
    """Small calls that follow run on the calling thread, not on a worker thread."""
    code, out, error, _ = run("""if True:
        import resource
        collet.set_backend("cpu_scalar")
        x = collet.asarray(np.ones(10))
        x.to_numpy()
        collet.op.add(x, x)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
        for _ in range(1000):
            collet.op.add(x, x)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw - before)
    """)
    assert code == 0 and int(out) < 500, error


@NEEDS_REMOTE
def test_a_device():
    """If a command fails after its launch, the call with a NumPy output raises. Ctrl-C interrupts waits, including
    waits for elements in the host's memory."""
    code, out, error, _ = run("""if True:
        a = np.ones(3, "f4")
        collet.configure(remote__fail="2 4")
        collet.set_backend("remote")
        for out in None, None, None, np.zeros(3, "f4"):
            try:
                print(collet.op.add(a, a, out=out))
            except collet.FailedError as e:
                print("remote:0" in str(e))

        collet.configure(remote__delay_us=1000000)
        first = collet._core.timestamp("remote:0")

        def on_the_host(function):
            with collet.using("cpu_scalar"):
                for _ in range(2):
                    collet.op.add(a, a)  # is known to be quick
                function()

        for wait in (lambda: y.to_numpy(), lambda: y.__dlpack__(), lambda: y.device,
                     lambda: collet._core.elapsed(first, collet._core.timestamp("remote:0")),
                     lambda: on_the_host(lambda: y.to_numpy()), lambda: on_the_host(lambda: x + y),
                     collet.finish, lambda: collet.op.add(a, a)):
            x = collet.asarray(a)
            y = x + x
            start = time.perf_counter()
            try:
                threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
                wait()
                time.sleep(1)
            except KeyboardInterrupt:
                print(time.perf_counter() - start < 0.7, flush=True)
        os._exit(0)
    """, COLLET_PLUGIN_PATH=f"+{REMOTE}")
    two = "[2. 2. 2.]"
    assert (code, out.split("\n")) == (
        0, [two, "True", two, "True", *["True"] * 8, ""]), error

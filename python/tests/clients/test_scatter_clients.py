# SPDX-License-Identifier: Apache-2.0
"""`client=`: Dask and executors return the results of a single process. Also: killed workers, errors,
cancellation. Tests of Dask need dask.distributed."""

import concurrent.futures
import functools
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import collet
from collet import _jobs, _plugins, scatter

SPAWN = multiprocessing.get_context("spawn")
ENERGIES = [285.0, 286.0, 284.0]


def film(seed, shape=(4, 12, 16), seconds=0.0, mark=None):
    if mark:
        (pathlib.Path(mark) / f"{seed}-{os.getpid()}-{time.time_ns()}").touch()
    time.sleep(seconds)
    fraction, s, theta, psi = np.random.default_rng(seed).random((4, *shape), np.float32)
    first = {e: [1e-3 * (e - 280), 1e-4, 1e-3, 1e-4] for e in ENERGIES}
    return scatter.Sample([scatter.Material(first, fraction, s, theta * 3, psi * 3),
                           scatter.Material([0] * 4, 1 - fraction)], ENERGIES, 5.0, angles=(0, 20, 90))


def bad_film(seed):
    made = film(seed)
    made.materials[0].volume[1, 2, 3] = 7.0
    return made


def suspicious_film():
    made = film(0)
    made.voxel = 2000.0
    return made


def killed_film(seed):
    if seed == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return film(seed)


def same(found, expected):
    return np.array_equal(found.values, expected.values, equal_nan=True) and \
        found.voxel == expected.voxel and np.array_equal(found.qx, expected.qx)


# ---- The same results -----------------------------------------------------------------------------


def test_scan(client):
    """24 films, from a generator. The scan submits only a fraction of this number at a time."""
    films = ((film, (i,)) for i in range(24))
    count = -1
    for count, result in enumerate(scatter.scan(films, client, method="direct")):
        assert same(result, scatter.simulate(film(count), method="direct")), count
    assert count == 23


def test_simulate(client):
    seen = []
    for options in {}, {"dtype": "float64", "grid": "fft"}:
        expected = scatter.simulate(film(0, (8, 32, 32)), **options)
        found = scatter.simulate(film(0, (8, 32, 32)), client=client,
                                 progress=lambda *p: seen.append(p), **options)
        assert same(found, expected) and found.values.dtype == expected.values.dtype
        assert found.energy.tolist() == ENERGIES
    assert seen[-1] == (1.0, 3)
    with pytest.warns(RuntimeWarning, match="usual values are") as caught:
        scatter.simulate(suspicious_film(), client=client)
    assert len(caught) == 1 and caught[0].filename == __file__


def test_kinds_of_samples(client, tmp_path, monkeypatch):
    tool = pathlib.Path(_plugins.tool("collet-rsoxs")[0])
    if not tool.exists():
        pytest.skip("collet-rsoxs is not built")
    subprocess.run([tool, "make", "euler", "--size", "8,12,16", "--energies", "285", "-q", "-o",
                    tmp_path], check=True)
    monkeypatch.chdir(tmp_path)
    given = ["morphology.h5", pathlib.Path("morphology.h5"), film(1, (40, 64, 64)),  # beyond 1 MiB
             functools.partial(film, 2), (film, (3,)), (film, {"seed": 4})]
    read = scatter.read("morphology.h5")
    expected = [read, read, film(1, (40, 64, 64)), film(2), film(3), film(4)]
    seen = []
    found = list(scatter.scan(given, client, progress=lambda *p: seen.append(p)))
    assert all(map(same, found, map(scatter.simulate, expected))) and len(found) == 6
    assert seen[-1] == (1.0, 6)
    means = list(scatter.scan(given[2:], client, then=scatter.Result.integrate))
    assert all(np.array_equal(m.mean, f.integrate().mean, equal_nan=True)
               for m, f in zip(means, found[2:]))


def test_here():
    films = [(film, (i,)) for i in range(3)]
    seen = []
    found = list(scatter.scan(films, progress=lambda *p: seen.append(p)))
    assert all(same(f, scatter.simulate(film(i))) for i, f in enumerate(found))
    assert seen == [(1 / 3, 1), (2 / 3, 2), (1.0, 3)]


def test_the_callers_backend_computes(client):
    with collet.using("cpu_scalar"):
        assert list(_jobs.Run(client, [_jobs.Task("x", collet.get_backend)]))[0].value == "cpu_scalar"


def threads_of_process():
    collet.op.add(1.0, 2.0)
    setting = next(row["value"] for row in collet._core.settings() if row["key"] == "num_threads")
    return str(collet._core.thread_limit() or setting)


def test_threads_of_workers(dask, monkeypatch):
    task = _jobs.Task("x", threads_of_process)
    assert {o.value for o in _jobs.Run(dask, [task] * 8)} == {"1"}
    with ProcessPoolExecutor(1, mp_context=SPAWN) as pool:
        assert next(_jobs.Run(pool, [task])).value == str(len(os.sched_getaffinity(0)))
    monkeypatch.setenv("COLLET_NUM_THREADS", "3")
    with ProcessPoolExecutor(1, mp_context=SPAWN) as pool:
        assert next(_jobs.Run(pool, [task])).value == "3"
    with ThreadPoolExecutor(1) as pool:
        assert next(_jobs.Run(pool, [task])).value == threads_of_process()


# ---- Workers that end -----------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(4, 12, 16), (8, 96, 96)], ids=["by name", "by array"])
def test_workers_are_killed(dask, shape, tmp_path):
    """Arrays of more than 1 MiB are in a worker's memory, and are lost when the worker is killed."""
    arrays = shape[0] == 8
    films = [film(i, shape) if arrays else (film, (i, shape, 0.05, tmp_path)) for i in range(24)]
    kills = []
    for i, result in enumerate(scatter.scan(films, dask, window=8)):
        if i in (4, 12):
            kills.append(next(iter(dask.run(os.getpid, on_error="ignore").values())))
            os.kill(kills[-1], signal.SIGKILL)
        assert same(result, scatter.simulate(film(i, shape))), i
    assert i == 23 and len(set(kills)) == 2
    if not arrays:  # only tasks of killed workers were repeated
        assert 24 <= len(list(tmp_path.iterdir())) <= 32


def test_workers_are_killed_in_simulate(dask):
    sample = film(0, (8, 96, 96))
    sample.angles = (0, 1, 180)
    expected = scatter.simulate(sample, method="direct")
    kills = []

    def kill(fraction, done):
        if len(kills) < 2 and time.monotonic() > start + 0.1 + len(kills):
            kills.append(next(iter(dask.run(os.getpid, on_error="ignore").values())))
            os.kill(kills[-1], signal.SIGKILL)

    start = time.monotonic()
    assert same(scatter.simulate(sample, client=dask, method="direct", progress=kill), expected)
    assert kills


def test_a_film_that_kills_its_workers(dask):
    films = [(killed_film, (i,)) for i in range(4)]
    found = list(scatter.scan(films, dask, on_error="return", window=1))
    assert isinstance(found[2], scatter.SampleError) and found[2].index == 2
    assert "samples[2] (killed_film: 2): workers that computed it ended 4 times" in str(found[2])
    assert all(same(found[i], scatter.simulate(film(i))) for i in (0, 1, 3))


def test_a_broken_pool():
    with ProcessPoolExecutor(1, mp_context=SPAWN) as pool:
        run = scatter.scan([(killed_film, (i,)) for i in range(9)], pool, on_error="return")
        with pytest.raises(collet.FailedError, match=r"samples\[2\] .*make another executor"):
            list(run)
        with pytest.raises(collet.FailedError, match="^client: a process .* make another executor"):
            scatter.simulate(film(0), client=pool)


# ---- Errors ---------------------------------------------------------------------------------------


def test_an_error_of_one_film(client):
    films = [(film, (0,)), (bad_film, (1,)), (film, (2,)), "none.h5", (film, (4,))]
    found = list(scatter.scan(films, client, on_error="return"))
    for i in 0, 2, 4:
        assert same(found[i], scatter.simulate(film(i)))
    assert [e.index for e in found if isinstance(e, scatter.SampleError)] == [1, 3]
    assert isinstance(found[1].__cause__, collet.InvalidError) and \
        isinstance(found[3].__cause__, collet.FileError)
    assert str(found[1]).startswith("samples[1] (bad_film: 1): material 1: the volume fraction at voxel "
                                    "z 1, y 2, x 3")
    assert "none.h5): " in str(found[3])
    run = scatter.scan(films, client)
    assert same(next(run), scatter.simulate(film(0)))
    with pytest.raises(scatter.SampleError, match=r"samples\[1\] \(bad_film: 1\): material 1"):
        next(run)
    assert list(run) == []
    with pytest.raises(collet.InvalidError, match="material 1: the volume fraction"):
        scatter.simulate(bad_film(1), client=client)


def test_warnings_name_their_film(client):
    with pytest.warns(RuntimeWarning, match=r"samples\[1\] \(suspicious_film\): the edge of") as caught:
        list(scatter.scan([(film, (0,)), suspicious_film], client))
    assert len(caught) == 1 and caught[0].filename == __file__


def test_another_version(client, monkeypatch):
    if isinstance(client, ThreadPoolExecutor):
        return  # threads use the caller's collet
    caller = _jobs._caller
    monkeypatch.setattr(_jobs, "_caller", lambda *a: ("9.8.7", *caller(*a)[1:]))
    with pytest.raises(collet.UnavailableError, match=f"has collet {collet.__version__}, this process "
                                                      "9.8.7: install the same version"):
        list(scatter.scan([(film, (0,))], client, on_error="return"))


class Without(concurrent.futures.Executor):
    """An executor whose workers run a Python without collet."""

    def submit(self, *call):  # pylint: disable=arguments-differ
        program = """if True:
            import pickle, sys
            function, *arguments = pickle.load(sys.stdin.buffer)
            try:
                function(*arguments)
            except Exception as error:
                sys.stdout.buffer.write(pickle.dumps((error, error.name)))
        """
        done = subprocess.run([sys.executable, "-I", "-S", "-c", program], input=pickle.dumps(call),
                              stdout=subprocess.PIPE, check=True)
        error, name = pickle.loads(done.stdout)
        error.name = name
        future = concurrent.futures.Future()
        future.set_exception(error)
        return future


def test_workers_without_collet():
    """A worker without collet is an error. Dask would wait for ever for a worker that cannot unpickle its task."""
    with pytest.raises(collet.UnavailableError, match="a worker cannot import collet: install collet-runtime"):
        list(scatter.scan([(film, (0,))], Without(), on_error="return"))


@pytest.mark.parametrize("wrong, text", [
    ({"client": 3}, "client is 3, not a Client"), ({"window": 0}, "window is 0"),
    ({"on_error": "skip"}, "on_error is 'skip'"), ({"progress": 3}, "progress is 3"),
    ({"dtpye": "float64"}, "no option dtpye"), ({"samples": "film.h5"}, "is one sample, not a list")])
def test_wrong_arguments(wrong, text):
    with pytest.raises((TypeError, ValueError), match=text):
        scatter.scan(**{"samples": [film], **wrong})


def test_an_asynchronous_client():
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    stub = type("C", (distributed.Client,), {"__init__": lambda s: None, "asynchronous": True,
                                             "__del__": lambda s: None})()
    with pytest.raises(TypeError, match="asynchronous"):
        scatter.scan([film], stub)


def test_a_closed_client(dask):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(dask.scheduler.address) as client:
        pass
    with pytest.raises(collet.InvalidError, match="client is a closed Client"):
        scatter.scan([film], client)


def test_fork_while_another_thread_computes():
    """The child of the fork raises an error and does not wait for ever."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", """if True:
        import multiprocessing, threading, time, numpy as np, collet
        from concurrent.futures import ProcessPoolExecutor
        from collet import scatter
        collet.set_backend("cpu_scalar")
        a = np.ones((900, 900))
        sample = scatter.Sample([scatter.Material([1e-3] * 4, np.ones((2, 4, 4)))], [285.0], 5.0)
        collet.op.add(1.0, 2.0)
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
            thread = threading.Thread(target=lambda: collet.op.matmul(a, a))
            thread.start()
            time.sleep(0.1)
            try:
                list(scatter.scan([sample], pool, on_error="return"))
            except collet.ForkedError as error:
                print("spawn" in str(error))
            thread.join()
    """], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["True"], done.stderr


# ---- Cancellation and memory ----------------------------------------------------------------------


def test_window(client):
    made = []

    def films():
        for i in range(30):
            made.append(i)
            yield film, (i,)

    run = scatter.scan(films(), client, window=3)
    for taken in range(5):
        next(run)
        assert len(made) <= taken + 3
    run.close()
    assert list(run) == [] and len(made) <= 7


def began(folder):
    """Waits until no further film is begun, and returns the number of films that were begun."""
    count = -1
    while count != (now := len(list(folder.iterdir()))):
        count = now
        time.sleep(0.7)
    return count


def test_close_cancels(client, tmp_path):
    films = [(film, (i, (4, 12, 16), 0.2, tmp_path)) for i in range(50)]
    with scatter.scan(films, client, window=40) as run:
        assert same(next(run), scatter.simulate(film(0)))
    assert began(tmp_path) < 25


def test_futures_that_cannot_be_cancelled(monkeypatch):
    """Futures that cannot be cancelled, like Parsl's futures."""
    def refuse(_):
        raise NotImplementedError

    with ThreadPoolExecutor(1) as pool:
        run = scatter.scan([(film, (i,)) for i in range(4)], pool)
        next(run)
        monkeypatch.setattr(concurrent.futures.Future, "cancel", refuse)
        run.close()
        monkeypatch.undo()
    assert list(run) == []


def test_close_stops_threads():
    sample = film(0, (24, 96, 96))
    sample.angles = (0, 0.1, 360)
    with ThreadPoolExecutor(1) as pool:
        run = scatter.scan([film(1), sample], pool, method="direct")
        next(run)
        time.sleep(0.2)
        run.close()
        start = time.perf_counter()
    assert time.perf_counter() - start < 5


def test_ctrl_c(client, tmp_path):
    films = [(film, (i, (4, 12, 16), 0.3, tmp_path)) for i in range(30)]
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        list(scatter.scan(films, client))
        time.sleep(10)
    assert began(tmp_path) < 30

# SPDX-License-Identifier: Apache-2.0
"""collet.using in tasks, generators and threads: each has its own choice, and no choice remains
afterwards."""

import asyncio
import contextlib
import contextvars
import gc
import threading

import numpy as np
import pytest

import collet
from collet import _uses, bench, op, scatter
from collet._job import Job

A, B = "cpu_scalar", "cpu_openmp"
X = np.ones(3)


def computed():
    """The backend that computes a call at this place."""
    op.add(X, X)
    return collet.last_backend()


@pytest.fixture(autouse=True)
def nothing_is_left():
    before = collet.get_backend()
    yield
    assert collet.get_backend() == before


def test_tasks():
    async def work(choice, steps):
        found = []
        with collet.using(choice):
            for _ in range(steps):
                found.append(computed())
                await asyncio.sleep(0)
                with collet.using(A if choice == B else B):
                    await asyncio.sleep(0)
                    found.append(computed())
                await asyncio.sleep(0)
        return found

    async def outside():
        found = []
        for _ in range(20):
            found.append(collet.get_backend())
            await asyncio.sleep(0)
        return set(found)

    async def main():
        return await asyncio.gather(work(A, 5), outside(), work(B, 7), work(A, 2))

    first, free, second, third = asyncio.run(main())
    assert first == [A, B] * 5 and second == [B, A] * 7 and third == [A, B] * 2
    assert free == {collet.get_backend()}


def test_a_task_keeps_what_it_was_created_in():
    async def later(event):
        await event.wait()
        return computed(), await asyncio.to_thread(computed)

    async def main():
        event = asyncio.Event()
        with collet.using(A):
            task = asyncio.create_task(later(event))
            assert await asyncio.to_thread(computed) == A
        event.set()
        return collet.get_backend(), await task

    usual = collet.get_backend()
    assert asyncio.run(main()) == (usual, (A, A))


def generator(choice):
    with collet.using(choice):
        yield computed()
        yield computed()


def test_generators_end_in_any_order():
    usual = collet.get_backend()
    first, second = generator(A), generator(B)
    assert next(first) == A and next(second) == B
    assert computed() == B  # generators share their caller's context
    first.close()
    assert computed() == B
    second.close()
    assert collet.get_backend() == usual
    first, second, third = generator(A), generator(B), generator(A)
    for each in first, second, third:
        next(each)
    second.close()
    assert computed() == A and list(third) == [A] and computed() == A
    del first
    gc.collect()
    assert collet.get_backend() == usual


def test_a_context_manager_of_a_generator():
    @contextlib.contextmanager
    def chosen(choice):
        with collet.using(choice):
            yield

    with chosen(A):
        with chosen(B), pytest.raises(KeyError):
            assert computed() == B
            raise KeyError
        assert computed() == A


@pytest.mark.parametrize("end", ["close", "list"])
def test_a_generator_that_ends_in_another_context(end):
    usual = collet.get_backend()
    suspended = generator(A)
    assert next(suspended) == A
    other = contextvars.copy_context()
    other.run(suspended.close if end == "close" else lambda: list(suspended))
    assert collet.get_backend() == usual == other.run(collet.get_backend)
    suspended = generator(A)
    next(suspended)
    with collet.using(B):
        thread = threading.Thread(target=suspended.close)
        thread.start()
        thread.join()
        assert computed() == B
    assert collet.get_backend() == usual


def test_asynchronous_generators():
    async def numbers(choice):
        with collet.using(choice):
            for _ in range(3):
                yield computed()
                await asyncio.sleep(0)

    async def main():
        usual = collet.get_backend()
        async for backend in numbers(A):
            assert backend == A
            break
        gc.collect()
        for _ in range(5):  # the event loop closes the generator in a task
            await asyncio.sleep(0)
        assert collet.get_backend() == usual
        return [b async for b in numbers(B)]

    assert asyncio.run(main()) == [B] * 3


def test_many_uses_that_end_elsewhere():
    async def rows():
        with collet.using(A):
            yield
            yield

    async def first():
        async for row in rows():
            return row  # the event loop closes rows() in a task

    async def main():
        with collet.using(B):
            for _ in range(1200):
                await first()
            assert collet.get_backend() == A
            for _ in range(3):
                gc.collect()
                await asyncio.sleep(0.01)
            assert computed() == B
            return depth(_uses._current.get())

    assert asyncio.run(main()) == 1


def depth(use):
    return 1 + depth(use.around) if use else 0


@pytest.mark.parametrize("overlap", [0, 1, 2])
def test_uses_that_ended_elsewhere_are_not_kept(overlap):
    suspended = []
    with collet.using(B):
        for _ in range(50):
            suspended.append(generator(A))
            next(suspended[-1])
            if len(suspended) > overlap:
                contextvars.Context().run(suspended.pop(0).close)
        assert depth(_uses._current.get()) <= overlap + 2
        assert computed() == (A if overlap else B)
        for each in suspended:
            each.close()
        assert computed() == B
        assert depth(_uses._current.get()) == 1


def test_many_uses_left_in_the_order_of_their_start():
    uses = [collet.using(A if i % 2 else B) for i in range(1500)]
    for use in uses:
        use.__enter__()
    for use in uses:
        assert collet.get_backend() == A
        use.__exit__()


def test_one_object_many_times():
    use = collet.using(A)

    async def work(ticks):
        with use:
            for _ in range(ticks):
                await asyncio.sleep(0)
                assert computed() == A
                with use, collet.using(B), use:
                    assert computed() == A
        assert collet.get_backend() != A

    async def main():
        await asyncio.gather(*(work(n) for n in (3, 1, 2)))

    asyncio.run(main())
    for _ in range(3):
        with use:
            assert computed() == A


def test_threads():
    barrier, found = threading.Barrier(2), {}

    def work(choice):
        before = collet.get_backend()
        with collet.using(choice):
            for _ in range(20):
                barrier.wait(60)
                assert computed() == choice
        found[choice] = collet.get_backend() == before

    with collet.using(A):
        threads = [threading.Thread(target=work, args=(c,)) for c in (A, B)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == {A: True, B: True}


def test_errors_leave_nothing():
    usual = collet.get_backend()
    for choice, error in (("nothing", collet.UnknownBackendError), ("", collet.InvalidError),
                          (3, TypeError)):
        with collet.using(A):
            with pytest.raises(error), collet.using(choice):
                pass
            assert computed() == A
    with pytest.raises(ZeroDivisionError), collet.using(A):
        1 / 0
    assert collet.get_backend() == usual


def test_threads_of_jobs_have_the_choice():
    with collet.using(A):
        assert Job(computed).wait() == A
        with collet.using(B):
            assert Job(computed).wait() == B
    sample = scatter.Sample([scatter.Material([1e-3, 0, 1e-3, 0], np.ones((4, 4, 4), "f4"))],
                            [285.0], 2.0)
    seen = []
    with collet.using(A), scatter.Patterns(sample, progress=lambda *_: seen.append(
            collet.get_backend())) as patterns:
        list(patterns)
        assert patterns.backend == A and set(seen) == {A}


def test_measurements_in_tasks():
    async def measure(device):
        await asyncio.sleep(0)
        return bench.benchmark_function(computed, n_calls=2, n_warmup=1, device=device).device

    async def main():
        return await asyncio.gather(*(measure(d) for d in (A, B)))

    assert asyncio.run(main()) == [A + ":0", B + ":0"]


@pytest.mark.usefixtures("all_wait")
def test_a_use_inside_an_evaluation():
    """`using` in a finalizer that runs during an evaluation chooses the backend of the finalizer's calls."""
    found = []

    class Cycle:
        def __init__(self):
            self.me = self

        def __del__(self):
            if gc.isenabled():
                outer = computed()
                with collet.using(A):
                    found.append((outer, computed()))
                Cycle()

    y = np.arange(5.0)
    x = collet.asarray(y)
    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for count in range(1, 5):
            with collet.using(B):
                lazy = [x * 2 + 1 - x]
                for k in range(count):
                    lazy.append(lazy[-1] * (k + 1) - x)
            with collet.using(A):
                gc.disable()
                for _ in range(3):
                    Cycle()
                gc.enable()
                value = np.asarray(lazy[-1])
                gc.disable()
            gc.collect()
            gc.enable()
            expected = y + 1
            for k in range(count):
                expected = expected * (k + 1) - y
            np.testing.assert_array_equal(value, expected)
    finally:
        gc.enable()
        gc.set_threshold(*before)
    assert {inner for _, inner in found} == {A}
    # The cycle collector runs only when an object that it tracks is created. It does not track Arrays, so it never runs
    # during an evaluation, where the choice is B.
    assert {outer for outer, _ in found} == {A}

# SPDX-License-Identifier: Apache-2.0
"""An evaluation of lazy Arrays works on a copy of their expression. In the middle of an evaluation, finalizers, signal
handlers, observers, other threads and failures evaluate the same Arrays or write their inputs. Every value
must equal NumPy's. Only Python up to 3.11 runs the collector inside allocations: later versions test less here.
`test_lazy_snapshot.py TRIES` makes TRIES random tries with finalizers and threads."""

import gc
import os
import resource
import signal
import sys
import threading
import time

import numpy as np
import pytest

import collet
from collet import _core, op

pytestmark = pytest.mark.usefixtures("all_wait")
N = 200


class Cycle:
    """Garbage that only the cycle collector frees. Its finalizer calls the function."""

    def __init__(self, function):
        self.function = function
        self.me = self

    def __del__(self):
        self.function()


@pytest.fixture
def collects_always():
    before = gc.get_threshold()
    gc.set_threshold(1)
    yield
    gc.set_threshold(*before)


# ---- Random programs


def steps(random, count):
    """A random program: the operation of each step, and the values that it uses."""
    return [(random.integers(5), *random.integers(3 + i, size=2), random.integers(8)) for i in range(count)]


def run(plan, inputs, astype):
    made = [inputs[0] * 2, inputs[1] + inputs[2], inputs[3] - 1.5]
    for kind, i, j, k in plan:
        v = inputs[k]
        made.append([lambda: made[i] + made[j], lambda: made[i] * v, lambda: v - made[j],
                     lambda: astype(astype(made[i], "f4"), "f8") + v, lambda: made[i] ** 2 - made[j]][kind]())
    return made


def use(way, x, inputs, random):
    """The value of x, by the given method. The last methods write an input during or after the
    evaluation."""
    if way == 0:
        return x.to_numpy()
    if way == 1:
        return collet.sum(x)
    if way == 2:
        return collet.max(x * 2)
    if way == 3:
        return collet.add(x, 1, out=collet.empty(N, dtype="f8")).to_numpy()
    if inputs:
        inputs[random.integers(8)][random.integers(2)::2] += 1000
    return x.to_numpy()


def expected(way, x):
    return [lambda: x, lambda: np.sum(x), lambda: np.max(x * 2), lambda: x + 1, lambda: x][way]()


def attempt(seed, threads=False):
    """Runs one program and uses several values, while finalizers of garbage use other values and write inputs.
    Returns the number of uses."""
    random = np.random.default_rng(seed)
    values = [random.normal(size=N) for _ in range(8)]
    plan = steps(random, 20)
    right = run(plan, values, lambda x, d: x.astype(d))
    inputs = [collet.asarray(v) for v in values]
    made = run(plan, inputs, collet.astype)
    if random.integers(2):
        inputs.clear()  # now only the waiting Arrays refer to the inputs
    errors = []

    def check(way, i, random=random):
        try:
            got = np.asarray(use(way, made[i], inputs, random))
        except Exception as error:  # Python would only print an exception of a finalizer
            return errors.append((seed, way, i, repr(error)))
        if not np.allclose(got, expected(way, right[i]), rtol=1e-12, atol=1e-9):
            errors.append((seed, way, i))

    def garbage():
        for way, i in zip(random.integers(5, size=2), random.integers(len(made), size=2)):
            Cycle(lambda: check(way, i))

    def work(numbers, random):
        for i in numbers:
            check(random.integers(5), i, random)

    places = random.permutation(len(made))[:6]
    if threads:
        both = [threading.Thread(target=work, args=(part, np.random.default_rng(seed + k)))
                for k, part in enumerate((places[:3], places[3:]))]
        for t in both:
            t.start()
        garbage()
        for t in both:
            t.join()
    else:
        for i in places:
            garbage()
            check(random.integers(5), i)
    gc.collect()
    assert not errors
    return len(places)


@pytest.mark.parametrize("seed", range(60))
def test_finalizers(seed, collects_always):
    attempt(seed)


def test_finalizer_uses_a_shared_node(collects_always):
    """The Array w was deleted, so the evaluation of y makes a new Array for w's value. This may run the finalizer."""
    for i in range(20):
        gc.collect()
        gc.disable()
        start = np.arange(N) + float(i)
        u, v, w = (collet.asarray(start + k) for k in range(3))
        shared = v * 3
        other = shared - 7  # `shared` is the first step of `other`, and the third step of y
        y = ((u + 1) + 2) + (w * shared)
        Cycle(other.to_numpy)
        del w, other
        gc.enable()
        assert np.array_equal(y.to_numpy(), ((start + 1) + 2) + (start + 2) * ((start + 1) * 3))


def test_finalizer_writes_while_a_node_is_made(collects_always):
    for _ in range(5):
        gc.collect()
        gc.disable()
        x = collet.ones(N)
        Cycle(lambda x=x: add(x))
        gc.enable()
        y = x * 2
        gc.disable()
        assert y.to_numpy().max() in (2, 2002) and (y + 1).to_numpy().max() in (3, 2003)
    gc.enable()
    collet.finish()


@pytest.mark.parametrize("seed", range(30))
def test_finalizers_and_threads(seed, collects_always):
    attempt(seed, threads=True)


# ---- Writes by another thread


USES = {
    "sum": lambda y: float(collet.sum(y)) / y.size,
    "max": lambda y: float(collet.max(y)),
    "numpy": lambda y: y.to_numpy().max(),
    "out": lambda y: collet.add(y, 0.0, out=collet.empty(y.size, dtype="f8")).to_numpy().max(),
    "chain": lambda y: float(collet.max(collet.sqrt(y * y))),
}


def add(x):
    x += 1000


def assign(x):
    x[...] = 7


def write_view(x):
    x[::2] += 1000


def write_op(x):
    op.mul(x, 1000, out=x)


def write_bytes(x):
    x._write(np.full(x.size, 7.0).tobytes())


WRITES = [add, assign, write_view, write_op, write_bytes]


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("used", USES)
def test_write_waits_for_readers(used, write):
    for _ in range(4):
        x = collet.ones(600_000)
        y = x * 2 + 1
        go, found = threading.Barrier(2), []

        def read(y=y, go=go, found=found):
            go.wait()
            found.append(USES[used](y))

        thread = threading.Thread(target=read)
        thread.start()
        go.wait()
        for _ in range(10):
            write(x)
        thread.join()
        assert found == [3]


# ---- Code that runs between the copy and the computation


@pytest.fixture
def observed():
    """observed(function) calls the function once, before the next call is computed."""
    before = _core.observe(None)

    def once(function):
        def observer(name, begins):
            _core.observe(None)
            function()

        _core.observe(observer)

    yield once
    _core.observe(None if before is None else before)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("used", USES)
def test_input_is_written_after_the_copy(used, write, observed):
    x = collet.ones(N)
    y = x * 2 + 1
    observed(lambda: write(x))
    assert USES[used](y) == 3
    assert x.to_numpy().max() != 1


@pytest.mark.parametrize("used", USES)
def test_part_is_computed_after_the_copy(used, observed):
    x = collet.ones(N)
    part = x * 2
    y = part + 1

    def use_part():
        part.to_numpy()
        add(x)

    observed(use_part)
    assert USES[used](y) == 3
    assert part.to_numpy().max() == 2


def test_write_computes_a_chain_once(observed):
    """A write computes the nodes of a chain in one evaluation, not one by one."""
    x = y = collet.ones(N)
    for _ in range(20):
        y = y + 1
    before, after = [], []

    def write():
        before.append(collet.counters()["calls"])
        add(x)
        after.append(collet.counters()["calls"])

    observed(write)
    assert collet.max(y) == 21
    assert after[0] - before[0] == 2  # two calls: the chain, and the write


def test_stale_call_is_no_call():
    x = collet.ones(N)
    y = x * 2
    told = []

    def observer(name, begins):
        told.append((name, begins))
        if len(told) == 1:
            y.to_numpy()
            add(x)

    before = _core.observe(observer)
    try:
        found = float(collet.max(y))
    finally:
        _core.observe(None if before is None else before)
    assert found == 2 and told[-2:] == [("max", True), ("max", False)]
    assert sum(begins for _, begins in told) == len(told) // 2 + 1  # the first call begins and does not end


def test_error_names_one_line():
    """A reduction first computes a part that is needed twice. The computation of this part fails, and the error
    names the line that made it."""
    part = collet.ones((6000, 1)) + collet.ones((1, 4000))
    other, y = part * 2, part * 3
    assert collet.max(other) == 4
    size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size + (100 << 20), before[1]))
    try:
        with pytest.raises(collet.NoMemoryError) as caught:
            collet.max(y)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert str(caught.value).count("was made in") == 1


def test_program_writes_its_own_input(observed):
    x = collet.ones(N)
    y = x * 2
    observed(lambda: add(x))
    collet.add(x + 0, y, out=x)  # x is 1 at the start of the statement, and 1001 after the observer
    assert y.to_numpy().tolist() == [2.0] * N
    assert x.to_numpy().max() in (3, 1003)
    collet.add(x, x, out=x)
    assert x.to_numpy().max() in (6, 2006)


def test_input_is_written_between_single_functions(observed):
    """A device computes functions one by one before it compiles a program."""
    try:
        with collet.using("opencl"):
            collet.sum(collet.ones(N))
    except collet.Error as error:
        pytest.skip(str(error))
    with collet.using("opencl"):
        x = collet.ones(N)
        y = collet.astype(x * 2 + 1, "f4") + x
        for _ in range(3):
            observed(lambda: add(x))
            assert (y + 0).to_numpy().max() == 4


# ---- Signals


@pytest.mark.parametrize("used", USES)
def test_handler_writes_an_input(used, on_alarm):
    state = {}

    def handler(number, frame):
        if "x" in state:
            add(state.pop("x"))
            state["late"].to_numpy()
        signal.setitimer(signal.ITIMER_REAL, 0.001)

    on_alarm(handler)
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    for _ in range(10):
        x = collet.ones(1_000_000)
        y = x * 2 + 1
        late = y * y - 1
        state.update(x=x, late=late)
        assert USES[used](y) == 3
        assert late.to_numpy().max() == 8
        state.clear()


def test_handler_raises_while_inputs_are_pinned(on_alarm):
    """After the handler's exception the call continues in a thread. A write to the call's inputs waits until the call
    is done."""
    class Stop(Exception):
        pass

    def handler(number, frame):
        raise Stop

    on_alarm(handler)
    for delay in np.linspace(0.001, 0.02, 15):
        x = collet.ones(1_500_000)
        y = collet.sin(collet.exp(x * 0)) * 0 + 1 + x
        o = collet.zeros(1_500_000)
        signal.setitimer(signal.ITIMER_REAL, delay)
        try:
            collet.add(y, 0, out=o)
        except Stop:
            pass
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        x += 1000
        collet.finish()
        assert o.to_numpy().max() in (0, 2)
        assert y.to_numpy().max() == 2


def test_handler_uses_another_context(on_alarm):
    """A call keeps its context while an operand is computed. A handler gets a different context."""
    small = collet.ones(N)
    uses = [lambda y, o: op.mul(y, 2.0), lambda y, o: op.mul(y, 2.0, out=o), lambda y, o: collet.Expression("a*2")(y)]

    def handler(number, frame):
        assert collet.sum(small * 2) == 2 * N

    on_alarm(handler)
    try:
        for use in uses * 2:
            y = collet.sin(collet.exp(collet.ones(1_000_000) * 0)) * 0 + 1
            o = collet.empty(1_000_000)
            signal.setitimer(signal.ITIMER_REAL, 0.004, 0.01)
            found = use(y, o)
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert collet.max(found) == 2
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def test_exception_of_a_handler_is_kept_while_memory_is_saved(on_alarm):
    class Stop(Exception):
        pass

    raised = []

    def handler(number, frame):
        raised.append(1)
        raise Stop

    on_alarm(handler)
    try:
        for delay in (0.002, 0.005, 0.01, 0.02, 0.03):
            inputs = [collet.ones(1_000_000) for _ in range(2)]
            heavy = inputs[0] + inputs[1]
            for _ in range(8):
                heavy = collet.sin(heavy)
            inputs.clear()  # now the nodes keep more memory than the result needs
            y = collet.ones(1_000_000) + 1
            raised.clear()
            seen = False
            try:
                signal.setitimer(signal.ITIMER_REAL, delay)
                op.mul(y, 2.0)
                for _ in range(100):
                    pass  # a pending exception is raised here at the latest
            except Stop:
                seen = True
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert seen == bool(raised)
            collet.finish()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def test_no_code_runs_between_pins_and_work():
    """If another thread has changed the choice of backend, a call runs Python code to choose. That code may write."""
    armed, found = [], []

    def observer(name, begins):
        _core.observe(None)
        thread = threading.Thread(target=lambda: collet.set_backend("auto"))
        thread.start()
        thread.join()
        armed.append(1)

    def profile(frame, event, argument):
        if armed and event == "call" and frame.f_code.co_name == "_choice":
            sys.setprofile(None)
            add(x)
            found.append(1)

    with collet.using("cpu_scalar"):
        x = collet.ones(200_000)
        y = collet.sqrt(x * 2 + 2) + 0
        _core.observe(observer)
        sys.setprofile(profile)
        try:
            assert collet.max(y + 0) == 2
        finally:
            sys.setprofile(None)
            _core.observe(None)
    assert found


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_handler_forks_while_a_write_waits(on_alarm):
    children = []

    def handler(number, frame):
        child = os.fork()
        if child:
            children.append(child)

    parent = os.getpid()
    on_alarm(handler)
    try:
        x, o = collet.ones(3_000_000), collet.empty(3_000_000)
        y = collet.sin(collet.exp(collet.sin(x * 2))) * 0 + 1
        go = threading.Event()
        thread = threading.Thread(target=lambda: (go.set(), collet.add(y, 0, out=o)))
        thread.start()
        go.wait()
        signal.setitimer(signal.ITIMER_REAL, 0.005)
        try:
            add(x)
        except collet.ForkedError:
            pass
        finally:
            if os.getpid() != parent:
                os._exit(0)
        thread.join()
        assert o.to_numpy().max() == 1
        while not children:
            pass
        for _ in range(200):
            if os.waitpid(children[0], os.WNOHANG)[0]:
                break
            time.sleep(0.05)
        else:
            os.kill(children[0], signal.SIGKILL)
            pytest.fail("the child waits for a thread of its parent")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def test_array_without_a_value_is_refused():
    with pytest.raises(collet.InvalidError, match="not initialised"):
        _core.convert(collet.Array.__new__(collet.Array), "f4")


# ---- Failing allocations


@pytest.mark.parametrize("compute", [lambda y, o: y._bytes(), lambda y, o: collet.max(y),
                                     lambda y, o: collet.add(y, 0.0, out=o)], ids=["value", "max", "out"])
def test_allocations_fail(compute):
    capi = pytest.importorskip("_testcapi")
    failed = 0
    for k in range(-3, 80):
        x = collet.ones(N)
        y = x * 2 + 1
        z, o = y * y, collet.zeros(N)
        if k > 0:
            capi.set_nomemory(k, k + 1)
        try:
            compute(y, o)
        except MemoryError:
            failed += 1
        finally:
            capi.remove_mem_hooks()
        add(x)
        assert y.to_numpy().max() == 3 and z.to_numpy().max() == 9 and x.to_numpy().max() == 1001
    assert failed or compute(y, o) is o  # a call with out= allocates no Python objects


if __name__ == "__main__":
    _core.wait_from(0)
    gc.set_threshold(1)
    tries, seed = 0, 10**6
    while tries < int(sys.argv[1]):
        tries += attempt(seed, threads=seed % 4 == 0)
        seed += 1
    print(f"{tries} tries, none wrong")

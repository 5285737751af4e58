# SPDX-License-Identifier: Apache-2.0
"""Calls with a tracer among their arguments go to the handler."""

import subprocess
import sys

PROGRAM = """
import collet
class Tracer: pass
tracer, x, found = Tracer(), collet.asarray([1.0, 2.0]), []
collet._core.set_tracer(Tracer, lambda *call: found.append(call))
collet.op.add(x, tracer)
collet.op.sum(tracer, axes=1)
collet.op.copy(x, out=tracer)
expression = collet.Expression("x*y")
expression(x, y=tracer)
expression(x, x, out=tracer)
assert found == [("add", (x, tracer), {}), ("sum", (tracer,), {"axes": 1}), ("copy", (x,), {"out": tracer}),
                 (expression, (x, tracer), {}), (expression, (x, x), {"out": tracer})], found
y = tracer
collet.evaluate("x + y")
assert repr(found[-1][0]) == "collet.Expression('x + y')" and found[-1][1] == (x, tracer)
collet.op.add(x, x)
assert len(found) == 6
def fail(function, arguments, keywords): raise ZeroDivisionError
collet._core.set_tracer(Tracer, fail)
try:
    collet.op.add(x, tracer)
except ZeroDivisionError:
    print("ok")
"""


def test_handler():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.stdout == "ok\n", done.stderr

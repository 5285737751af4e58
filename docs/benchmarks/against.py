#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/process/test_against.py
"""Compares ops of Collet with the same functions of other libraries. Collet and the libraries take turns.

    against.py [OP...] [--shape SHAPE] [--axis N] [--dtype DTYPE,...] [--openblas FILE,...] [--json]

matmul is compared with OpenBLAS, BLIS and oneDNN (bf16 with sums in f32, i8 with sums in i32). lu, solve, qr, svd, eigh
and cholesky are compared with the LAPACK inside OpenBLAS, eigh of a batch with NumPy's loop over LAPACK. Forward fft is
compared with FFTW, planned by measuring, on --threads threads and on one thread. Ops bound by memory are compared with
the memory's bandwidth (backend-bench OP). Without OP the script measures all ops.

For each call, the script opens a library in several processes: one for each value of the library's own setting that the
processor supports (OPENBLAS_CORETYPE, DNNL_MAX_CPU_ISA, BLIS_ARCH_TYPE), and one without the setting. So a wrong choice
of kernels or a crash becomes visible. Where the setting `isa` limits Collet to x86-64-v2 or v3, libraries with such a
setting run at the same level only. All libraries get the same operands and number of threads. Python adds the same
microsecond to each call. A ratio is Collet's speed divided by the library's speed: once by the medians, once by the
fastest calls. A library that takes more than 1.5 times as long as the best one is left out after the first of eight
rounds. Libraries that are absent, do not support the call, crash, or compute another result are reported as such. Exit
status: 0 success; 1 something could not be measured, or there is no library to compare with; 2 wrong command line.
"""

import argparse
import ctypes
import json
import os
import re
import select
import signal
import subprocess
import sys
import time

import numpy as np
from collet_ctypes import Error as ColletError
from references import KINDS, LIBRARIES, collet, digest, layout_of, operand, references, same_of

ROUNDS = 8
FAR_SLOWER = 1.5
AGREEMENT = 1e-3  # relative to the magnitude of the outputs
LIMIT = 600  # seconds for an answer: a plan by measuring may take minutes
PAUSE = 0.005  # seconds until the threads of the last call are idle or stopped

SIDES = "256x256x256 512x512x512 1024x1024x1024 2048x2048x2048 4096x4096x4096"
CASES = [  # op, dtypes, shapes, axes
    ("matmul", "f32 f64", SIDES, None), ("matmul", "bf16 i8", "1024x1024x1024 2048x2048x2048", None),
    ("lu", "f64", "1000x1000", None),
    ("solve", "f64", "1000x1 1000x100", None), ("qr", "f64", "1000x1000", None), ("svd", "f64", "1000x1000", None),
    ("eigh", "f64", "1000 1000000x3", None), ("cholesky", "f64", "1000", None),
    ("fft", "c64 c128", "1048576 255255 512x512 128x128x128", None),
    *((op, "f32", "64M", None) for op in ("add", "exp", "log", "sqrt")),
    ("sum", "f32", "8192x8192", "0"), ("sum", "f32", "8192x8192", "1"), ("transpose", "f32", "8192x8192", None)]


# ---- The process of a library --------------------------------------------------------------------

def serve(job):
    """Prepares the call, and sends the library's description and the digest of its result. Then reads numbers of
    seconds, and measures calls for each of these times."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # ends with the parent process, even during a call
    outs, ins, _ = layout_of(job)
    ins = [operand(job["op"], i, dtype, shape) for i, (dtype, shape) in enumerate(ins)]
    outs = [np.zeros(shape, KINDS[dtype]) for dtype, shape in outs]
    function = collet if job["library"] == "collet" else LIBRARIES[job["library"]][0]
    try:
        call, text, result = function(job, ins, outs)
    except (OSError, AttributeError, ColletError) as error:
        print(json.dumps({"absent": str(error)}), file=answers)
        return
    samples_of(call, job["seconds"] / 10)
    same = same_of(job)
    compared = None if same is None else digest(result() if result else outs[same])
    print(json.dumps({"text": text, "digest": compared}), file=answers)
    for line in sys.stdin:
        call()
        print(json.dumps(samples_of(call, float(line))), file=answers)


def samples_of(call, seconds):
    """Repeats the call for this number of seconds, at least once, and returns the time of each call in seconds."""
    clock, samples = time.perf_counter, []
    end = clock() + seconds
    while not samples or before < end:
        before = clock()
        call()
        samples.append(clock() - before)
    return samples


class Process:
    """A library in a process of its own. state: measured, slower (one round), absent or failed."""

    def __init__(self, job, library, setting=None, file=None, threads=None):
        self.library, self.setting, self.file, self.samples, self.state = library, setting, file, [], "measured"
        threads = threads or job["threads"]
        environment = os.environ | {v: str(threads) for v in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS",
                                                              "COLLET_NUM_THREADS")}
        variable = LIBRARIES[library][2] if library in LIBRARIES else None
        if variable:  # read while the library is loaded
            environment.pop(variable, None)
            environment |= {variable: setting} if setting else {}
        words = json.dumps(job | {"library": library, "file": file, "threads": threads})
        self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--serve", words], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=environment)
        answer = self.answer("before it was ready")
        if answer is not None:
            self.text, self.digest = answer.get("absent", answer.get("text")), answer.get("digest")
            self.state = "absent" if "absent" in answer else self.state
            self.runs(False)

    @property
    def name(self):
        file = os.path.basename(self.file or self.library).removeprefix("lib")
        return f"{file[:17]} {self.setting}" if self.setting else file[:17]

    def answer(self, when):
        if not select.select([self.process.stdout], [], [], LIMIT)[0]:
            self.process.kill()
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        status, self.state = self.process.wait(), "failed"
        self.text = f"its process ended {when}"
        if status < 0:
            self.text += f": it died of signal {-status} ({signal.strsignal(-status)})"
        return None

    def runs(self, on):
        """Between its turns a process is stopped: OpenBLAS lets its threads spin for 0.1 s after a call."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT if on else signal.SIGSTOP)

    def sample(self, seconds):
        self.runs(True)
        try:
            print(seconds, file=self.process.stdin, flush=True)
        except BrokenPipeError:
            pass  # the answer says why
        self.samples += self.answer("in the middle of the measurement") or []
        self.runs(False)

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


# ---- Measuring -----------------------------------------------------------------------------------

def check_agreement(process, own):
    """Sets the state to failed if the library's result differs from Collet's."""
    if own.digest and any(not abs(a - b) <= AGREEMENT * own.digest[0] for a, b in zip(own.digest, process.digest)):
        process.state = "failed"
        process.text = "its result differs: magnitude {:.6g}, signature {:.6g}; Collet's {:.6g}, {:.6g}".format(
            *process.digest, *own.digest)


def show(text):
    if sys.stderr.isatty():
        print(f"\r{text}\033[K", end="", file=sys.stderr, flush=True)


def compare(job, options, limit):
    """Makes a row of the report: measures Collet and each library in turn."""
    row = {"op": job["op"], "dtype": job["dtype"], "shape": job["shape"], "axes": job["axes"]}
    own = Process(job, "collet")
    taking = [own]
    try:
        if own.state != "measured":
            return row | {"backend": job["backend"], "error": own.text}
        for found in references(job, limit, options.openblas):
            taking.append(Process(job, *found))
            if taking[-1].state == "measured":
                check_agreement(taking[-1], own)
        for turn in range(ROUNDS):
            for process in taking:
                if process.state == "measured":
                    show(f"{job['op']} {job['dtype']}, round {turn + 1} of {ROUNDS}: {process.name}")
                    process.sample(job["seconds"] / ROUNDS)
                    time.sleep(PAUSE)
            running = [p for p in taking[1:] if p.state == "measured"]
            for process in running if turn == 0 else []:
                if min(process.samples) > FAR_SLOWER * min(min(p.samples) for p in running):
                    process.state = "slower"
    finally:
        show("")
        for process in taking:
            process.stop()
    if own.state != "measured":
        return row | {"backend": job["backend"], "error": own.text}
    return row | {"backend": own.text, "error": ""} | report_of(taking, layout_of(job)[2])


def report_of(taking, flops):
    """The figures of Collet (the first of `taking`) and of each library, and the library with the fastest call. Other
    load of the machine affects the fastest call least."""
    def figures(process):
        s = np.array(process.samples)
        names, quantiles = ("min", "median", "p95", "p99", "max"), np.percentile(s, [0, 50, 95, 99, 100]).tolist()
        times = {"mean": float(s.mean()), "std": float(s.std()), **dict(zip(names, quantiles))}
        return {"samples": s.size, "call_seconds": times, "gflop_per_s": 1e-9 * flops / times["median"]}
    own, libraries = figures(taking[0]), []
    for p in taking[1:]:
        entry = {"library": p.library, "setting": p.setting, "file": p.file, "name": p.name, "state": p.state, "text": p.text}
        if p.state in ("measured", "slower"):
            entry |= figures(p)
            entry |= {ratio: entry["call_seconds"][key] / own["call_seconds"][key]
                      for ratio, key in (("ratio", "median"), ("ratio_fastest", "min"))}
        libraries.append(entry)
    best = min((e for e in libraries if "ratio" in e), key=lambda e: e["call_seconds"]["min"], default=None)
    return own | {"best": best, "libraries": libraries}


def against_memory(options, op, shape, dtype, axis):
    """Makes a row for an op that is bound by memory; backend-bench measures it."""
    done = subprocess.run([os.path.join(options.build, "bin/backend-bench"), op, shape, "--json", f"--dtype={dtype}",
                           f"--backend={options.backend}", f"--seconds={options.seconds}", f"--threads={options.threads}",
                           *([f"--axis={axis}"] if axis else [])], stdout=subprocess.PIPE, text=True)
    if not done.stdout:
        sys.exit(done.returncode)
    report = json.loads(done.stdout)
    r = report["results"][0]
    row = {"op": op, "dtype": dtype, "shape": report["shape"], "axes": axis, "backend": r["backend"], "error": r["error"]}
    if r["status"] != "COLLET_OK":
        return row
    floor = r["floor"] and r["floor"] | {"ratio": r["share"], "ratio_fastest": r["share_fastest"]}
    row |= {key: r[key] for key in ("samples", "call_seconds", "gb_per_s")}
    return row | {"memory": floor, "best": None, "libraries": []}


# ---- The report ----------------------------------------------------------------------------------

def print_row(row, host):
    print(f"{row['op']} {row['dtype']} {'x'.join(map(str, row['shape']))}" + (f", axes {row['axes']}" if row["axes"] else "") +
          f"; {host['cpu']}, {host['threads']} thread{'s' if host['threads'] > 1 else ''}")
    if row["error"]:
        print(f"{row['backend']:26} {row['error']}\n", flush=True)
        return
    unit = "gflop_per_s" if "gflop_per_s" in row else "gb_per_s"

    def line(name, entry, more=""):
        times = entry["call_seconds"]
        ratios = f" {entry['ratio']:7.3f} {entry['ratio_fastest']:7.3f}  " if "ratio" in entry else ""
        print(f"{name:26} {1e3 * times['median']:11.4f} {1e3 * times['min']:11.4f} {entry[unit]:9.2f}{ratios}{more}")
    print(f"{'':26} {'median ms':>11} {'fastest ms':>11} {'GF/s' if unit[1] == 'f' else 'GB/s':>9} {'ratio':>7} {'fastest':>7}")
    line(row["backend"], row)
    for entry in row["libraries"]:
        if "ratio" in entry:
            line(entry["name"], entry, entry["text"] + (" (one round)" if entry["state"] == "slower" else ""))
        else:
            print(f"{entry['name']:26} {entry['state']}: {entry['text']}")
    memory, best = row.get("memory"), row["best"]
    if memory:
        print(f"{'the memory of the machine':26} {'':23} {memory['median_gb_per_s']:9.2f} {memory['ratio']:7.3f} "
              f"{memory['ratio_fastest']:7.3f}  {memory['kind']}")
    if best:
        print(f"{best['name']} is the fastest library; Collet has {best['ratio']:.3f} of its speed (fastest calls "
              f"{best['ratio_fastest']:.3f})")
    print(flush=True)


def extents_of(parser, shape):
    """The extents in a text like "1Kx3". K, M and G are powers of 1024."""
    parts = [re.fullmatch(r"([1-9]\d*)([KMG]?)", part) for part in shape.split("x")]
    if not all(parts):
        parser.error(f"'{shape}' is not a shape")
    return [int(p[1]) * 1024 ** " KMG".index(p[2] or " ") for p in parts]


def ask(options, tool, *words):
    """The JSON report of a program of Collet. If the program fails, it has printed the reason, and this script
    exits."""
    done = subprocess.run([os.path.join(options.build, "bin", tool), *words, "--json"], stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else sys.exit(done.returncode)


def isa_limit(options):
    """The level of x86-64 that the setting `isa` limits Collet to; 4: no limit."""
    isa = next(s["value"] for s in ask(options, "backend-info", "--env")["settings"] if s["key"] == "isa")
    return int(isa[-1]) if re.fullmatch(r".*v[234]", isa) else 4


def cases(parser, options):
    """(op, dtype, shape, axis) of each row, without repetitions."""
    unknown = set(options.ops) - {case[0] for case in CASES}
    if unknown:
        parser.error(f"it does not compare the op '{unknown.pop()}'")
    if (options.shape or options.axis) and len(options.ops) != 1:
        parser.error("a shape or an axis needs exactly one op")
    rows = [(op, dtype, options.shape or shape, options.axis or axis) for op, dtypes, shapes, axis in CASES
            if not options.ops or op in options.ops
            for dtype in (options.dtype or dtypes.split()) for shape in shapes.split()]
    for op, dtype, _, _ in rows:
        if not any(op in offers for _, offers, _, _ in LIBRARIES.values()):
            continue
        offered = {d for _, offers, _, _ in LIBRARIES.values() for d in offers.get(op, "").split()}
        if dtype not in offered:
            parser.error(f"{op} is compared with {', '.join(sorted(offered))}, not {dtype}")
    return list(dict.fromkeys(rows))


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ops", nargs="*", metavar="OP")
    parser.add_argument("--shape", help="as of backend-bench; needs one OP")
    parser.add_argument("--axis", metavar="N", help="the axis of sum; for fft the last axes")
    parser.add_argument("--dtype", metavar="DTYPE[,...]", type=lambda text: text.split(","), help="instead of the usual ones")
    parser.add_argument("--backend", default="auto", help="of Collet (default: auto)")
    parser.add_argument("--threads", type=int, help="of each library (default: all allowed)")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each library and row (default: 2)")
    parser.add_argument("--openblas", metavar="FILE[,...]", type=lambda text: text.split(","), default=[], help="more builds of "
                        "OpenBLAS, also those of pip's numpy and scipy-openblas32, whose functions have other names")
    parser.add_argument("--libraries", metavar="DIRECTORY", default="", help="directory of the libraries (default: the system's)")
    parser.add_argument("--build", default=os.path.join(here, "../../build"), help="of Collet (default: build)")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return 0
    rows, status, results = cases(parser, options), 0, []
    shapes = [extents_of(parser, shape) for _, _, shape, _ in rows]
    host = ask(options, "backend-bench", "--list", *([f"--threads={options.threads}"] if options.threads else []))["host"]
    options.threads, limit = host["threads"], isa_limit(options)
    for (op, dtype, shape, axis), extents in zip(rows, shapes):
        compared = any(op in offers for _, offers, _, _ in LIBRARIES.values())
        axes = 0 if op != "fft" else len(axis.split(",")) if axis else min(3, len(extents))
        job = {key: getattr(options, key) for key in ("threads", "seconds", "backend", "build", "libraries")}
        job |= {"op": op, "dtype": dtype, "shape": extents, "axes": axes}
        row = compare(job, options, limit) if compared else against_memory(options, op, shape, dtype, axis)
        status = status or int(bool(row["error"]) or compared and not row["best"])
        results.append(row)
        if not options.json:
            print_row(row, host)
    if options.json:
        print(json.dumps({"tool": "against.py", "command": sys.argv[1:], "seconds": options.seconds, "host": host,
                          "results": results}, indent=2))
    return status


if __name__ == "__main__":
    sys.exit(main())

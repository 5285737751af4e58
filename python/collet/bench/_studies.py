# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/process/test_studies.py
"""python -m collet compare, sweep, trajectory, roofline: tables of what backend-bench measures."""

import argparse
import csv
import json
import math
import re
import signal
import statistics
import subprocess
import sys

from .. import __version__, _plugins

TOLERANCE = 0.05  # Smaller changes of the median are not reported, whatever the noise.
SMALLEST, POINTS_EACH = 10, 2  # Elements of the first size of a sweep; number of sizes for each power of ten.
LEAK_RESIDENT = 10 << 20  # Bytes that allocators may keep, as in collet.bench.
UNAVAILABLE = 77  # The exit status of backend-bench for a backend that cannot be used.
USUAL = ["add", "sum", "exp", "matvec", "matmul", "fft", "observables"]


# ---- Measuring -----------------------------------------------------------------------------------

class Measured:
    """The rows of one call of backend-bench, which writes its errors itself; `status` is its exit status."""

    def __init__(self, options, *arguments, **changes):
        words = [f"--{k}={v}" for k, v in ({"threads": options.threads, "backend": options.backend, "seconds": options.seconds}
                                           | changes).items() if v is not None]
        self.status, output = self._run([*_plugins.tool("backend-bench"), *arguments, "--json", *words])
        if self.status not in (0, 1, 2, UNAVAILABLE):
            sys.exit(f"python -m collet: backend-bench ended with {self.status}")
        self.report = json.loads(output) if output else {"results": []}

    @staticmethod
    def _run(command):
        """Runs a command and returns its exit status and output. If a signal ends this process, the command ends too.
        Signals are blocked until the command has started, because subprocess.run does not end a command that was just
        starting."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
        try:
            with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8",
                                  preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, before)) as process:
                try:
                    signal.pthread_sigmask(signal.SIG_SETMASK, before)
                    output = process.communicate()[0]
                except BaseException:
                    process.kill()
                    raise
            return process.returncode, output
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def rows(self):
        """A dict for each backend and dtype that was measured."""
        for r in self.report["results"]:
            if r["status"] == "COLLET_OK":
                medians = [x["median"] for x in r["rounds"] if x["median"] is not None]
                yield {**r, **r["call_seconds"], "op": self.report["case"], "low": min(medians), "high": max(medians),
                       "shape": "x".join(map(str, self.report["shape"])) or "()", "medians": medians,
                       "rate": r["gb_per_s"] if r["gflop_per_s"] is None else r["gflop_per_s"]}


def measure_op(options, op, shape=None, dtype=None, **changes):
    """Measures the op. Raises SystemExit if backend-bench refused the command."""
    words = [f"--axis={options.axis}"] if options.axis else []
    done = Measured(options, op, *([shape] if shape else []), *words, dtype=dtype or options.dtype, **changes)
    if done.status in (2, UNAVAILABLE):
        sys.exit(done.status)
    return done


# ---- Tables --------------------------------------------------------------------------------------

def time_text(seconds):
    for limit, scale, digits, unit in ((1e-6, 1e9, 1, "ns"), (1e-3, 1e6, 2, "us"), (1, 1e3, 3, "ms"), (math.inf, 1, 3, "s")):
        if seconds < limit:
            return f"{seconds * scale:.{digits}f} {unit}"


def bytes_text(count):
    unit = min(4, max(0, (int(abs(count)).bit_length() - 1) // 10))
    return f"{count / 1024 ** unit:.{3 if unit else 4}g} {['B', 'KiB', 'MiB', 'GiB', 'TiB'][unit]}"


# How a column is shown: its width, negative if aligned left, and a function that makes its text. Columns that are not
# in SHOWN are shown as VALUE. Columns of KEY identify a row.
KEY, TEXT = (-16, str), (-9, str)
TIME, VALUE = (10, time_text), (10, lambda x: f"{x:.4g}")
BYTES, SHARE = (10, bytes_text), (10, lambda x: f"{100 * x:.1f} %")
SHOWN = {KEY: "backend op signature shape", TEXT: "verdict steady leak bound",
         TIME: "baseline median mean std min max p95 p99 low high",
         BYTES: "peak_device_bytes peak_bytes array_bytes device_bytes resident_bytes", SHARE: "change drift jitter share"}
TITLES = {"calls_per_second": "calls/s", "rate": "GF|GB/s", "peak_bytes": "peak mem", "to_fastest": "/fastest",
          "device_bytes": "arrays", "resident_bytes": "resident", "steady": "time", "leak": "memory", "intensity": "FLOP/B", "gflop_per_s": "GF/s",
          "gb_per_s": "GB/s", "share": "of roof"}


def columns_of(words):
    """(key, title, how it is shown) of each word; a word in brackets has no title and is not shown as text."""
    shown = {key: how for how, keys in SHOWN.items() for key in keys.split()}
    return [(key, None if key != word else TITLES.get(key, key), shown.get(key, VALUE))
            for word in words.split() for key in [word.strip("()")]]


class Table:
    """Rows, printed one by one as text or CSV, or at the end as JSON, and compared with an earlier report."""

    def __init__(self, options, columns):
        self.options, self.columns, self.status, self.slower = options, columns_of(columns), 0, 0
        self.report = {"tool": "python -m collet", "collet": __version__, "command": sys.argv[1:], "mode": options.study,
                       "seconds": options.seconds, "host": None, "results": []}
        self.known = self._read(options.against) if options.against else None
        if self.known is not None:
            self.columns += columns_of("baseline change verdict")

    def _read(self, path):
        try:
            with open(path, encoding="utf-8") as file:
                report = json.load(file)
            if report["mode"] != self.options.study:
                raise ValueError
            self.cpu = report["host"]["cpu"]
            if not all(r[k] > 0 for r in report["results"] for k in ("median", "low", "high")):
                raise ValueError
            return {tuple(r[k] for k, _, kind in self.columns if kind is KEY): r for r in report["results"]}
        except OSError as error:
            self.complain(f"--against {path}: {error.strerror}")
            sys.exit(1)
        except (ValueError, KeyError, TypeError, RecursionError):
            self.complain(f"--against {path}: it is not a report of 'python -m collet {self.options.study} --json'")
            sys.exit(2)

    @staticmethod
    def complain(text):
        print(f"python -m collet: {text}", file=sys.stderr)

    def take(self, measured):
        """Returns the rows of a measurement. Copies the measurement's machine and exit status to the table."""
        host = measured.report.get("host")
        if host and not self.report["host"]:
            if self.known is not None and host["cpu"] != self.cpu:
                self.complain(f"--against {self.options.against}: it was measured on another processor, {self.cpu!r}")
            self.report["host"] = host
        self.status = self.status or measured.status
        return list(measured.rows())

    def judge(self, row):
        """The verdict is "slower" or "faster" if the median changed by more than TOLERANCE and the medians of all
        rounds of one run are above the medians of the other run."""
        before = self.known.get(tuple(row[k] for k, _, kind in self.columns if kind is KEY))
        if not before:
            return {"baseline": None, "change": None, "verdict": "new"}
        change = row["median"] / before["median"] - 1
        verdict = ("slower" if change > TOLERANCE and row["low"] > before["high"] else
                   "faster" if change < -TOLERANCE and row["high"] < before["low"] else "same")
        self.slower += verdict == "slower"
        return {"baseline": before["median"], "change": change, "verdict": verdict}

    def add(self, row):
        if self.known is not None:
            row = row | self.judge(row)
        row = {key: row[key] for key, _, _ in self.columns}
        first = not self.report["results"]
        self.report["results"].append(row)
        if self.options.csv:
            lines = csv.writer(sys.stdout)
            if first:
                lines.writerow(row)
            lines.writerow([f"{v:.9g}" if isinstance(v, (int, float)) else v for v in row.values()])
        elif not self.options.json:
            shown = [(key, title, *how) for key, title, how in self.columns if title]
            if first:
                print(*(f"{title:{'<' if width < 0 else '>'}{abs(width)}}" for _, title, width, _ in shown))
            print(*(f"{'-' if row[key] is None else text(row[key]):{'<' if width < 0 else '>'}{abs(width)}}"
                    for key, _, width, text in shown))
        sys.stdout.flush()  # finished rows are then printed even if the program is stopped

    def note(self, key, row, text):
        """Reports a finding beside the rows: in the list `key` of the JSON report, and without --json as a line."""
        self.report[key].append(row)
        if not self.options.json:
            print(text, file=sys.stderr if self.options.csv else sys.stdout)

    def close(self):
        """Prints the report and the regressions. Returns the exit status."""
        if self.options.json:
            print(json.dumps(self.report, indent=2))
        if self.slower:
            self.complain(f"{self.slower} row{' is' if self.slower == 1 else 's are'} slower than in {self.options.against}: "
                          f"by more than {TOLERANCE:.0%}, and in every round")
        return self.status or int(self.slower > 0)


# ---- Studies -------------------------------------------------------------------------------------

def compare(options):
    """an op on several backends in turn"""
    table = Table(options, "backend (op) (signature) (shape) median mean std min max p95 p99 (low) (high) (samples) "
                  "calls_per_second rate (peak_device_bytes) peak_bytes speedup")
    first = {}
    for row in table.take(measure_op(options, options.op, options.shape)):
        row.update({k: max(r[k] for r in row["rounds"]) for k in ("peak_device_bytes", "peak_bytes")})
        table.add(row | {"speedup": first.setdefault(row["signature"], row["median"]) / row["median"]})
    return table.close()


def extents_of(shape):
    """The numbers of "1Kx3"; None: malformed."""
    parts = [re.fullmatch(r"(\d+)([KMG]?)", part) for part in shape.split("x")]
    return [int(p[1]) * 1024 ** " KMG".index(p[2] or " ") for p in parts] if all(parts) else None


def sizes(shape, extents):
    """Smaller shapes with the proportions of `shape`, then `shape` itself. extents: the numbers in `shape`."""
    product = math.prod(extents) or 1
    steps = max(0, int(POINTS_EACH * math.log10(product / SMALLEST) + 1e-9))
    shrunk = ["x".join(str(max(1, round(n * 10 ** (-step / POINTS_EACH / len(extents))))) for n in extents)
              for step in range(steps, 0, -1)]
    return list(dict.fromkeys([*shrunk, shape]))


def crossing(size_a, size_b, a, b, first, last):
    """Returns the size from which on `last` is faster than `first`. Between two measured sizes, the logarithm of the
    time is interpolated linearly in the logarithm of the size. a, b: the medians by backend."""
    before, after = math.log(a[last] / a[first]), math.log(b[first] / b[last])
    return size_a * (size_b / size_a) ** (before / (before + after) if before + after > 0 else 0)


def sweep(options):
    """an op at many sizes, and which backend is the fastest"""
    table = Table(options, "shape backend (op) (signature) size median (mean) (std) (min) p95 p99 (low) (high) rate to_fastest")
    table.report["crossovers"] = []
    shape = options.shape or shapes_of(options).get(options.op, "1")
    for dtype in (options.dtype or "").split(","):
        last = None
        for text in sizes(shape, extents_of(shape) or [1]):
            rows = table.take(measure_op(options, options.op, text, dtype or None))
            if not rows:
                continue
            best, size = min(rows, key=lambda r: r["median"]), math.prod(extents_of(rows[0]["shape"]))
            for row in rows:
                table.add(row | {"size": size, "to_fastest": row["median"] / best["median"]})
            now = (rows[0]["shape"], size, best["backend"], {r["backend"]: r["median"] for r in rows})
            if last and last[2] != now[2] and last[2] in now[3] and now[2] in last[3]:
                at = crossing(last[1], size, last[3], now[3], last[2], now[2])
                table.note("crossovers", {"signature": best["signature"], "from": last[2], "to": now[2], "size": at,
                                          "below": last[0], "above": now[0]},
                           f"{best['signature']}: from about {at:.3g} elements on ({last[0]} to {now[0]}), {now[2]} is faster "
                           f"than {last[2]}")
            last = now
    return table.close()


def drift(medians):
    """How the medians of consecutive rounds change: the slope of the line of least squares, from the first to the
    last round, relative to their mean."""
    slope = statistics.linear_regression(range(len(medians)), medians).slope
    return slope * (len(medians) - 1) / statistics.fmean(medians)


def drifts(medians):
    """Whether all rounds of one half of the run are slower than all rounds of the other half by more than 5 %."""
    half = len(medians) // 2
    a, b = medians[:half], medians[-half:]
    return min(b) > (1 + TOLERANCE) * max(a) or min(a) > (1 + TOLERANCE) * max(b)


def leaks(grown, tolerance):
    """Whether memory leaks. grown: the growth since the start, in bytes, after each round. A leak grows by more than
    `tolerance` in all, in more than half of the rounds, and never shrinks by more than `tolerance` in a round."""
    steps = [b - a for a, b in zip([0, *grown], grown)]
    return grown[-1] > tolerance and 2 * sum(s > 0 for s in steps) > len(steps) and min(steps) >= -tolerance


def trajectory(options):
    """an op over a long run: drift, jitter, leaks"""
    table = Table(options, "backend (op) (signature) (shape) calls median (mean) (std) (p95) p99 max (low) (high) drift jitter "
                  "(array_bytes) device_bytes resident_bytes steady leak")
    for row in table.take(measure_op(options, options.op, options.shape)):
        found = [space for space, tolerance in (("array_bytes", 0), ("device_bytes", 0), ("resident_bytes", LEAK_RESIDENT))
                 if leaks([r[space] for r in row["rounds"]], tolerance)]
        table.add(row | row["memory_delta"] | {
            "calls": row["samples"] * row["calls_per_sample"], "drift": drift(row["medians"]),
            "jitter": statistics.fmean(r["jitter"] or 0 for r in row["rounds"]) / row["median"],
            "steady": "drifts" if drifts(row["medians"]) else "steady", "leak": "leaks" if found else "no leak"})
        if found:
            table.complain(f"{row['backend']}: memory grew during the calls ({', '.join(found)})")
            table.status = table.status or 1
    return table.close()


def shapes_of(options):
    """The default shape of each op."""
    return {c["case"]: c["shape"] for c in Measured(options, "--list", backend=None, seconds=None).report.get("cases", [])}


def is_gpu(choice):
    from . import device_info
    return device_info(choice)["kind"] == "gpu"


def fastest(options, table, op, shape, dtype, backend):
    """A dict from each backend that could be measured to the rate of its fastest call."""
    done = Measured(options, op, shape, dtype=dtype, backend=backend)
    table.status = table.status or min(done.status, 1)
    return {r["backend"]: 1e-9 * (r["flops"] or r["bytes"]) / r["min"] for r in done.rows()}


def find_roofs(options, table, dtype):
    """A dict from each GPU's name to (peak, bandwidth); the key None is the processor, with the peak of its fastest
    backend. GPUs are measured with larger operands. A figure that is not known is None."""
    peaks = fastest(options, table, "matmul", "512x512x512", dtype, options.backend)
    gpus = [name for name in peaks if is_gpu(name)]
    bandwidth = max(r["gb_per_s"] for r in Measured(options, "bandwidth", backend=None).report["results"])
    roofs = {None: (max((peak for name, peak in peaks.items() if name not in gpus), default=None), bandwidth)}
    for name in gpus:
        larger = fastest(options, table, "matmul", "4096x4096x4096", dtype, name).values()
        roofs[name] = max(peaks[name], *larger), fastest(options, table, "copy", "64M", "f32", name).get(name)
    return roofs, peaks


def roof_of(intensity, peak, bandwidth):
    """The highest rate that the roofs allow, in 10^9 operations a second, for `intensity` operations a byte; without
    operations (None) in 10^9 bytes a second (Williams, Waterman, Patterson, 2009). None: not known."""
    if intensity is None or bandwidth is None:
        return bandwidth
    return None if peak is None else min(intensity * bandwidth, peak)


def roofline(options):
    """ops as a share of bandwidth and peak"""
    table = Table(options, "backend op (signature) shape median (low) (high) intensity gflop_per_s gb_per_s bound roof share")
    table.report["roofs"] = []
    unknown = [op for op in options.ops if op not in shapes_of(options)]
    if unknown:
        measure_op(options, unknown[0])  # prints that the op is unknown, and exits
    for dtype in (options.dtype or "f32").split(","):
        roofs, peaks = find_roofs(options, table, dtype)
        for name in peaks:
            peak, rate = roofs.get(name, roofs[None])
            table.note("roofs", {"backend": name, "dtype": dtype, "gflop_per_s": peak, "gb_per_s": rate},
                       f"{name} {dtype}: peak {peak:.4g} GF/s (matmul), bandwidth " +
                       (f"{rate:.4g} GB/s, ridge {peak / rate:.3g} FLOP/B" if rate else "not known"))
        for op in options.ops:
            for row in table.take(measure_op(options, op, options.shape, dtype if options.dtype else None)):
                peak, rate = roofs.get(row["backend"], roofs[None])
                intensity = row["flops"] / row["bytes"] if row["flops"] else None
                top = roof_of(intensity, peak, rate)
                table.add(row | {"intensity": intensity, "roof": top, "share": row["rate"] / top if top else None,
                                 "bound": "compute" if intensity and top == peak else "memory"})
    return table.close()


STUDIES = {f.__name__: f for f in (compare, sweep, trajectory, roofline)}


# ---- The command line ----------------------------------------------------------------------------

def parse(arguments):
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--shape", help="extents, as the second argument")
    common.add_argument("--axis", metavar="N[,N...]", help="axes of a reduction (default: all)")
    common.add_argument("--dtype", metavar="DTYPE[,...]", help="dtypes (default: f32)")
    common.add_argument("--backend", metavar="NAME[,...]", help="backends (default: all usable ones)")
    common.add_argument("--threads", metavar="N", help="CPU threads at most (default: all allowed)")
    common.add_argument("--seconds", metavar="S", help="time to measure each row (default: 2)")
    common.add_argument("--against", metavar="FILE", help="compare with an earlier --json report of the same command; exit with "
                        "1 if a row is slower in every round and by more than 5 %%")
    form = common.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true")
    form.add_argument("--csv", action="store_true")
    parser = argparse.ArgumentParser(prog="python -m collet", epilog="backend-bench --list shows the ops and their shapes. "
                                     "Exit status: 0 success; 1 something could not be measured, is slower, or leaks; 2 wrong "
                                     "command line; 77 the backend cannot be used on this machine; 128 + n stopped by signal n.")
    commands = parser.add_subparsers(dest="study", required=True)
    for name, function in STUDIES.items():
        command = commands.add_parser(name, parents=[common], help=function.__doc__, description=f"Measures {function.__doc__}.")
        if name == "roofline":
            command.add_argument("ops", metavar="OP", nargs="*", default=USUAL)
        else:
            command.add_argument("op", metavar="OP")
            command.add_argument("shape", metavar="SHAPE", nargs="?", default=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main(arguments):
    options = parse(arguments)
    return STUDIES[options.study](options)

# SPDX-License-Identifier: Apache-2.0
"""coverage.py JSON MISSED: prints the table of docs/coverage.md from a report of gcovr (coverage.sh), and for each
function the number of branches that no test takes, with the reason from coverage.txt. Writes the lines with these
branches to the file MISSED. Exit status 1: a function has more such branches than coverage.txt lists."""
import json
import pathlib
import re
import sys

PARTS = [
    ("manifests", r"core/plugins/(manifest|elf_note)\.c|core/util/(json|setting)\.c"),
    ("loader", r"core/plugins/(loader|open|record|vtable)\.c|core/op/signature\.c"),
    ("configuration", r"core/(settings/config|context/select)\.c"),
    ("cache of probes", r"core/plugins/probe_cache\.c"),
    ("probes", r"core/plugins/(probe|probing|capabilities)\.c"),
    ("`collet-probe`", r"core/plugins/probe_main\.c"),
    ("search, owners", r"core/plugins/(search|trust|file)\.c"),
    ("text", r"core/util/text\.c|engines/io/(decimal|utf8|lines)\.c"),
    ("reading, `.npy`", r"engines/io/(source|mapping|npy|npy_read)\.[ch]"),
    ("`.t2`, GGUF and safetensors", r"engines/ternary/formats/.*"),
    ("trajectories and topologies", r"engines/trajectory/(formats|reading)/.*"),
    ("masses, selections", r"engines/trajectory/atoms/.*"),
]


def reasons(path):
    """Reads lines "file function count reason" into {(file, function): [count, reason]}."""
    found = {}
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            file, function, count, reason = line.split(None, 3)
            found[file, function] = [int(count), reason]
    return found


def function_of(file, line):
    before = [f for f in file["functions"] if f["lineno"] <= line]
    return max(before, key=lambda f: f["lineno"])["name"] if before else "?"


def main(report, missed_lines):
    root = pathlib.Path(__file__).resolve().parents[2]
    part_counts = {name: [0, 0] for name, _ in PARTS}
    missed, lines = {}, []
    for file in json.loads(pathlib.Path(report).read_text())["files"]:
        name = file["file"]
        part = next((p for p, pattern in PARTS if re.fullmatch(pattern, name)), None)
        if not part:
            continue
        source = (root / name).read_text().splitlines()
        for line in file["lines"]:
            counts = [b["count"] for b in line["branches"]]
            if line.get("gcovr/noncode") or not counts:
                continue
            part_counts[part][0] += sum(c > 0 for c in counts)
            part_counts[part][1] += len(counts)
            if 0 not in counts:
                continue
            number = line["line_number"]
            key = (name, function_of(file, number))
            missed[key] = missed.get(key, 0) + counts.count(0)
            where = f"{name}:{number}: {counts.count(0)} of {len(counts)}"
            lines.append(f"{where}: {source[number - 1].strip()}")
    pathlib.Path(missed_lines).write_text("\n".join(lines) + "\n")

    part_counts["all"] = [sum(c[i] for c in part_counts.values()) for i in (0, 1)]
    for name, (taken, total) in part_counts.items():
        print(f"| {name:28} | {100 * taken / max(total, 1):5.1f} | {taken:5} of {total:5} |")
    known, failed = reasons(pathlib.Path(__file__).with_name("coverage.txt")), 0
    for key in sorted(set(missed) | set(known)):
        count, (listed, reason) = missed.get(key, 0), known.get(key, (0, "NO REASON"))
        print(f"{key[0]} {key[1]} {count} {reason}")
        if count > listed:
            print(f"  not listed: {count - listed} of {count}")
            failed = 1
        elif count == 0:
            print("  listed, but all are taken")
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

# SPDX-License-Identifier: Apache-2.0
"""The figures of docs/benchmarks as plots: the numbers, the machine and the date are read from the pages."""

import re

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

# Page, heading, title, columns of the labels, {series: column}, the value that is drawn as a line, its meaning.
PLOTS = [
    ("libraries", "Libraries of matrices and transforms", "Speed, over the fastest library's", (0,), {"ratio": 1}, 1, "more than 1: Collet is faster; a dot for each size"),
    ("engines", "Ternary weights", "Time, over ggml's", (0,), {"W2A8": 5, "W2A2": 6}, 1, "less than 1: Collet is faster"),
    ("accuracy", "Errors of the elementary functions", "Largest error, ulp", (0, 1), {"limit": 3, "cpu_scalar": 4, "cpu_openmp": 5}, None, None),
    ("cuda", "Rates", "Microseconds on an NVIDIA H200", (0,), {"Collet": 1, "PyTorch": 2}, None, None),
]


def section(text, heading):
    return re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", text, re.DOTALL | re.MULTILINE)[1]


def rows(text):
    """The cells of the first table."""
    lines = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def numbers(cell):
    """The numbers in a cell (there may be several), without numbers in brackets: these are aims or remarks."""
    return [float(n.replace(",", "")) for n in re.findall(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?", re.sub(r"\(.*?\)", "", cell))]


def draw(path, heading, title, label, series, line, meaning, text):
    """A row for each row of the table, a dot for each number."""
    table = rows(section(text, heading))[::-1]
    names = [re.sub(r" ?\(.*?\)", "", " ".join(row[i] for i in label)).replace("; ", ";\n") for row in table]
    figure, axis = plt.subplots(figsize=(7, 1.2 + 0.3 * len(table)), layout="constrained")
    for name, column in series.items():
        dots = [(value, i) for i, row in enumerate(table) for value in numbers(row[column])]
        axis.plot(*zip(*dots), "o", label=name)
    axis.set_yticks(range(len(table)), names, fontsize=8)
    axis.grid(axis="y", alpha=0.3)
    low, high = axis.dataLim.intervalx
    if high > 10 * low:
        axis.set_xscale("log")
    axis.xaxis.set_major_formatter("{x:g}")
    axis.set(title=title, xlabel=meaning)
    if line:
        axis.axvline(line, color="black", linewidth=0.8)
    axis.legend(fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def when(text, heading):
    """The first paragraph with a date in the section, or else in the page."""
    for part in (section(text, heading), text):
        for paragraph in part.split("\n\n"):
            if re.search(r"\d{4}-\d\d-\d\d", paragraph):
                return " ".join(paragraph.split())
    raise ValueError(f"{heading}: no date")


def page(root, folder):
    folder.mkdir(parents=True, exist_ok=True)
    out = ["# Figures\n\nThe tables of [the benchmarks](benchmarks/README.md) as plots. Each was measured once, on the machine and the date that stand "
           "below it; figures of different machines are not comparable.\n"]
    for name, heading, *rest in PLOTS:
        text = (root / f"docs/benchmarks/{name}.md").read_text()
        path = folder / f"figures-{name}.png"
        if not path.exists() or path.stat().st_mtime < (root / f"docs/benchmarks/{name}.md").stat().st_mtime:
            draw(path, heading, *rest, text)
        out.append(f"## {rest[0]}\n\n![{rest[0]}](/pictures/{path.name})\n\n{when(text, heading)} [The table](benchmarks/{name}.md)\n")
    return "\n".join(out)

# SPDX-License-Identifier: Apache-2.0
"""The figures of docs/benchmarks as plots: the numbers, the machine and the date are read from the pages."""

import re

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

# Page, heading, title, column of the labels, {series: column}, the value that is drawn as a line, its meaning.
PLOTS = [
    ("libraries", "Libraries of matrices and transforms", "Speed over the fastest library", 0, {"ratio": 1}, 1, "1: as fast as the library"),
    ("engines", "Ternary weights", "Time over ggml's", 0, {"W2A8": 5, "W2A2": 6}, 1, "1: as fast as ggml"),
    ("accuracy", "Errors of the elementary functions", "Largest error, ulp", (0, 1), {"limit": 3, "cpu_scalar": 4, "cpu_openmp": 5}, None, None),
    ("cuda", "Rates", "Microseconds on an NVIDIA H200", 0, {"Collet": 1, "PyTorch": 2}, None, None),
]


def section(text, heading):
    return re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", text, re.DOTALL | re.MULTILINE)[1]


def rows(text):
    """The cells of the first table."""
    lines = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def number(cell):
    return float(found[0].replace(",", "")) if (found := re.search(r"\d[\d,]*\.?\d*", cell)) else None


def draw(path, page, heading, title, label, series, line, meaning, text):
    labels = [label] if isinstance(label, int) else label
    data = [(" ".join(re.sub(r"\(.*?\)", "", row[i]) for i in labels), [number(row[i]) for i in series.values()]) for row in rows(section(text, heading))]
    data = [(name, values) for name, values in data if any(v is not None for v in values)][::-1]
    figure, axis = plt.subplots(figsize=(7, 1 + 0.28 * len(data) * max(1, len(series) / 2)), layout="constrained")
    width = 0.8 / len(series)
    for k, name in enumerate(series):
        axis.barh([i + (len(series) - 1 - k) * width for i in range(len(data))], [values[k] or 0 for _, values in data], width, label=name)
    axis.set_yticks([i + 0.4 - width / 2 for i in range(len(data))], [name if len(name) < 48 else name[:45] + "..." for name, _ in data], fontsize=8)
    axis.set_title(title)
    if max(v or 0 for _, values in data for v in values) > 100:
        axis.set_xscale("log")
    if line:
        axis.axvline(line, color="black", linewidth=0.8)
        axis.set_xlabel(meaning)
    if len(series) > 1:
        axis.legend(fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def when(text, heading):
    """The paragraph with the date: of the section, else of the page."""
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
            draw(path, name, heading, *rest, text)
        out.append(f"## {rest[0]}\n\n![{rest[0]}](/pictures/{path.name})\n\n{when(text, heading)} [The table](benchmarks/{name}.md)\n")
    return "\n".join(out)

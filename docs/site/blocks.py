# SPDX-License-Identifier: Apache-2.0
"""blocks.py PAGE DIRECTORY OUT LANGUAGES: runs the page's blocks of code of these languages in DIRECTORY, one after the
other. Prints the page with the output of each block and the pictures that it made: the figures of Matplotlib, and the .png
files that it wrote into $OUT. If a block fails, the program ends with an error."""

import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys

FENCE = re.compile(r"^```(\w+)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
ELSEWHERE = "import torch"  # gigabytes of packages: the test python_documents runs such blocks where PyTorch is installed


def run_python(code, names, page):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(code, page, "exec"), names)
    return said.getvalue()


def run_sh(code):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise RuntimeError(f"status {done.returncode}: {done.stdout}")
    return done.stdout


def figures(folder):
    """Saves the open figures of Matplotlib, if the block has imported it."""
    if plt := sys.modules.get("matplotlib.pyplot"):
        for number in plt.get_fignums():
            plt.figure(number).savefig(folder / f"figure{len(list(folder.glob('*.png')))}.png", dpi=110)
        plt.close("all")


def main(page, directory, out, languages):
    text, names = pathlib.Path(page).read_text(), {"__name__": "__main__"}
    out = pathlib.Path(out)
    os.chdir(directory)
    os.environ["OUT"] = str(out)

    def with_output(block):
        language, code = block.groups()
        if language not in languages or ELSEWHERE in code:
            return block[0]
        there = set(out.rglob("*.png"))
        said = run_python(code, names, page) if language == "python" else run_sh(code)
        figures(out)
        said = said.replace(f"{out}/", "").rstrip("\n")
        shown = f"\n```{{code-block}} text\n:class: output\n\n{said}\n```\n" if said else ""
        return block[0] + shown + "".join(f"\n![What the code above draws](/{path.relative_to(out.parents[1])})\n"
                                          for path in sorted(set(out.rglob("*.png")) - there))

    sys.stdout.write(FENCE.sub(with_output, text))


if __name__ == "__main__":
    main(*sys.argv[1:4], sys.argv[4].split(","))

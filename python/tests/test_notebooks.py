# SPDX-License-Identifier: Apache-2.0
"""The notebooks of docs/notebooks run. Needs nbclient, ipykernel and Matplotlib."""

import pathlib

import pytest

FOLDER = pathlib.Path(__file__).parents[2] / "docs/notebooks"
nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells), "clear its outputs"
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": FOLDER}}).execute()

# SPDX-License-Identifier: Apache-2.0
"""The module CyRSoXS of the distribution collet-cyrsoxs, as NRSS uses it."""

import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import collet
from collet import _plugins, scatter

FOLDER = pathlib.Path(__file__).parents[1] / "cyrsoxs"
sys.path.insert(0, str(FOLDER))
import CyRSoXS as cy  # noqa: E402

TOOL = pathlib.Path(_plugins.tool("collet-rsoxs")[0])
SHAPE = (4, 12, 16)
ENERGIES = [286.0, 285.0]
CONSTANTS = {285.0: [[2e-3, 4e-4, 1e-3, 1e-4], [0] * 4], 286.0: [[3e-3, 1e-4, 2e-3, 2e-4], [0] * 4]}


def fields(shape=SHAPE):
    random = np.random.default_rng(5)
    fraction, s = random.random((2, *shape), np.float32)
    s[0] = 0
    theta, psi = random.random((2, *shape), np.float32) * 3
    theta[0] = np.nan  # not used where S is 0
    return fraction, s, theta, psi


def make_input(order=None, shape=SHAPE, morphology=None, angles=(0.0, 90.0, 30.0)):
    data = cy.InputData(NumMaterial=2)
    data.setCaseType(cy.CaseType.Default)
    data.setEnergies(ENERGIES)
    data.setERotationAngle(StartAngle=angles[0], EndAngle=angles[1], IncrementAngle=angles[2])
    data.setMorphologyType(cy.MorphologyType.EulerAngles if morphology is None else morphology)
    data.setAlgorithm(AlgorithmID=0, MaxStreams=1)
    data.setDimensions(shape, cy.MorphologyOrder.ZYX if order is None else order)
    data.setPhysSize(5.0)
    return data


def make_constants(data):
    constants = cy.RefractiveIndex(data)
    for energy, values in CONSTANTS.items():
        constants.addData(OpticalConstants=values, Energy=energy)
    return constants


def make_voxels(data, second=True):
    voxels = cy.VoxelData(InputData=data)
    fraction, s, theta, psi = fields()
    voxels.addVoxelData(S=s, Theta=theta, Psi=psi, Vfrac=fraction, MaterialID=1)
    if second:
        voxels.addVoxelData(1 - fraction, 2)
    return voxels


def run(data, voxels):
    pattern = cy.ScatteringPattern(data)
    with cy.ostream_redirect(stdout=False, stderr=False):
        cy.launch(VoxelData=voxels, RefractiveIndexData=make_constants(data), InputData=data,
                  ScatteringPattern=pattern, WriteMetaData=False)
    return pattern


def expected(**options):
    fraction, s, theta, psi = fields()
    theta[0] = 0
    sample = scatter.Sample(
        [scatter.Material({e: c[0] for e, c in CONSTANTS.items()}, fraction, s, theta, psi),
         scatter.Material([0] * 4, 1 - fraction)], sorted(ENERGIES), 5.0, (0, 30, 90), **options)
    return scatter.simulate(sample, neighbours=True, grid="cyrsoxs").values


def same(a, b):
    return np.allclose(a, b, rtol=1e-4, atol=1e-9, equal_nan=True)


def test_patterns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = make_input()
    pattern = run(data, make_voxels(data))
    values = pattern.writeAllToNumpy(kID=0)
    assert values.shape == (2, 12, 16) and values.dtype == np.float32 and same(values, expected())
    one = pattern.dataToNumpy(286.0, 0)
    assert np.shares_memory(one, values) and np.array_equal(one, values[1], equal_nan=True)
    assert pattern.dataToNumpy(287.0, 0).size == pattern.writeAllToNumpy(1).size == 0
    pattern.writeToHDF5("out")
    assert np.array_equal(scatter.read_pattern("out", 285.0, (12, 16)), values[0], equal_nan=True)
    assert not os.path.exists("CyRSoXS.log")
    cy.launch(data, make_constants(data), make_voxels(data), pattern)
    assert "4 x 12 x 16" in open("CyRSoXS.log").read()


@pytest.mark.parametrize("name, value, option", [
    ("interpolationType", cy.InterpolationType.NearestNeighour, {"nearest": True}),
    ("windowingType", cy.FFTWindowing.Hanning, {"window": True}),
    ("rotMask", 1, {"mask": True}), ("referenceFrame", 0, {"material_frame": True})])
def test_settings(name, value, option):
    data = make_input()
    setattr(data, name, value)
    found = run(data, make_voxels(data)).writeAllToNumpy(0)
    assert same(found, expected(**option)) and not same(found, expected())


def test_order_and_rest_is_vacuum():
    data = make_input()
    values = run(data, make_voxels(data)).writeAllToNumpy(0)
    other = make_input(cy.XYZ, SHAPE[::-1])
    voxels = cy.VoxelData(other)
    fraction, s, theta, psi = (f.T for f in fields())
    voxels.addVoxelData(s, theta, psi, fraction, 1)
    voxels.addVoxelData(Vfrac=np.zeros(SHAPE), MaterialID=2)
    assert same(run(other, voxels).writeAllToNumpy(0), values)


def test_vectors_and_polarization():
    data, vectors = make_input(), make_input(morphology=cy.VectorMorphology)
    fraction, s, theta, psi = fields()
    theta[0] = 0
    director = np.stack([np.cos(psi) * np.sin(theta), np.sin(psi) * np.sin(theta), np.cos(theta)], -1)
    voxels = cy.VoxelData(vectors)
    voxels.addVoxelData(AlignedData=np.sqrt(fraction * s)[..., None] * director,
                        UnalignedData=fraction * (1 - s), MaterialID=1)
    voxels.addVoxelData(np.zeros((*SHAPE, 3)), 1 - fraction, 2)
    assert same(run(vectors, voxels).writeAllToNumpy(0),
                run(data, make_voxels(data)).writeAllToNumpy(0))
    found = []
    for given, of in ((data, make_voxels(data)), (vectors, voxels)):
        polarization = cy.Polarization(given)
        cy.computePolarization(given, make_constants(given), of, polarization, 286.0, 0.3)
        found.append([polarization.writeToNumpy(i) for i in range(3)])
    assert found[0][0].shape == SHAPE and found[0][0].dtype == np.complex64
    assert np.allclose(found[0], found[1], rtol=1e-3, atol=1e-7)
    n = np.array([1 - 3e-3 + 1e-4j, 1 - 2e-3 + 2e-4j, 1 - 2e-3 + 2e-4j])
    z, y, x = 1, 2, 3  # one voxel, computed from its tensors
    u, a = director[z, y, x].astype(float), float(s[z, y, x])
    squares = n[1] ** 2 * np.eye(3) + (n[0] ** 2 - n[1] ** 2) * np.outer(u, u)
    tensor = fraction[z, y, x] * (a * squares + (1 - a) * np.mean(n) ** 2 * np.eye(3) - np.eye(3))
    p = tensor @ [np.cos(0.3), np.sin(0.3), 0] / (4 * np.pi)
    assert np.allclose(np.array(found[0])[:, z, y, x], p, rtol=1e-3)


def test_polarization_in_the_material_frame():
    data = make_input()
    of = []
    for frame in (1, 0):
        data.referenceFrame = frame
        polarization = cy.Polarization(data)
        cy.computePolarization(data, make_constants(data), make_voxels(data), polarization, 285.0, 0.4)
        of.append([polarization.writeToNumpy(i).copy() for i in range(3)])
    lab, material = np.array(of[0]), np.array(of[1])
    assert np.allclose(material[0], np.cos(0.4) * lab[0] + np.sin(0.4) * lab[1], atol=1e-8)
    assert np.allclose(material[2], lab[2])


def test_beams():
    data = make_input()
    data.setCaseType(cy.BeamDivergence)
    data._beams = []
    data.setKVectors([0, 0, 2])
    data.setKVectors([0, 0.1, 1])
    pattern = run(data, make_voxels(data))
    assert same(pattern.writeAllToNumpy(0), expected())
    assert not same(pattern.writeAllToNumpy(1), expected())
    data.setCaseType(cy.CaseType.GrazingIncidence)
    data.setDetectorCoordinates([0, 0, 1])
    assert same(run(data, make_voxels(data)).writeAllToNumpy(0), pattern.writeAllToNumpy(0))
    data.setDetectorCoordinates([0, 0.3, 1])
    assert not same(run(data, make_voxels(data)).writeAllToNumpy(0), pattern.writeAllToNumpy(0))


def test_what_is_wrong_is_printed(capsys):
    data = cy.InputData(2)
    assert not data.validate() and "not set: energies" in capsys.readouterr().out
    data.setERotationAngle(10, 0, 1)
    data.setEnergies([1, 1])
    data.setAlgorithm(2, 1)
    assert len(capsys.readouterr().out.splitlines()) == 3
    data = make_input()
    assert data.validate() and capsys.readouterr().out == ""
    constants = cy.RefractiveIndex(data)
    constants.addData([[0] * 4] * 2, 284.0)
    constants.addData([[0] * 4], 285.0)
    constants.addData([[0] * 3] * 2, 285.0)
    constants.addData([[0] * 4] * 2, 285.0)
    assert not constants.validate() and "286 eV" in capsys.readouterr().out
    voxels = make_voxels(data, second=False)
    assert not voxels.validate() and "material 2" in capsys.readouterr().out
    voxels.addVoxelData(np.zeros(SHAPE), 1)
    assert "reset()" in capsys.readouterr().out
    pattern = run(data, voxels)
    cy.launch(data, make_constants(data), voxels, pattern)
    assert "nothing is computed" in capsys.readouterr().out
    voxels.addVoxelData(np.full(SHAPE, np.nan), 2)
    assert not voxels.validate()
    cy.cleanup(constants, voxels, pattern)
    assert not voxels.validate() and pattern.writeAllToNumpy(0).size == 0
    for call in (lambda: voxels.addVoxelData(Vfrac=np.zeros(3), MaterialID=1),
                 lambda: data.setDimensions((1, 2), cy.ZYX), lambda: data.setCaseType(7)):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(RuntimeError):
        voxels.addVoxelData(np.zeros(SHAPE), 3)
    with pytest.raises(TypeError):
        voxels.addVoxelData(np.zeros(SHAPE))


def test_enumerations():
    assert cy.InterpolationType.Linear == 1 and cy.NearestNeighour == 0 and cy.Hanning == 1
    assert cy.Lab == 1 and cy.ZYX == 0 and cy.VectorMorphology == 1 and cy.GrazingIncidence == 2
    data = cy.InputData(1)
    assert (data.interpolationType, data.windowingType, data.rotMask, data.openMP,
            data.scatterApproach, data.referenceFrame) == (1, 0, False, 4, 0, True)


def test_morphology_files(tmp_path, monkeypatch):
    h5py = pytest.importorskip("h5py")
    monkeypatch.chdir(tmp_path)
    data = make_input()
    voxels = make_voxels(data)
    voxels.writeToH5()
    with h5py.File("Morphology/Morphology.h5") as source, h5py.File("in.h5", "w") as file:
        file["Morphology_Parameters/NumMaterial"] = 2
        file["Morphology_Parameters/PhysSize"] = 5.0
        for i in (1, 2):
            for name in ("S", "Theta", "Psi", "Vfrac"):
                file[f"Euler_Angles/Mat_{i}_{name}"] = source[f"Material_{i}/{name}"][()]
    other = cy.VoxelData(data)
    other.readFromH5("in.h5")
    assert same(run(data, other).writeAllToNumpy(0), expected())


@pytest.mark.parametrize("group", ["Vector_Morphology", "vector_morphology"])
def test_vectors_in_files(tmp_path, group):
    h5py = pytest.importorskip("h5py")
    data = make_input(morphology=cy.VectorMorphology)
    fraction, s, theta, psi = fields()
    axis = np.stack([np.cos(psi) * np.sin(theta), np.sin(psi) * np.sin(theta), np.cos(theta)], -1)
    pairs = ((np.sqrt(fraction * s)[..., None] * axis, fraction * (1 - s)), (0 * axis, 1 - fraction))
    given, read = cy.VoxelData(data), cy.VoxelData(data)
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["Morphology_Parameters/NumMaterial"] = 2
        file["Morphology_Parameters/PhysSize"] = 5.0
        for i, (vectors, unaligned) in enumerate(pairs, 1):
            file[f"{group}/Mat_{i}_alignment"], file[f"{group}/Mat_{i}_unaligned"] = vectors, unaligned
            given.addVoxelData(vectors, unaligned, i)
    read.readFromH5(str(tmp_path / "in.h5"))
    assert same(run(data, read).writeAllToNumpy(0), run(data, given).writeAllToNumpy(0))


@pytest.mark.skipif(not TOOL.exists(), reason="collet-rsoxs is not built")
def test_command(tmp_path):
    subprocess.run([TOOL, "make", "core-shell", "--size", "12", "--radius", "3", "--thickness", "1",
                    "-q", "-o", tmp_path], check=True)
    subprocess.run([TOOL, "morphology.h5", "-o", "out", "--dc", "neighbours", "-q"], cwd=tmp_path,
                   check=True)
    done = subprocess.run([sys.executable, FOLDER / "CyRSoXS.py", "morphology.h5"], cwd=tmp_path,
                          capture_output=True, text=True)
    assert done.returncode == 0 and "285 eV" in done.stdout, done.stderr
    assert same(scatter.read_pattern(tmp_path / "HDF5", 285.0, (12, 12)),
                scatter.read_pattern(tmp_path / "out", 285.0, (12, 12)))


def test_versions():
    text = (FOLDER / "pyproject.toml").read_text()
    assert f'version = "{collet.__version__}"' in text and f"collet-runtime=={collet.__version__}" in text
    assert re.search(r'^CyRSoXS = "CyRSoXS:main"$', text, re.M)


def test_nearly_aligned():
    """S may exceed 1 by a rounding error. CyRSoXS accepts any S; this module refuses larger ones."""
    for most in (1.00001, 1.01):
        data = make_input()
        voxels = cy.VoxelData(InputData=data)
        fraction, s, theta, psi = fields()
        s[1, 2, 3] = most
        voxels.addVoxelData(s, theta, psi, fraction, 1)
        voxels.addVoxelData(1 - fraction, 2)
        result = cy.ScatteringPattern(data)
        if most < 1.001:
            cy.launch(data, make_constants(data), voxels, result, False)
            assert np.isfinite(result.dataToNumpy(285.0)).any()
        else:
            with pytest.raises(collet.InvalidError, match="the alignment .* is 1.0"):
                cy.launch(data, make_constants(data), voxels, result, False)


def read_image(path, shape):
    """The attributes and arrays of an image file of VTK."""
    content = pathlib.Path(path).read_bytes()
    header, data = content.split(b'<AppendedData encoding="raw">\n_')
    header = header.decode()
    assert data.endswith(b"\n</AppendedData>\n</VTKFile>\n")
    arrays = {}
    for name, offset in re.findall(r'Name="(\w+)" format="appended" offset="(\d+)"', header):
        count, = np.frombuffer(data, np.uint64, 1, int(offset))
        arrays[name] = np.frombuffer(data, np.float32, int(count) // 4, int(offset) + 8).reshape(shape)
    return dict(re.findall(r'(WholeExtent|Origin|Spacing)="([^"]*)"', header)), arrays


def test_image_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = make_input()
    voxels = make_voxels(data)
    voxels.writeToVTI()
    attributes, arrays = read_image("Morphology/Morphology.vti", SHAPE)
    assert attributes == {"WholeExtent": "0 16 0 12 0 4", "Origin": "0.0 0.0 0.0",
                          "Spacing": "5.0 5.0 5.0"}
    fraction, s, theta, psi = fields()
    assert np.array_equal(arrays["Mat_1_S"], s) and np.array_equal(arrays["Mat_2_Vfrac"], 1 - fraction)
    assert np.array_equal(arrays["Mat_1_Psi"], np.where(s == 0, 0, psi)) and len(arrays) == 8
    result = cy.ScatteringPattern(data)
    cy.launch(data, make_constants(data), voxels, result, False)
    result.writeToVTI("images")
    assert sorted(os.listdir("images")) == ["Energy_285.00.vti", "Energy_286.00.vti"]
    attributes, arrays = read_image("images/Energy_286.00.vti", SHAPE[1:])
    assert attributes["WholeExtent"] == "0 16 0 12 0 1"
    assert np.array_equal(arrays["projection"], result.dataToNumpy(286.0), equal_nan=True)
    step, origin = float(attributes["Spacing"].split()[0]), float(attributes["Origin"].split()[0])
    assert step == pytest.approx(2 * np.pi / (16 * 5.0)) and origin == pytest.approx(-8.5 * step)

# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/test_cyrsoxs.py
"""The Python module of CyRSoXS, version 1.2, computed by collet.scatter on any backend of Collet.

Programs that import CyRSoXS, such as NRSS, run unchanged and without an NVIDIA GPU: classes, methods,
enumerations, defaults, dtypes and shapes are the same. As in CyRSoXS, a message is printed for an invalid
argument, the argument is ignored, and validate() is False afterwards. Errors that CyRSoXS does not check raise an
exception of collet: fractions that are not between 0 and 1 or add up to more than 1 (tolerance: 1e-5); S that is not
between 0 and 1 (tolerance: 1e-4); arrays of another size; a pattern that is NaN everywhere, for example because
energies are in keV. If fractions add up to less than 1, the remainder is vacuum. Without rotMask the same
pixels are NaN as in CyRSoXS: its last rotation makes the left and upper neighbours of a NaN pixel NaN.

collet.using and collet.set_backend choose the backend. Lengths are nm, energies eV.
"""

import contextlib
import io
import os
import sys
import warnings
from enum import IntEnum

import numpy as np

from collet import scatter
from collet._host import array as _taken

_SAME = 1e-6  # energies, sizes and degrees that differ by less are equal
_MATERIALS = 32


class InterpolationType(IntEnum):
    Linear = 1
    NearestNeighour = 0


class FFTWindowing(IntEnum):
    NoPadding = 0
    Hanning = 1


class ScatterApproach(IntEnum):
    Partial = 0
    Full = 1


class MorphologyType(IntEnum):
    EulerAngles = 0
    VectorMorphology = 1


class CaseType(IntEnum):
    Default = 0
    BeamDivergence = 1
    GrazingIncidence = 2


class ReferenceFrame(IntEnum):
    Material = 0
    Lab = 1


class MorphologyOrder(IntEnum):
    ZYX = 0
    XYZ = 1


for _enumeration in (InterpolationType, FFTWindowing, ScatterApproach, MorphologyType, CaseType,
                     ReferenceFrame, MorphologyOrder):
    globals().update(_enumeration.__members__)


@contextlib.contextmanager
def ostream_redirect(stdout=True, stderr=True):
    """Redirects the standard output of launch() to sys.stdout; discards it if `stdout` is false. Treats stderr in the
    same way."""
    with contextlib.ExitStack() as stack:
        if not stdout:
            stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        if not stderr:
            stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        yield


def _write_image(path, shape, spacing, origin, arrays):
    """An image file of VTK: cells of (Z, Y, X) with arrays of float32; spacing and origin are x, y, z."""
    extent = " ".join(f"0 {n}" for n in reversed(shape))
    numbers = [np.ascontiguousarray(a, np.float32) for a in arrays.values()]
    offsets = np.cumsum([0] + [8 + a.nbytes for a in numbers])
    header = "".join((
        '<?xml version="1.0"?>\n<VTKFile type="ImageData" version="1.0" byte_order="',
        "LittleEndian" if sys.byteorder == "little" else "BigEndian", '" header_type="UInt64">\n',
        f'<ImageData WholeExtent="{extent}" Origin="{" ".join(map(repr, map(float, origin)))}" ',
        f'Spacing="{" ".join(map(repr, map(float, spacing)))}">\n',
        f'<Piece Extent="{extent}">\n<CellData>\n',
        *(f'<DataArray type="Float32" Name="{name}" format="appended" offset="{offset}"/>\n'
          for name, offset in zip(arrays, offsets)),
        '</CellData>\n</Piece>\n</ImageData>\n<AppendedData encoding="raw">\n_'))
    with open(path, "wb") as file:
        file.write(header.encode())
        for array in numbers:
            file.write(np.uint64(array.nbytes).tobytes())
            file.write(array.tobytes())
        file.write(b"\n</AppendedData>\n</VTKFile>\n")


class InputData:
    """The settings of a simulation of `NumMaterial` materials."""

    _REQUIRED = ("energies", "dimensions", "physical size", "angles of the electric field",
                 "k vectors", "morphology type", "case type", "detector coordinates")

    def __init__(self, NumMaterial):
        self._materials = int(NumMaterial)
        self._set = set()
        self._energies = np.empty(0)
        self._shape = (0, 0, 0)  # Z, Y, X
        self._order = MorphologyOrder.ZYX
        self._size = 0.0
        self._angles = (0.0, 0.0, 0.0)  # start, increment, end
        self._beams = []
        self._detector = (0.0, 0.0, 1.0)
        self._case = CaseType.Default
        self._morphology = MorphologyType.EulerAngles
        self._algorithm = (0, 1)
        self.interpolationType = int(InterpolationType.Linear)
        self.windowingType = int(FFTWindowing.NoPadding)
        self.rotMask = False
        self.openMP = 4
        self.scatterApproach = int(ScatterApproach.Partial)
        self.referenceFrame = True

    def setEnergies(self, energies):
        """Sets the energies, sorted. Repeated energies are an error."""
        given = np.sort(_taken(energies, float, "energies").reshape(-1))
        if np.any(given[1:] == given[:-1]):
            print("energies are given twice; they are not set")
            return
        self._energies = given
        self._set.add("energies")

    def setERotationAngle(self, StartAngle, EndAngle, IncrementAngle):
        """Sets the angles, in degrees. EndAngle is included."""
        start, end, step = float(StartAngle), float(EndAngle), float(IncrementAngle)
        if start > end or (end - start > _SAME and abs(step) < _SAME):
            print(f"angles from {start:g} by {step:g} to {end:g} degrees; they are not set")
            return
        self._angles = (start, step if end - start > _SAME else 1.0, end)
        self._set.add("angles of the electric field")

    def setPhysSize(self, PhysSize):
        """Sets the length of a voxel's edge in nm."""
        self._size = float(PhysSize)
        self._set.add("physical size")

    def setDimensions(self, Dims, MorphologyOrder):
        """Sets the numbers of voxels, in the order of the arrays' axes."""
        order = globals()["MorphologyOrder"](MorphologyOrder)
        shape = tuple(int(n) for n in Dims)
        if len(shape) != 3 or min(shape) < 1:
            raise ValueError(f"Dims are {shape}, not three positive numbers")
        self._order = order
        self._shape = shape if order == ZYX else shape[::-1]
        self._set.add("dimensions")

    def setCaseType(self, caseType):
        self._case = CaseType(caseType)
        self._set.add("case type")
        if self._case == CaseType.Default:
            self._beams = [(0.0, 0.0, 1.0)]
            self._set |= {"k vectors", "detector coordinates"}

    def setMorphologyType(self, morphologyType):
        self._morphology = MorphologyType(morphologyType)
        self._set.add("morphology type")

    def setKVectors(self, kVector):
        """Adds a beam's direction x, y, z."""
        if self._case == CaseType.Default:
            print("the default case has the k vector 0, 0, 1; others cannot be added")
            return
        vector = np.asarray(kVector, float)
        self._beams.append(tuple((vector / np.linalg.norm(vector)).tolist()))
        self._set.add("k vectors")
        if self._case == CaseType.BeamDivergence:
            self._set.add("detector coordinates")

    def setDetectorCoordinates(self, detectorCoordinates):
        """The detector's normal x, y, z. Patterns are warped to the detector's plane."""
        if self._case != CaseType.GrazingIncidence:
            print("only grazing incidence has detector coordinates; they are not set")
            return
        self._detector = tuple(map(float, detectorCoordinates))
        self._set.add("detector coordinates")

    def setAlgorithm(self, AlgorithmID, MaxStreams=1):
        """0: fewer copies, 1: less memory. This has no effect, since collet.scatter itself decides."""
        if int(AlgorithmID) not in (0, 1):
            print(f"algorithm {AlgorithmID} is not known; it is not set")
            return
        self._algorithm = (int(AlgorithmID), int(MaxStreams))

    def validate(self):
        """Whether all settings are complete. Prints the missing ones."""
        missing = [name for name in self._REQUIRED if name not in self._set]
        for name in missing:
            print(f"not set: {name}")
        return not missing

    def print(self):
        print(self._describe())

    def _describe(self):
        return "\n".join((
            f"materials: {self._materials}", f"case: {self._case.name}",
            f"morphology: {self._morphology.name}, {self._order.name}",
            "voxels (Z, Y, X): {} x {} x {}".format(*self._shape), f"voxel: {self._size:g} nm",
            f"energies: {' '.join(f'{e:g}' for e in self._energies)} eV",
            "electric field: {:g} by {:g} to {:g} degrees".format(*self._angles),
            f"k vectors: {self._beams}",
            f"interpolation: {InterpolationType(self.interpolationType).name}",
            f"window: {FFTWindowing(self.windowingType).name}",
            f"rotation mask: {bool(self.rotMask)}",
            f"reference frame: {ReferenceFrame(bool(self.referenceFrame)).name}"))

    def _index(self, energy):
        """The index of an energy, or None."""
        near = np.abs(self._energies - energy)
        return int(near.argmin()) if near.size and near.min() < 1e-4 else None


class RefractiveIndex:
    """Optical constants of all materials at each energy of an InputData."""

    def __init__(self, InputData):
        self._input = InputData
        self._values = {}

    def addData(self, OpticalConstants, Energy):
        """[[delta, beta parallel to the director, delta, beta perpendicular to it], ...] of the materials."""
        values = [list(map(float, row)) for row in OpticalConstants]
        if len(values) != self._input._materials or any(len(row) != 4 for row in values):
            print(f"optical constants are needed for {self._input._materials} materials, four each; "
                  "they are not added")
            return
        index = self._input._index(Energy)
        if index is None:
            print(f"{Energy} eV is none of the energies; its constants are not added")
            return
        self._values[self._input._energies[index]] = values

    def validate(self):
        """Whether each energy has optical constants. Prints the energies that have none."""
        missing = [e for e in self._input._energies if e not in self._values]
        for energy in missing:
            print(f"no optical constants at {energy:g} eV")
        return not missing

    def clear(self):
        self._values = {}

    def print(self):
        for energy in self._input._energies:
            print(f"{energy:g} eV")
            for m, (dp, bp, dt, bt) in enumerate(self._values.get(energy, ())):
                print(f"  material {m}: n along {complex(1 - dp, bp)}, across {complex(1 - dt, bt)}")

    def _constants(self):
        """(energies, materials, 4)."""
        return np.array([self._values[e] for e in self._input._energies])


class VoxelData:
    """The voxels of all materials of an InputData, copied as float32."""

    _FORMS = (("Vfrac", "MaterialID"), ("AlignedData", "UnalignedData", "MaterialID"),
              ("S", "Theta", "Psi", "Vfrac", "MaterialID"))

    def __init__(self, InputData):
        self._input = InputData
        self._arrays = {}
        if InputData._materials > _MATERIALS:
            print(f"{InputData._materials} materials; CyRSoXS allows at most {_MATERIALS}")

    def addVoxelData(self, *args, **kwargs):
        """(S, Theta, Psi, Vfrac, MaterialID) or (Vfrac, MaterialID) of Euler angles,
        (AlignedData, UnalignedData, MaterialID) of vectors; materials count from 1."""
        for names in self._FORMS:
            if len(args) + len(kwargs) == len(names) and set(kwargs) == set(names[len(args):]):
                given = {**dict(zip(names, args)), **kwargs}
                break
        else:
            raise TypeError("addVoxelData takes " + ", or ".join(map(str, self._FORMS)))
        material = int(given.pop("MaterialID"))
        vectors = "AlignedData" in given
        if vectors != (self._input._morphology == VectorMorphology):
            print(f"the morphology is {self._input._morphology.name}; the voxels are not added")
            return
        if not 1 <= material <= self._input._materials:
            raise RuntimeError(f"material {material} is not one of 1 to {self._input._materials}")
        if material in self._arrays:
            print(f"material {material} is set already: reset() comes first; it is not added")
            return
        self._arrays[material] = (self._vectors if vectors else self._euler)(**given)

    def _take(self, name, values, width=()):
        shape = self._input._shape[::1 if self._input._order == ZYX else -1] + width
        values = _taken(values, np.float32, "the array").copy()
        if values.size != np.prod(shape):
            raise ValueError(f"{name} has {values.size} elements, not {' x '.join(map(str, shape))}")
        values = values.reshape(shape)
        return values if self._input._order == ZYX else np.ascontiguousarray(
            np.moveaxis(values, (0, 1, 2), (2, 1, 0)))

    def _vectors(self, AlignedData, UnalignedData):
        return {"direction": self._take("AlignedData", AlignedData, (3,)),
                "unaligned": self._take("UnalignedData", UnalignedData)}

    def _euler(self, Vfrac, S=None, Theta=None, Psi=None):
        arrays = {"volume": self._take("Vfrac", Vfrac)}
        alignment = None if S is None else self._take("S", S)
        if alignment is not None and alignment.any():
            arrays["alignment"] = alignment
            for name, values in (("theta", Theta), ("psi", Psi)):
                arrays[name] = self._take(name, values)
                arrays[name][alignment == 0] = 0
        return arrays

    def readFromH5(self, Filename):
        """The voxels of a morphology file of CyRSoXS; needs h5py."""
        import h5py
        if self._arrays:
            print("materials are set already: reset() comes first; nothing is read")
            return
        vectors = self._input._morphology == VectorMorphology
        group = "Vector_Morphology" if vectors else "Euler_Angles"
        with h5py.File(Filename, "r") as file:
            if vectors and group not in file and "vector_morphology" in file:  # of CyRSoXS 1.1
                group = "vector_morphology"
            if int(file["Morphology_Parameters/NumMaterial"][()]) != self._input._materials:
                print(f"{Filename} has another number of materials; nothing is read")
                return
            if abs(float(file["Morphology_Parameters/PhysSize"][()]) - self._input._size) > _SAME:
                print(f"{Filename} has another physical size; nothing is read")
                return
            for i in range(1, self._input._materials + 1):
                names = ("alignment", "unaligned") if vectors else ("S", "Theta", "Psi", "Vfrac")
                if not vectors and f"{group}/Mat_{i}_S" not in file:
                    names = ("Vfrac",)
                self.addVoxelData(*(file[f"{group}/Mat_{i}_{name}"][()] for name in names), i)

    def writeToH5(self):
        """Writes the voxels, as they are used, to Morphology/Morphology.h5. Needs h5py."""
        import h5py
        if not self.validate():
            return
        os.makedirs("Morphology", exist_ok=True)
        with h5py.File("Morphology/Morphology.h5", "w") as file:
            for i in range(1, self._input._materials + 1):
                for name, values in self._components(i).items():
                    data = file.create_dataset(f"Material_{i}/{name}", data=values)
                    for axis, label in enumerate("ZYX"):
                        data.dims[axis].label = label

    def writeToVTI(self):
        """Writes Morphology/Morphology.vti with the same voxels, an image file that ParaView opens;
        CyRSoXS does not write one."""
        if not self.validate():
            return
        os.makedirs("Morphology", exist_ok=True)
        _write_image("Morphology/Morphology.vti", self._input._shape, (self._input._size,) * 3,
                     (0.0, 0.0, 0.0),
                     {f"Mat_{i}_{name}": values for i in range(1, self._input._materials + 1)
                      for name, values in self._components(i).items()})

    def _components(self, material):
        arrays = self._arrays[material]
        if "direction" in arrays:
            return {**{f"S{c}": arrays["direction"][..., i] for i, c in enumerate("xyz")},
                    "UnalignedFraction": arrays["unaligned"]}
        zeros = np.zeros_like(arrays["volume"])
        return {"S": arrays.get("alignment", zeros), "Theta": arrays.get("theta", zeros),
                "Psi": arrays.get("psi", zeros), "Vfrac": arrays["volume"]}

    def reset(self):
        """Removes all materials; they must be added again."""
        self._arrays = {}

    def clear(self):
        self._arrays = {}

    def validate(self):
        """Whether all materials are set and contain no NaN. Prints the faults."""
        for i in range(1, self._input._materials + 1):
            if i not in self._arrays:
                print(f"material {i} has no voxels")
                return False
            for name, values in self._arrays[i].items():
                if np.isnan(values).any():
                    print(f"material {i}: {name} has NaN")
                    return False
        return True

    def _sample_materials(self, constants):
        """The materials. If fractions add up to less than 1 anywhere, also a material for the vacuum."""
        numbers = range(1, self._input._materials + 1)
        materials = [scatter.Material(constants[:, i - 1], **self._arrays[i]) for i in numbers]
        total = np.zeros(self._input._shape, np.float32)
        for arrays in self._arrays.values():
            total += arrays["volume"] if "volume" in arrays else (
                arrays["unaligned"] + np.square(arrays["direction"]).sum(-1))
        if total.min() < 1 - 5e-6:
            materials.append(scatter.Material(np.zeros(4), np.maximum(1 - total, 0)))
        return materials


class ScatteringPattern:
    """The patterns of an InputData: float32, energies x k vectors x Y x X."""

    def __init__(self, InputData):
        self._input = InputData
        self._data = np.zeros((len(InputData._energies), len(InputData._beams),
                               *InputData._shape[1:]), np.float32)

    def clear(self):
        self._data = None

    def writeToHDF5(self, dirName="HDF5"):
        """Writes a file for each energy to the directory `dirName`. Creates the directory."""
        os.makedirs(dirName, exist_ok=True)
        for energy, patterns in zip(self._input._energies, self._data):
            scatter.write(dirName, energy, patterns, self._input._beams)

    def writeToVTI(self, dirName="VTI"):
        """Writes Energy_285.00.vti for each energy in `dirName`, which is created: image files that
        ParaView opens, with an array projection, or projection_K0 and so on for several k vectors,
        over q in 1/nm. CyRSoXS itself does not support such files, and prints a message."""
        os.makedirs(dirName, exist_ok=True)
        shape = self._input._shape[1:]
        step = [2 * np.pi / (n * self._input._size) for n in shape]
        for energy, patterns in zip(self._input._energies, self._data):
            names = ["projection"] if len(patterns) == 1 else [
                f"projection_K{i}" for i in range(len(patterns))]
            _write_image(os.path.join(dirName, f"Energy_{energy:.2f}.vti"), (1, *shape),
                         (step[1], step[0], 1.0),
                         (-step[1] * (shape[1] // 2 + 0.5), -step[0] * (shape[0] // 2 + 0.5), 0.0),
                         {name: values[None] for name, values in zip(names, patterns)})

    def dataToNumpy(self, Energy, kID=0):
        """The pattern (Y, X), an array that shares the memory; an empty array if there is no such pattern."""
        index = self._input._index(Energy)
        if index is None:
            print(f"{Energy} eV is none of the energies")
        return self._beam(kID)[index] if index is not None and self._has(kID) else _nothing()

    def writeAllToNumpy(self, kID=0):
        """The patterns (energies, Y, X), an array that shares the memory."""
        return self._beam(kID) if self._has(kID) else _nothing()

    def _has(self, kID):
        if self._data is not None and 0 <= kID < self._data.shape[1]:
            print("k vector: {:g}, {:g}, {:g}".format(*self._input._beams[kID]))
            return True
        print(f"there is no pattern of k vector {kID}")
        return False

    def _beam(self, kID):
        return self._data[:, kID]


def _nothing():
    return np.empty(0, np.float32)


class Polarization:
    """The polarisation of an InputData's voxels: three arrays (Z, Y, X) of complex64."""

    def __init__(self, InputData):
        self._data = np.zeros((3, *InputData._shape), np.complex64)

    def clear(self):
        self._data = None

    def writeToHDF5(self):
        """Writes Polarization/PolarizationX.h5, and the same for Y and Z. Needs h5py."""
        import h5py
        os.makedirs("Polarization", exist_ok=True)
        for letter, values in zip("XYZ", self._data):
            with h5py.File(f"Polarization/Polarization{letter}.h5", "w") as file:
                for part in ("real", "imag"):
                    file[f"p{letter}/{part}"] = getattr(values, part)

    def writeToNumpy(self, id):
        """The component 0, 1 or 2 (x, y or z), an array that shares the memory."""
        if self._data is None or not 0 <= id < 3:
            print(f"there is no polarisation {id}: 0, 1, 2 are x, y, z")
            return np.empty(0, np.complex64)
        return self._data[id]


def _valid(InputData, RefractiveIndexData, VoxelData):
    for text, data in (("input data", InputData), ("optical constants", RefractiveIndexData),
                       ("voxel data", VoxelData)):
        if not data.validate():
            print(f"the {text} are not complete; nothing is computed")
            return False
    return True


def launch(InputData, RefractiveIndexData, VoxelData, ScatteringPattern, WriteMetaData=True):
    """Computes all patterns into `ScatteringPattern`. WriteMetaData: the settings go to CyRSoXS.log.

    Ctrl-C raises KeyboardInterrupt; the patterns of earlier energies remain. GIL: released."""
    if not _valid(InputData, RefractiveIndexData, VoxelData):
        return
    given = InputData
    sample = scatter.Sample(
        VoxelData._sample_materials(RefractiveIndexData._constants()), given._energies, given._size,
        given._angles, given._beams, window=given.windowingType == Hanning,
        nearest=given.interpolationType == NearestNeighour, mask=bool(given.rotMask),
        material_frame=not given.referenceFrame,
        detector=given._detector if given._case == CaseType.GrazingIncidence else (0.0, 0.0, 1.0),
        grid="cyrsoxs", _warns=True)
    for beam in range(len(given._beams)):
        with scatter.Patterns(sample, beam=beam, neighbours=True) as patterns:
            for i, pattern in enumerate(patterns):
                ScatteringPattern._data[i, beam] = pattern.values
                print(f"{pattern.energy:g} eV computed by {patterns.backend}")
    if WriteMetaData:
        with open("CyRSoXS.log", "w") as file:
            print(given._describe(), file=file)


def cleanup(RefractiveIndex, VoxelData, ScatteringPattern):
    """Frees the data of all three objects."""
    for data in (RefractiveIndex, VoxelData, ScatteringPattern):
        data.clear()


def computePolarization(InputData, RefractiveIndex, VoxelData, Polarization, Energy, EAngle):
    """The polarisation at one energy, with the electric field rotated by `EAngle` radians."""
    index = InputData._index(Energy)
    if index is None:
        print(f"{Energy} eV is none of the energies")
        return
    if not _valid(InputData, RefractiveIndex, VoxelData):
        return
    c, s = np.cos(EAngle), np.sin(EAngle)
    field = np.array([c, s, 0.0])
    p = np.zeros((*InputData._shape, 3), complex)
    for i, (dp, bp, dt, bt) in enumerate(RefractiveIndex._constants()[index], 1):
        along, across = complex(1 - dp, bp), complex(1 - dt, bt)
        mean = ((along + 2 * across) / 3) ** 2
        fraction, aligned, director = _aligned(VoxelData._components(i))
        p += ((aligned * (across ** 2 - mean) + fraction * (mean - 1))[..., None] * field
              + (aligned * (along ** 2 - across ** 2) * (director @ field))[..., None] * director)
    if InputData.windowingType == Hanning:
        for axis, count in enumerate(InputData._shape):
            if count > 1:
                window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(count) / count)
                p *= window.reshape([-1 if a == axis else 1 for a in range(4)])
    if not InputData.referenceFrame:
        p = p @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    Polarization._data[:] = np.moveaxis(p, -1, 0) / (4 * np.pi)


def _aligned(arrays):
    """Returns the fraction of a material, its aligned part, and the director."""
    if "Sx" in arrays:
        vectors = np.stack([arrays["Sx"], arrays["Sy"], arrays["Sz"]], -1).astype(float)
        aligned = np.square(vectors).sum(-1)
        length = np.sqrt(aligned)[..., None]
        return arrays["UnalignedFraction"] + aligned, aligned, np.divide(
            vectors, length, out=np.zeros_like(vectors), where=length > 0)
    theta, psi = arrays["Theta"].astype(float), arrays["Psi"].astype(float)
    director = np.stack([np.cos(psi) * np.sin(theta), np.sin(psi) * np.sin(theta),
                         np.cos(theta)], -1)
    return arrays["Vfrac"], arrays["Vfrac"].astype(float) * arrays["S"], director


def main():
    """Runs the command CyRSoXS MORPHOLOGY.h5 [DIRECTORY]. The files config.txt and Material<i>.txt are in the current
    directory."""
    if not 2 <= len(sys.argv) <= 3:
        sys.exit("Usage: CyRSoXS MORPHOLOGY.h5 [DIRECTORY]")
    warnings.showwarning = lambda text, *_: print(f"CyRSoXS: {text}", file=sys.stderr)
    sample = scatter.read(sys.argv[1], "config.txt")
    directory = sys.argv[2] if len(sys.argv) == 3 else sample.directory or "HDF5"
    os.makedirs(directory, exist_ok=True)
    beams = [scatter.Patterns(sample, beam=i, neighbours=True) for i in range(len(sample.beams))]
    for patterns in zip(*beams):
        energy = patterns[0].energy
        scatter.write(directory, energy, np.stack([p.values for p in patterns]), sample.beams)
        print(f"{energy:g} eV computed by {beams[0].backend}", flush=True)


if __name__ == "__main__":
    main()

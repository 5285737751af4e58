# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/analysis/test_md_analysis.py
"""Analyses of series of frames, such as the arrays that collet.md.extract returns: correlation, displacement and
diffusion, potentials of mean force, friction and memory; and analyses of positions.

    found = md.extract("conf.gro", "traj.trr")
    dt = found["time_ps"][1] - found["time_ps"][0]
    acf = analysis.autocorrelation(found["L_vector"], dt, subtract_mean=True)
    msd = analysis.mean_square_displacement(found["com"], dt)
    print(acf.integral_time, analysis.diffusion(msd))
    pmf = analysis.potential_of_mean_force(np.radians(found["tilt_deg"]), range=(0, np.pi / 2),
                                           jacobian="cos")

A series is (frames,), (frames, 3), or (frames, bodies, 3), equally spaced in time; scalars of
bodies are (frames, bodies, 1). Results are means over all pairs of frames a lag apart, and over all bodies.
For the results of one body pass x[:, body]. Everything is computed in float64 and returned as NumPy arrays;
the Fourier transforms run on the backend that collet.using or collet.set_backend chose. In addition to the input an
analysis needs about 50 MiB, or about ten times the series of one body if that is more. Input that is not
float32 or float64 is copied. dt is the time between frames; lags and times have its unit.

Errors are standard errors by blocks. The frames are cut into `blocks` consecutive parts of equal length; a rest
shorter than a block is not used. Each block gives a curve. The jackknife of Quenouille and Tukey over the curves
gives the error. If the curve is not divided by its value at lag 0, that is the standard deviation of the blocks'
curves divided by the square root of their number. It is multiplied by Student's factor for so few blocks (1.14 for five). So value +- error contains the
true value with a probability of 68 %, as for one standard deviation. Blocks shorter than the correlation time give
errors that are too small. A lag as long as a block or longer has no error: NaN.

The functions raise InvalidError for numbers that are not finite, ShapeError for other shapes or no frames, DtypeError
for numbers that are not real, and TypeError for masks and units.
"""

from ._correlation import Correlation, autocorrelation
from ._displacement import Diffusion, MeanSquareDisplacement, diffusion, mean_square_displacement
from ._friction import (AnisotropicFriction, Friction, FrictionMap, MemoryKernel, TorqueConsistency,
                        anisotropic_friction_tensor, extract_friction_from_acf, memory_kernel,
                        orientation_dependent_friction, torque_consistency)
from ._profile import (GAS_CONSTANT, Histogram, MeanForcePotential, histogram,
                       potential_of_mean_force)
from ._rotation import (Rotation, angular_displacement, rotation,
                        rotational_mean_square_displacement)
from ._samples import Equilibration, equilibration_time, statistical_inefficiency
from ._structure import (DEBYE, CrossCorrelation, CrossCorrelationDifference, Shape, compare_dccm,
                         dccm, dipole, distance, end_to_end, rmsd, shape)
from ._tensors import (DiffusionTensor, rotational_diffusion_tensor,
                       translational_diffusion_tensor)

__all__ = [
    "AnisotropicFriction", "Correlation", "CrossCorrelation", "CrossCorrelationDifference", "DEBYE",
    "Diffusion", "DiffusionTensor", "Equilibration", "Friction", "FrictionMap", "GAS_CONSTANT",
    "Histogram", "MeanForcePotential", "MeanSquareDisplacement", "MemoryKernel", "Rotation", "Shape",
    "TorqueConsistency", "angular_displacement", "anisotropic_friction_tensor", "autocorrelation",
    "compare_dccm", "dccm", "diffusion", "dipole", "distance", "end_to_end", "equilibration_time",
    "extract_friction_from_acf", "histogram", "mean_square_displacement", "memory_kernel",
    "orientation_dependent_friction", "potential_of_mean_force", "rmsd", "rotation",
    "rotational_diffusion_tensor", "rotational_mean_square_displacement", "shape",
    "statistical_inefficiency", "torque_consistency", "translational_diffusion_tensor"]

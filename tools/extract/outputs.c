/* SPDX-License-Identifier: Apache-2.0 */
#include "outputs.h"

#define VELOCITIES EXTRACT_VELOCITIES
#define FORCES EXTRACT_FORCES

#define SCALAR 0, {0, 0}
#define VECTOR 1, {3, 0}
#define TENSOR 2, {3, 3}

/* The eight parts of the vector `name`. */
#define PARTS(name, VECTOR_ID, needs, unit, meaning)                                               \
    {name "_vector", EXTRACT_BUFFER_OF(VECTOR_ID, EXTRACT_VECTOR), -1, VECTOR, needs, unit,        \
     meaning},                                                                                     \
    {name "_parallel", EXTRACT_BUFFER_OF(VECTOR_ID, EXTRACT_PARALLEL), -1, VECTOR, needs, unit,    \
     "its part along the axis of the smallest moment"},                                            \
    {name "_perp", EXTRACT_BUFFER_OF(VECTOR_ID, EXTRACT_PERP), -1, VECTOR, needs, unit,            \
     "its part across the axis of the smallest moment"},                                           \
    {name "_z_component", EXTRACT_BUFFER_OF(VECTOR_ID, EXTRACT_Z), -1, VECTOR, needs, unit,        \
     "its part along --axis, a vector"},                                                           \
    {name "_magnitude", EXTRACT_BUFFER_OF(VECTOR_ID, EXTRACT_MAG), -1, SCALAR, needs, unit,        \
     "length of the vector"},                                                                      \
    {name "_parallel_mag", EXTRACT_BUFFER_OF(VECTOR_ID, EXTRACT_PARALLEL_MAG), -1, SCALAR, needs,  \
     unit, "length of the parallel part"},                                                         \
    {name "_perp_mag", EXTRACT_BUFFER_OF(VECTOR_ID, EXTRACT_PERP_MAG), -1, SCALAR, needs, unit,    \
     "length of the perpendicular part"},                                                          \
    {name "_z_mag", EXTRACT_BUFFER_OF(VECTOR_ID, EXTRACT_Z_MAG), -1, SCALAR, needs, unit,          \
     "length of the part along --axis"}

const extract_output extract_outputs[] = {
    {"time_ps", EXTRACT_TIME, -1, SCALAR, 0, "ps", "time of the frame"},
    {"com", EXTRACT_COM, -1, VECTOR, 0, "nm", "centre of mass"},
    {"inertia_tensor", EXTRACT_INERTIA, -1, TENSOR, 0, "amu nm^2",
     "inertia tensor about the centre of mass"},
    {"moments", EXTRACT_MOMENTS, -1, VECTOR, 0, "amu nm^2", "principal moments, ascending"},
    {"axes", EXTRACT_AXES, -1, TENSOR, 0, "1",
     "principal axes as columns, in the order of the moments"},
    {"euler_zyz", EXTRACT_EULER, -1, VECTOR, 0, "rad",
     "phi, theta, psi of the rotation, z-y'-z'' convention"},
    {"rotation_matrices", EXTRACT_AXES, -1, TENSOR, 0, "1",
     "the axes as a rotation, from the body's frame to the laboratory's"},
    PARTS("L", EXTRACT_L, VELOCITIES, "amu nm^2/ps", "angular momentum about the centre of mass"),
    PARTS("tau", EXTRACT_TAU, FORCES, "kJ/mol", "torque about the centre of mass"),
    PARTS("omega", EXTRACT_OMEGA, VELOCITIES, "1/ps", "angular velocity, inertia^-1 L"),
    PARTS("dLdt", EXTRACT_DLDT, VELOCITIES, "amu nm^2/ps^2",
          "central difference of L over the frames that were read"),
    {"k_total", EXTRACT_KINETIC, 0, SCALAR, VELOCITIES, "kJ/mol", "kinetic energy of the atoms"},
    {"k_trans", EXTRACT_KINETIC, 1, SCALAR, VELOCITIES, "kJ/mol",
     "of this, that of the centre of mass"},
    {"k_rot", EXTRACT_KINETIC, 2, SCALAR, VELOCITIES, "kJ/mol",
     "of this, that of the rotation as a whole, omega.L/2"},
    {"rg", EXTRACT_RADIUS, -1, SCALAR, 0, "nm", "radius of gyration, mass-weighted"},
    {"gyration_tensor", EXTRACT_GYRATION, -1, TENSOR, 0, "nm^2", "gyration tensor, mass-weighted"},
    {"asphericity", EXTRACT_ASPHERICITY, -1, SCALAR, 0, "1",
     "relative shape anisotropy of the gyration tensor: sphere 0, rod 1"},
    {"rmsd", EXTRACT_RMSD, -1, SCALAR, 0, "nm",
     "mass-weighted, after the best superposition on the reference"},
    {"tilt_deg", EXTRACT_TILT, -1, SCALAR, 0, "degree",
     "|90 - angle| between the axis of the smallest moment and --axis"},
};

const size_t extract_output_count = sizeof extract_outputs / sizeof *extract_outputs;

_Static_assert(sizeof extract_outputs / sizeof *extract_outputs <= EXTRACT_MAX_OUTPUTS,
               "EXTRACT_MAX_OUTPUTS is too small");

int64_t extract_buffer_width(int32_t buffer)
{
    switch (buffer) {
    case EXTRACT_TIME:
    case EXTRACT_RADIUS:
    case EXTRACT_ASPHERICITY:
    case EXTRACT_RMSD:
    case EXTRACT_TILT:
        return 1;
    case EXTRACT_INERTIA:
    case EXTRACT_AXES:
    case EXTRACT_GYRATION:
        return 9;
    default:
        return buffer >= EXTRACT_PART && (buffer - EXTRACT_PART) % EXTRACT_PARTS >= EXTRACT_MAG
                   ? 1
                   : 3;
    }
}

int32_t extract_buffer_shape(int32_t buffer, int64_t n, int64_t shape[3])
{
    int64_t width = extract_buffer_width(buffer);

    shape[0] = n;
    shape[1] = shape[2] = 3;
    return width == 1 ? 1 : width == 3 ? 2 : 3;
}

uint32_t extract_buffer_needs(int32_t buffer)
{
    for (size_t i = 0; i < extract_output_count; i++)
        if (extract_outputs[i].buffer == buffer)
            return extract_outputs[i].needs;
    return 0;
}

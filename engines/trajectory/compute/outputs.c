/* SPDX-License-Identifier: Apache-2.0 */
#include "outputs.h"

#define VELOCITIES EXTRACT_VELOCITIES
#define FORCES EXTRACT_FORCES

#define PART(key, vector, part, needs, unit, meaning)                                              \
    {                                                                                              \
        key, EXTRACT_BUFFER_OF(vector, part), -1, needs, unit, meaning                             \
    }

/* The eight parts of a vector. */
#define PARTS(name, vector, needs, unit, meaning)                                                  \
    PART(name "_vector", vector, EXTRACT_VECTOR, needs, unit, meaning),                            \
        PART(name "_parallel", vector, EXTRACT_PARALLEL, needs, unit,                              \
             "its part along the axis of the smallest moment"),                                    \
        PART(name "_perp", vector, EXTRACT_PERP, needs, unit,                                      \
             "its part across the axis of the smallest moment"),                                   \
        PART(name "_z_component", vector, EXTRACT_Z, needs, unit,                                  \
             "its part along --axis, a vector"),                                                   \
        PART(name "_magnitude", vector, EXTRACT_MAG, needs, unit, "length of the vector"),         \
        PART(name "_parallel_mag", vector, EXTRACT_PARALLEL_MAG, needs, unit,                      \
             "length of the parallel part"),                                                       \
        PART(name "_perp_mag", vector, EXTRACT_PERP_MAG, needs, unit,                              \
             "length of the perpendicular part"),                                                  \
        PART(name "_z_mag", vector, EXTRACT_Z_MAG, needs, unit, "length of the part along --axis")

const extract_output extract_outputs[] = {
    {"time_ps", EXTRACT_TIME, -1, EXTRACT_TIMES, "ps", "time of the frame"},
    {"com", EXTRACT_COM, -1, 0, "nm", "centre of mass"},
    {"inertia_tensor", EXTRACT_INERTIA, -1, 0, "amu nm^2",
     "inertia tensor about the centre of mass"},
    {"moments", EXTRACT_MOMENTS, -1, 0, "amu nm^2", "principal moments, ascending"},
    {"axes", EXTRACT_AXES, -1, 0, "1", "principal axes as columns, in the order of the moments"},
    {"euler_zyz", EXTRACT_EULER, -1, 0, "rad",
     "phi, theta, psi of the rotation, z-y'-z'' convention"},
    {"rotation_matrices", EXTRACT_AXES, -1, 0, "1",
     "the axes as a rotation, from the body's frame to the laboratory's"},
    PARTS("L", EXTRACT_L, VELOCITIES, "amu nm^2/ps", "angular momentum about the centre of mass"),
    PARTS("tau", EXTRACT_TAU, FORCES, "kJ/mol", "torque about the centre of mass"),
    PARTS("omega", EXTRACT_OMEGA, VELOCITIES, "1/ps", "angular velocity, inertia^-1 L"),
    PARTS("dLdt", EXTRACT_DLDT, VELOCITIES | EXTRACT_TIMES, "amu nm^2/ps^2",
          "central difference of L over the frames that were read"),
    {"k_total", EXTRACT_KINETIC, 0, VELOCITIES, "kJ/mol", "kinetic energy of the atoms"},
    {"k_trans", EXTRACT_KINETIC, 1, VELOCITIES, "kJ/mol", "of this, that of the centre of mass"},
    {"k_rot", EXTRACT_KINETIC, 2, VELOCITIES, "kJ/mol",
     "of this, that of the rotation as a whole, omega.L/2"},
    {"rg", EXTRACT_RADIUS, -1, 0, "nm", "radius of gyration, mass-weighted"},
    {"gyration_tensor", EXTRACT_GYRATION, -1, 0, "nm^2", "gyration tensor, mass-weighted"},
    {"asphericity", EXTRACT_ASPHERICITY, -1, 0, "1",
     "relative shape anisotropy of the gyration tensor: sphere 0, rod 1"},
    {"rmsd", EXTRACT_RMSD, -1, 0, "nm",
     "mass-weighted, after the best superposition on the reference"},
    {"tilt_deg", EXTRACT_TILT, -1, 0, "degree",
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
        break;
    }
    /* Vectors, and the lengths of the parts that follow four of them. */
    if (buffer >= EXTRACT_PART && (buffer - EXTRACT_PART) % EXTRACT_PARTS >= EXTRACT_MAG)
        return 1;
    return 3;
}

int32_t extract_buffer_shape(int32_t buffer, int64_t n, int64_t shape[3])
{
    int64_t width = extract_buffer_width(buffer);

    shape[0] = n;
    shape[1] = shape[2] = 3;
    return width == 1 ? 1 : width == 3 ? 2 : 3;
}

int32_t extract_output_shape(const extract_output *output, int64_t n, int64_t shape[3])
{
    int32_t ndim = extract_buffer_shape(output->buffer, n, shape);

    return output->component < 0 ? ndim : 1;
}

uint32_t extract_buffer_needs(int32_t buffer)
{
    for (size_t i = 0; i < extract_output_count; i++)
        if (extract_outputs[i].buffer == buffer)
            return extract_outputs[i].needs;
    return 0;
}

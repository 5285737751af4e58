/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_analysis.c */
#include "outputs.h"

#define VELOCITIES TRAJECTORY_VELOCITIES
#define FORCES TRAJECTORY_FORCES

#define PART(key, vector, part, needs, unit, meaning)                                              \
    {                                                                                              \
        key, TRAJECTORY_BUFFER_OF(vector, part), -1, needs, unit, meaning                          \
    }

/* The eight parts of a vector. */
#define PARTS(name, vector, needs, unit, meaning)                                                  \
    PART(name "_vector", vector, TRAJECTORY_VECTOR, needs, unit, meaning),                         \
        PART(name "_parallel", vector, TRAJECTORY_PARALLEL, needs, unit,                           \
             "its part along the axis of the smallest moment"),                                    \
        PART(name "_perp", vector, TRAJECTORY_PERP, needs, unit,                                   \
             "its part across the axis of the smallest moment"),                                   \
        PART(name "_z_component", vector, TRAJECTORY_Z, needs, unit,                               \
             "its part along --axis, a vector"),                                                   \
        PART(name "_magnitude", vector, TRAJECTORY_MAG, needs, unit, "length of the vector"),      \
        PART(name "_parallel_mag", vector, TRAJECTORY_PARALLEL_MAG, needs, unit,                   \
             "length of the parallel part"),                                                       \
        PART(name "_perp_mag", vector, TRAJECTORY_PERP_MAG, needs, unit,                           \
             "length of the perpendicular part"),                                                  \
        PART(name "_z_mag", vector, TRAJECTORY_Z_MAG, needs, unit,                                 \
             "length of the part along --axis")

const trajectory_output trajectory_outputs[] = {
    {"time_ps", TRAJECTORY_TIME, -1, TRAJECTORY_TIMES, "ps", "time of the frame"},
    {"com", TRAJECTORY_COM, -1, 0, "nm", "centre of mass"},
    {"inertia_tensor", TRAJECTORY_INERTIA, -1, 0, "amu nm^2",
     "inertia tensor about the centre of mass"},
    {"moments", TRAJECTORY_MOMENTS, -1, 0, "amu nm^2", "principal moments, ascending"},
    {"axes", TRAJECTORY_AXES, -1, 0, "1", "principal axes as columns, in the order of the moments"},
    {"euler_zyz", TRAJECTORY_EULER, -1, 0, "rad",
     "phi, theta, psi of the rotation, z-y'-z'' convention"},
    {"rotation_matrices", TRAJECTORY_AXES, -1, 0, "1",
     "the axes as a rotation, from the body's frame to the laboratory's"},
    PARTS("L", TRAJECTORY_L, VELOCITIES, "amu nm^2/ps",
          "angular momentum about the centre of mass"),
    PARTS("tau", TRAJECTORY_TAU, FORCES, "kJ/mol", "torque about the centre of mass"),
    PARTS("omega", TRAJECTORY_OMEGA, VELOCITIES, "1/ps", "angular velocity, inertia^-1 L"),
    PARTS("dLdt", TRAJECTORY_DLDT, VELOCITIES | TRAJECTORY_TIMES, "amu nm^2/ps^2",
          "central difference of L over the frames that were read"),
    {"k_total", TRAJECTORY_KINETIC, 0, VELOCITIES, "kJ/mol", "kinetic energy of the atoms"},
    {"k_trans", TRAJECTORY_KINETIC, 1, VELOCITIES, "kJ/mol",
     "kinetic energy of the centre of mass"},
    {"k_rot", TRAJECTORY_KINETIC, 2, VELOCITIES, "kJ/mol",
     "kinetic energy of the rotation as a whole, omega.L/2"},
    {"rg", TRAJECTORY_RADIUS, -1, 0, "nm", "radius of gyration, mass-weighted"},
    {"gyration_tensor", TRAJECTORY_GYRATION, -1, 0, "nm^2", "gyration tensor, mass-weighted"},
    {"asphericity", TRAJECTORY_ASPHERICITY, -1, 0, "1",
     "relative shape anisotropy of the gyration tensor: sphere 0, rod 1"},
    {"rmsd", TRAJECTORY_RMSD, -1, TRAJECTORY_SAME_ATOMS, "nm",
     "mass-weighted, after the best superposition on the reference"},
    {"tilt_deg", TRAJECTORY_TILT, -1, 0, "degree",
     "|90 - angle| between the axis of the smallest moment and --axis"},
    {"dipole", TRAJECTORY_DIPOLE, -1, TRAJECTORY_CHARGES | TRAJECTORY_SAME_ATOMS, "e nm",
     "dipole moment about the centre of mass"},
    {"end_to_end", TRAJECTORY_END_TO_END, -1, TRAJECTORY_SAME_ATOMS, "nm",
     "vector from the first to the last atom"},
    {"com_velocity", TRAJECTORY_COM_VELOCITY, -1, VELOCITIES | TRAJECTORY_BY_NAME, "nm/ps",
     "velocity of the centre of mass"},
    {"positions", TRAJECTORY_POSITIONS, -1,
     TRAJECTORY_SAME_ATOMS | TRAJECTORY_UNDIVIDED | TRAJECTORY_BY_NAME, "nm",
     "of each atom, as --pbc places it"},
    {"box", TRAJECTORY_BOX, -1, TRAJECTORY_BY_NAME, "nm",
     "the vectors a, b and c of the periodic box as rows; 0: none"},
    {"com_wrapped", TRAJECTORY_COM_WRAPPED, -1, TRAJECTORY_PATHS | TRAJECTORY_BY_NAME, "nm",
     "centre of mass before --pbc nojump moves it"},
    {"molecule_wrapped", TRAJECTORY_MOLECULE_WRAPPED, -1, TRAJECTORY_PATHS | TRAJECTORY_BY_NAME, "nm",
     "the centre that --pbc nojump follows: of the selected atoms of the body's molecule; NaN: none"},
};

const size_t trajectory_output_count = sizeof trajectory_outputs / sizeof *trajectory_outputs;

_Static_assert(sizeof trajectory_outputs / sizeof *trajectory_outputs <= TRAJECTORY_MAX_OUTPUTS,
               "TRAJECTORY_MAX_OUTPUTS is too small");

int64_t trajectory_buffer_width(int32_t buffer)
{
    switch (buffer) {
    case TRAJECTORY_TIME:
    case TRAJECTORY_RADIUS:
    case TRAJECTORY_ASPHERICITY:
    case TRAJECTORY_RMSD:
    case TRAJECTORY_TILT:
        return 1;
    case TRAJECTORY_INERTIA:
    case TRAJECTORY_AXES:
    case TRAJECTORY_GYRATION:
    case TRAJECTORY_BOX:
        return 9;
    default:
        break;
    }
    /* Each vector has four vector parts, then the lengths of its parts. */
    if (buffer >= TRAJECTORY_PART &&
        (buffer - TRAJECTORY_PART) % TRAJECTORY_PARTS >= TRAJECTORY_MAG)
        return 1;
    return 3;
}

int trajectory_buffer_is_shared(int32_t buffer)
{
    return buffer == TRAJECTORY_TIME || buffer == TRAJECTORY_BOX;
}

int64_t trajectory_buffer_rows(int32_t buffer, trajectory_extent extent)
{
    return trajectory_buffer_is_shared(buffer) ? 1
           : buffer == TRAJECTORY_POSITIONS ? extent.atoms
           : extent.bodies > 0              ? extent.bodies
                                            : 1;
}

int64_t trajectory_buffers_rows(uint64_t buffers, trajectory_extent extent)
{
    return trajectory_buffer_rows(buffers & TRAJECTORY_BUFFER_BIT(TRAJECTORY_POSITIONS)
                                      ? TRAJECTORY_POSITIONS
                                      : TRAJECTORY_COM,
                                  extent);
}

int32_t trajectory_buffer_shape(int32_t buffer, int64_t n, int64_t shape[3])
{
    int64_t width = trajectory_buffer_width(buffer);

    shape[0] = n;
    shape[1] = shape[2] = 3;
    return width == 1 ? 1 : width == 3 ? 2 : 3;
}

int32_t trajectory_output_shape(const trajectory_output *output, int64_t n,
                                trajectory_extent extent, int64_t shape[TRAJECTORY_OUTPUT_DIMS])
{
    int divided = output->buffer == TRAJECTORY_POSITIONS ||
                  (extent.bodies > 0 && !trajectory_buffer_is_shared(output->buffer));
    int32_t ndim = trajectory_buffer_shape(
        output->buffer, trajectory_buffer_rows(output->buffer, extent), shape + divided);

    shape[0] = n;
    return divided + (output->component < 0 ? ndim : 1);
}

int64_t trajectory_output_numbers(const trajectory_output *output)
{
    return output->component < 0 ? trajectory_buffer_width(output->buffer) : 1;
}

int64_t trajectory_output_width(const trajectory_output *output, trajectory_extent extent)
{
    return trajectory_buffer_rows(output->buffer, extent) * trajectory_output_numbers(output);
}

const char *const *trajectory_output_components(const trajectory_output *output)
{
    static const char *const one[] = {""}, *const vector[] = {"x", "y", "z"},
                             *const ordered[] = {"1", "2", "3"},
                             *const angles[] = {"phi", "theta", "psi"},
                             *const tensor[] = {"xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz"},
                             *const axes[] = {"x1", "x2", "x3", "y1", "y2", "y3", "z1", "z2", "z3"};

    switch (trajectory_output_numbers(output)) {
    case 1:
        return one;
    case 3:
        return output->buffer == TRAJECTORY_MOMENTS ? ordered
               : output->buffer == TRAJECTORY_EULER ? angles
                                                    : vector;
    default:
        return output->buffer == TRAJECTORY_AXES ? axes : tensor;
    }
}

uint32_t trajectory_buffer_needs(int32_t buffer)
{
    for (size_t i = 0; i < trajectory_output_count; i++)
        if (trajectory_outputs[i].buffer == buffer)
            return trajectory_outputs[i].needs;
    return 0;
}

const trajectory_sum trajectory_sums[TRAJECTORY_SUMS] = {
    {TRAJECTORY_TIME, "time_ps"},
    {TRAJECTORY_COM, "com"},
    {TRAJECTORY_INERTIA, "inertia"},
    {TRAJECTORY_KINETIC, "kinetic"},
    {TRAJECTORY_RADIUS, "radius"},
    {TRAJECTORY_ASPHERICITY, "asphericity"},
    {TRAJECTORY_RMSD, "rmsd"},
    {TRAJECTORY_GYRATION, "gyration"},
    {TRAJECTORY_BUFFER_OF(TRAJECTORY_L, TRAJECTORY_VECTOR), "L"},
    {TRAJECTORY_BUFFER_OF(TRAJECTORY_TAU, TRAJECTORY_VECTOR), "tau"},
    {TRAJECTORY_DIPOLE, "dipole"},
    {TRAJECTORY_END_TO_END, "end_to_end"},
    {TRAJECTORY_COM_VELOCITY, "com_velocity"},
    {TRAJECTORY_POSITIONS, "positions"},
    {TRAJECTORY_BOX, "box"},
    {TRAJECTORY_COM_WRAPPED, "com_wrapped"},
    {TRAJECTORY_MOLECULE_WRAPPED, "molecule_wrapped"},
};

uint64_t trajectory_buffers_summed(uint64_t buffers)
{
    uint64_t sums = 0;

    for (size_t i = 0; i < TRAJECTORY_SUMS; i++)
        sums |= TRAJECTORY_BUFFER_BIT(trajectory_sums[i].buffer);
    return buffers & sums;
}

#define BIT TRAJECTORY_BUFFER_BIT
#define VECTOR_BIT(vector) BIT(TRAJECTORY_BUFFER_OF(vector, TRAJECTORY_VECTOR))
/* All parts of a vector except the vector itself. */
#define PARTS_BITS(vector)                                                                         \
    ((BIT(TRAJECTORY_PARTS) - 2) << TRAJECTORY_BUFFER_OF(vector, TRAJECTORY_VECTOR))

uint64_t trajectory_buffers_for(uint64_t chosen)
{
    static const uint64_t shape =
        BIT(TRAJECTORY_RADIUS) | BIT(TRAJECTORY_GYRATION) | BIT(TRAJECTORY_ASPHERICITY);
    static const uint64_t oriented = BIT(TRAJECTORY_MOMENTS) | BIT(TRAJECTORY_AXES);
    uint64_t all = chosen | BIT(TRAJECTORY_COM); /* always computed: checks.h tests if it is finite */

    for (int v = 0; v < TRAJECTORY_VECTORS; v++) {
        if (all & PARTS_BITS(v))
            all |= PARTS_BITS(v) | VECTOR_BIT(v) | oriented;
    }
    if (all & (VECTOR_BIT(TRAJECTORY_OMEGA) | VECTOR_BIT(TRAJECTORY_DLDT)))
        all |= VECTOR_BIT(TRAJECTORY_L);
    if (all & VECTOR_BIT(TRAJECTORY_OMEGA))
        all |= BIT(TRAJECTORY_INERTIA);
    if (all & VECTOR_BIT(TRAJECTORY_DLDT))
        all |= BIT(TRAJECTORY_TIME);
    if (all & (oriented | BIT(TRAJECTORY_EULER) | BIT(TRAJECTORY_TILT)))
        all |= oriented | BIT(TRAJECTORY_INERTIA);
    return all & shape ? all | shape : all;
}

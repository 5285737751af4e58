/* SPDX-License-Identifier: Apache-2.0 */
/* The md family: typed calls. Every shape rule is a pattern of ops.def. */
#include <collet/collet.h>

collet_status collet_com(collet_context *context, collet_array *com, const collet_array *positions,
                         const collet_array *masses)
{
    const collet_array *ins[] = {positions, masses};
    return collet_call(context, COLLET_OP_COM, &com, ins, NULL);
}

collet_status collet_inertia(collet_context *context, collet_array *inertia,
                             const collet_array *positions, const collet_array *masses,
                             const collet_array *com)
{
    const collet_array *ins[] = {positions, masses, com};
    return collet_call(context, COLLET_OP_INERTIA, &inertia, ins, NULL);
}

collet_status collet_cross_sum(collet_context *context, collet_array *out,
                               const collet_array *positions, const collet_array *weights,
                               const collet_array *com, const collet_array *vectors)
{
    const collet_array *ins[] = {positions, weights, com, vectors};
    return collet_call(context, COLLET_OP_CROSS_SUM, &out, ins, NULL);
}

collet_status collet_principal_axes(collet_context *context, collet_array *moments,
                                    collet_array *axes, const collet_array *inertia,
                                    const collet_array *previous)
{
    collet_array *outs[] = {moments, axes};
    const collet_array *ins[] = {inertia, previous};
    return collet_call(context, COLLET_OP_PRINCIPAL_AXES, outs, ins, NULL);
}

collet_status collet_euler_zyz(collet_context *context, collet_array *angles,
                               const collet_array *axes)
{
    return collet_call(context, COLLET_OP_EULER_ZYZ, &angles, &axes, NULL);
}

collet_status collet_tilt(collet_context *context, collet_array *tilt, const collet_array *axes,
                          const collet_array *axis)
{
    const collet_array *ins[] = {axes, axis};
    return collet_call(context, COLLET_OP_TILT, &tilt, ins, NULL);
}

collet_status collet_angular_velocity(collet_context *context, collet_array *omega,
                                      collet_array *info, const collet_array *inertia,
                                      const collet_array *L)
{
    collet_array *outs[] = {omega, info};
    const collet_array *ins[] = {inertia, L};
    return collet_call(context, COLLET_OP_ANGULAR_VELOCITY, outs, ins, NULL);
}

collet_status collet_decompose(collet_context *context, collet_array *parallel,
                               collet_array *perpendicular, const collet_array *vectors,
                               const collet_array *axes)
{
    collet_array *outs[] = {parallel, perpendicular};
    const collet_array *ins[] = {vectors, axes};
    return collet_call(context, COLLET_OP_DECOMPOSE, outs, ins, NULL);
}

collet_status collet_magnitude(collet_context *context, collet_array *out, const collet_array *a)
{
    return collet_call(context, COLLET_OP_MAGNITUDE, &out, &a, NULL);
}

collet_status collet_time_derivative(collet_context *context, collet_array *derivative,
                                     collet_array *info, const collet_array *x,
                                     const collet_array *t)
{
    collet_array *outs[] = {derivative, info};
    const collet_array *ins[] = {x, t};
    return collet_call(context, COLLET_OP_TIME_DERIVATIVE, outs, ins, NULL);
}

collet_status collet_kinetic(collet_context *context, collet_array *energies,
                             const collet_array *positions, const collet_array *masses,
                             const collet_array *velocities)
{
    const collet_array *ins[] = {positions, masses, velocities};
    return collet_call(context, COLLET_OP_KINETIC, &energies, ins, NULL);
}

collet_status collet_gyration(collet_context *context, collet_array *radius, collet_array *tensor,
                              collet_array *asphericity, const collet_array *positions,
                              const collet_array *masses)
{
    collet_array *outs[] = {radius, tensor, asphericity};
    const collet_array *ins[] = {positions, masses};
    return collet_call(context, COLLET_OP_GYRATION, outs, ins, NULL);
}

collet_status collet_rmsd(collet_context *context, collet_array *rmsd, collet_array *rotation,
                          const collet_array *positions, const collet_array *weights,
                          const collet_array *reference)
{
    collet_array *outs[] = {rmsd, rotation};
    const collet_array *ins[] = {positions, weights, reference};
    return collet_call(context, COLLET_OP_RMSD, outs, ins, NULL);
}

collet_status collet_observables(collet_context *context, collet_array *com, collet_array *inertia,
                                 collet_array *L, collet_array *torque, collet_array *kinetic,
                                 const collet_array *positions, const collet_array *masses,
                                 const collet_array *velocities, const collet_array *forces)
{
    collet_array *outs[] = {com, inertia, L, torque, kinetic};
    const collet_array *ins[] = {positions, masses, velocities, forces};
    return collet_call(context, COLLET_OP_OBSERVABLES, outs, ins, NULL);
}

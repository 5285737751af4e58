/* SPDX-License-Identifier: Apache-2.0 */
/* Typed calls of the md family. */
#include "call.h"

collet_status collet_com(collet_context *cx, collet_array *com, const collet_array *positions,
                         const collet_array *masses)
{
    return collet_call(cx, COLLET_OP_COM, &com, INS(positions, masses), NULL);
}

collet_status collet_inertia(collet_context *cx, collet_array *inertia,
                             const collet_array *positions, const collet_array *masses,
                             const collet_array *com)
{
    return collet_call(cx, COLLET_OP_INERTIA, &inertia, INS(positions, masses, com), NULL);
}

collet_status collet_cross_sum(collet_context *cx, collet_array *out, const collet_array *positions,
                               const collet_array *weights, const collet_array *com,
                               const collet_array *vectors)
{
    return collet_call(cx, COLLET_OP_CROSS_SUM, &out, INS(positions, weights, com, vectors), NULL);
}

collet_status collet_principal_axes(collet_context *cx, collet_array *moments, collet_array *axes,
                                    const collet_array *inertia, const collet_array *previous)
{
    return collet_call(cx, COLLET_OP_PRINCIPAL_AXES, OUTS(moments, axes), INS(inertia, previous),
                       NULL);
}

collet_status collet_euler_zyz(collet_context *cx, collet_array *angles, const collet_array *axes)
{
    return collet_call(cx, COLLET_OP_EULER_ZYZ, &angles, &axes, NULL);
}

collet_status collet_tilt(collet_context *cx, collet_array *tilt, const collet_array *axes,
                          const collet_array *axis)
{
    return collet_call(cx, COLLET_OP_TILT, &tilt, INS(axes, axis), NULL);
}

collet_status collet_angular_velocity(collet_context *cx, collet_array *omega, collet_array *info,
                                      const collet_array *inertia, const collet_array *L)
{
    return collet_call(cx, COLLET_OP_ANGULAR_VELOCITY, OUTS(omega, info), INS(inertia, L), NULL);
}

collet_status collet_decompose(collet_context *cx, collet_array *parallel,
                               collet_array *perpendicular, const collet_array *vectors,
                               const collet_array *axes)
{
    return collet_call(cx, COLLET_OP_DECOMPOSE, OUTS(parallel, perpendicular), INS(vectors, axes),
                       NULL);
}

collet_status collet_magnitude(collet_context *cx, collet_array *out, const collet_array *a)
{
    return collet_call(cx, COLLET_OP_MAGNITUDE, &out, &a, NULL);
}

collet_status collet_time_derivative(collet_context *cx, collet_array *derivative,
                                     collet_array *info, const collet_array *x,
                                     const collet_array *t)
{
    return collet_call(cx, COLLET_OP_TIME_DERIVATIVE, OUTS(derivative, info), INS(x, t), NULL);
}

collet_status collet_kinetic(collet_context *cx, collet_array *energies,
                             const collet_array *positions, const collet_array *masses,
                             const collet_array *velocities)
{
    return collet_call(cx, COLLET_OP_KINETIC, &energies, INS(positions, masses, velocities), NULL);
}

collet_status collet_gyration(collet_context *cx, collet_array *radius, collet_array *tensor,
                              collet_array *asphericity, const collet_array *positions,
                              const collet_array *masses)
{
    return collet_call(cx, COLLET_OP_GYRATION, OUTS(radius, tensor, asphericity),
                       INS(positions, masses), NULL);
}

collet_status collet_rmsd(collet_context *cx, collet_array *rmsd, collet_array *rotation,
                          const collet_array *positions, const collet_array *weights,
                          const collet_array *reference)
{
    return collet_call(cx, COLLET_OP_RMSD, OUTS(rmsd, rotation), INS(positions, weights, reference),
                       NULL);
}

collet_status collet_observables(collet_context *cx, collet_array *com, collet_array *inertia,
                                 collet_array *L, collet_array *torque, collet_array *kinetic,
                                 const collet_array *positions, const collet_array *masses,
                                 const collet_array *velocities, const collet_array *forces)
{
    return collet_call(cx, COLLET_OP_OBSERVABLES, OUTS(com, inertia, L, torque, kinetic),
                       INS(positions, masses, velocities, forces), NULL);
}

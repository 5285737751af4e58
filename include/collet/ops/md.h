/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/ops/md.h - typed calls, inline, of the md family: quantities of molecules along a trajectory.
 *
 * F frames, N atoms, B bodies. Positions, velocities and forces are F x N x 3, masses N or F x N, in
 * f32 or f64; results are f64. md.def says what `offsets` are.
 *
 * com, inertia, cross_sum, kinetic, gyration and observables also write f32 results where all inputs
 * are f32: devices without f64 support only this. With R, the radius of gyration, errors are at most
 * 2^-22 of |com| + R, 2^-19 of sum m d.d for inertia, 2^-20 of sum |w| |v| (|d| + 2 R) for L, torque
 * and cross_sum, 2^-17 for energies and 2^-18 for the radius and tensor of gyration, at any distance
 * from the origin, for bodies of up to 2^20 atoms. Products m d d, m d v and m v v, and their sums,
 * must be below 2^127, and are exact enough from 2^-100 on: amu and nm, not kg and m.
 *
 * collet.h states the rules that hold for every call (collet_call); docs/KERNELS.md has the
 * definitions and the limits of errors. A call without a declaration here is a row COLLET_CALL of
 * md.def, with its contract.
 */
#ifndef COLLET_OPS_MD_H
#define COLLET_OPS_MD_H

#include <collet/collet.h>
#include <collet/ops/typed.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COLLET_CALL COLLET_TYPED_CALL
#define COLLET_CALL_PARAMS COLLET_TYPED_CALL_PARAMS
#include <collet/ops/begin.def>
#include <collet/ops/md.def>
#include <collet/ops/end.def>

#ifdef __cplusplus
}
#endif
#endif

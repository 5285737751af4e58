/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/ops/md.h - typed calls of the md family: quantities of molecules along a trajectory.
 *
 * F frames, N atoms, B bodies. Positions, velocities and forces are F x N x 3, masses N or F x N, in
 * f32 or f64; results are f64. md.def says what `offsets` are.
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

#define COLLET_CALL COLLET_TYPED_DECLARE
#define COLLET_CALL_PARAMS COLLET_TYPED_DECLARE_PARAMS
#include <collet/ops/begin.def>
#include <collet/ops/md.def>
#include <collet/ops/end.def>

#ifdef __cplusplus
}
#endif
#endif

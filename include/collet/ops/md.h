/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/ops/md.h - typed calls of the md family: quantities of molecules along a trajectory.
 *
 * F frames, N atoms. Positions, velocities and forces are F x N x 3, masses N, in f32 or f64;
 * results are f64.
 *
 * What all calls have in common: collet_call in collet.h. The definitions and the limits of errors:
 * docs/KERNELS.md. The calls without a declaration here are rows COLLET_CALL of
 * md.def, with their contracts.
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/ops/md.h - typed calls, inline, of the md family: quantities of molecules along a trajectory.
 *
 * collet/call.h states the rules that hold for every call; docs/KERNELS.md has the
 * definitions and the limits of errors. Each row COLLET_CALL of md.def becomes a call, too (typed.h);
 * the comments there describe these calls.
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

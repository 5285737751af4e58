/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/ops/scatter.h - typed calls of the scatter family: X-ray scattering of a morphology.
 *
 * Z x Y x X voxels, M materials, F real fields and their half spectra of H = X / 2 + 1, E energies,
 * A angles of polarisation.
 *
 * What all calls have in common: collet_call in collet.h. The definitions and the limits of errors:
 * docs/KERNELS.md. The calls without a declaration here are rows COLLET_CALL of
 * scatter.def, with their contracts.
 */
#ifndef COLLET_OPS_SCATTER_H
#define COLLET_OPS_SCATTER_H

#include <collet/collet.h>
#include <collet/ops/typed.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COLLET_CALL COLLET_TYPED_DECLARE
#define COLLET_CALL_PARAMS COLLET_TYPED_DECLARE_PARAMS
#include <collet/ops/begin.def>
#include <collet/ops/scatter.def>
#include <collet/ops/end.def>

#ifdef __cplusplus
}
#endif
#endif

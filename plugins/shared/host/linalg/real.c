/* SPDX-License-Identifier: Apache-2.0 */
/* The decompositions of real matrices.
 * Tests: conformance/linalg/factors.c, conformance/linalg/spectra.c,
 * tests/host/test_decompositions.c */
#include <math.h>

#include "shared/host/util/counts.h"
#include "matrices.h"
#include "rotation.h"
#include "spectral.h"
#include "table.h"

typedef double number;
#define DTYPE COLLET_F64
#define PARTS 1
#define CONJ(x) (x)
#define REAL(x) (x)
#define ABS(x) fabs(x)
#define SIZE(x) fabs(x)
#define IS_FINITE(x) isfinite(x)
#define NOT_A_NUMBER ((double)NAN)

#include "dense.inc"
#include "factor.inc"
#include "reduce.inc"
#include "calls.inc"

const cpu_decomposition cpu_real_decompositions[] = {
    CALLS,
};

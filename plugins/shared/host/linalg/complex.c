/* SPDX-License-Identifier: Apache-2.0 */
/* The decompositions of complex matrices.
 * Tests: conformance/linalg/factors.c, conformance/linalg/spectra.c,
 * tests/host/test_decompositions.c */
#include <math.h>
#include <complex.h>
#include <float.h>

#include "shared/host/util/counts.h"
#include "matrices.h"
#include "rotation.h"
#include "spectral.h"
#include "table.h"

#ifndef CMPLX /* glibc before 2.37 defines it only for gcc */
#define CMPLX(real, imaginary) __builtin_complex((double)(real), (double)(imaginary))
#endif

typedef double complex number;
#define DTYPE COLLET_C128
#define PARTS 2
#define CONJ(x) conj(x)
#define REAL(x) creal(x)
#define ABS(x) cabs(x)
/* LAPACK's magnitude for the choice of a pivot. */
#define SIZE(x) (fabs(creal(x)) + fabs(cimag(x)))
#define IS_FINITE(x) (isfinite(creal(x)) && isfinite(cimag(x)))
#define NOT_A_NUMBER CMPLX((double)NAN, (double)NAN)

#include "dense.inc"
#include "factor.inc"
#include "reduce.inc"
#include "calls.inc"
#include "schur.inc"
#include "schur_real.inc"
#include "eig.inc"

const cpu_decomposition cpu_complex_decompositions[] = {
    CALLS,
    [COLLET_OP_EIG] = {eig_bytes, run_eig},
};

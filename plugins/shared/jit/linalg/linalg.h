/* SPDX-License-Identifier: Apache-2.0 */
/* linalg.h - kernels of the linalg family that a backend's own functions may call. */
#pragma once

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

jit_run jit_matmul, jit_cholesky, jit_lu, jit_solve, jit_qr, jit_eigh, jit_eig, jit_svd;
jit_accepts jit_cholesky_accepts, jit_lu_accepts, jit_solve_accepts;
jit_accepts jit_qr_accepts, jit_eigh_accepts, jit_eig_accepts, jit_svd_accepts;

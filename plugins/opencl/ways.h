/* SPDX-License-Identifier: Apache-2.0 */
/* ways.h - the two implementations of products: the backend's own kernels and CLBlast. shared/host/util/ways.h chooses
 * one for each call. */
#pragma once

#include "shared/host/util/ways.h"

enum { WAY_CLBLAST = WAY_OWN + 1 };

extern const ways_kind opencl_ways; /* linalg.c */

/* Writes which implementation computes a product, and why (collet.explain/1). */
void opencl_explain_matmul(collet_device *d, const collet_kernel_call *call, text *out);

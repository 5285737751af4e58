/* SPDX-License-Identifier: Apache-2.0 */
/* explain.h - describes which implementation computes a call, and why (collet.explain/1). */
#pragma once

#include <collet/plugin.h>

#include "shared/host/util/text.h"

void explain_matmul(const collet_device *device, const collet_kernel_call *call, text *out);
void explain_decomposition(const collet_device *device, const collet_kernel_call *call, text *out);

/* Writes the name of `o`, such as "oneDNN 2.6.3 (AVX2)". If `o` is NULL, writes the name of `b`, such as "OpenBLAS
 * 0.3.21 (Haswell)". */
struct blas;
struct onednn;
void explain_library(text *out, const struct blas *b, const struct onednn *o);

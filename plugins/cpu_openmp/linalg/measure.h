/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h - the rates of our kernels, OpenBLAS and oneDNN on this machine, for providers/ways.h. */
#pragma once

#include "cpu_openmp/runtime/isa.h"
#include "shared/host/util/text.h"

/* Measures products and writes the results in the format of ways.h. Runs on the calling thread only, measures its
 * processor time, and alternates between the implementations. Stops after about 0.25 s; products that were not
 * reached are left out. `onednn` is the set of ONEDNN_TYPE_* that oneDNN computes correctly. Opens the libraries. */
void measure_products(const isa_level *level, const struct narrow_kernels *narrow, uint32_t onednn,
                      text *out);

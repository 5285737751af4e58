/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h - the rates of our kernels, OpenBLAS and oneDNN on this machine, for providers/ways.h. */
#ifndef PLUGINS_CPU_OPENMP_LINALG_MEASURE_H
#define PLUGINS_CPU_OPENMP_LINALG_MEASURE_H

#include "cpu_openmp/runtime/isa.h"
#include "shared/host/util/text.h"

/*
 * Writes the measurements of products in the form of ways.h: on this thread alone, by its processor
 * time, the ways by turns, at most about 0.25 s; what the time does not suffice for is left out.
 * `onednn` are the products (ONEDNN_TYPE_*) that oneDNN computes correctly. Opens the libraries.
 */
void measure_products(const isa_level *level, const struct narrow_kernels *narrow, uint32_t onednn,
                      text *out);

#endif

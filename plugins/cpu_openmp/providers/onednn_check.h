/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onednn_check.h - checks the products of oneDNN: right, and a coarse rate.
 */
#ifndef COLLET_OPENMP_ONEDNN_CHECK_H
#define COLLET_OPENMP_ONEDNN_CHECK_H

#include "onednn.h"

enum { ONEDNN_F32, ONEDNN_BF16, ONEDNN_I8, ONEDNN_TYPES };

/* Takes some milliseconds a type. types: bit 1u << ONEDNN_... for each type that is to be checked;
 * those that are wrong, or that it does not have, are taken out. gflops: on one thread. Returns
 * NULL, or why it cannot be used at all. */
const char *onednn_check(onednn *o, uint32_t *types, double gflops[ONEDNN_TYPES]);

#endif

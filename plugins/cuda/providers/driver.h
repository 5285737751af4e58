/* SPDX-License-Identifier: Apache-2.0 */
/* driver.h - the CUDA driver, opened on first use: the plugin links nothing of CUDA and loads on
 * machines without it. */
#pragma once

#include <collet/plugin.h>

#include "abi/cuda.h"

typedef struct cuda_driver {
    void *library;
    int version; /* 12040 for CUDA 12.4 */
    int absent;  /* libcuda.so.1 is not installed */
    int has_graphs; /* the members of CUDA_GRAPH_FUNCTIONS are set */
    CUDA_FUNCTIONS(ABI_MEMBER)
    CUDA_GRAPH_FUNCTIONS(ABI_MEMBER)
} cuda_driver;

/* Opens and initialises the driver: the library of the setting cuda.library, else libcuda.so.1.
 * Creates no context; the library stays open. On failure returns UNAVAILABLE with the reason. */
collet_status cuda_driver_open(const collet_host *host, cuda_driver *cu, collet_error *err);

/* Writes an error to `text`, such as "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)". */
const char *cuda_error_text(const cuda_driver *cu, CUresult error, char text[160]);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.h - the CUDA driver, opened when it is first needed: the plugin links nothing of CUDA and
 * loads where there is none.
 */
#ifndef COLLET_CUDA_DRIVER_H
#define COLLET_CUDA_DRIVER_H

#include <collet/plugin.h>

#include "abi/cuda.h"

typedef struct cuda_driver {
    void *library;
    int version; /* 12040 for CUDA 12.4 */
    CUDA_FUNCTIONS(ABI_MEMBER)
} cuda_driver;

/*
 * Opens the driver (the library that the setting cuda.library names, else libcuda.so.1) and starts
 * it, without any context. It stays open. UNAVAILABLE with the reason in words.
 */
collet_status cuda_driver_open(const collet_host *host, cuda_driver *cu, collet_error *err);

/* "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)", in `text`. */
const char *cuda_error_text(const cuda_driver *cu, CUresult error, char text[160]);

#endif

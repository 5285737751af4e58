/* SPDX-License-Identifier: Apache-2.0 */
/* nvrtc.h - NVRTC, the run-time compiler, opened on first use. */
#pragma once

#include <collet/plugin.h>

#include "abi/nvrtc.h"

typedef struct cuda_compiler {
    void *library;
    int major, minor; /* its version */
    NVRTC_FUNCTIONS(ABI_MEMBER)
} cuda_compiler;

/* Opens the compiler: the library of the setting cuda.nvrtc, else libnvrtc.so as cuda_library_open
 * finds it. The library stays open. On failure returns UNAVAILABLE with the reason. */
collet_status cuda_compiler_open(const collet_host *host, int driver, cuda_compiler *rtc,
                                 collet_error *err);

/* Sets `option` to the compiler's option for a device of compute capability `capability` (90 for 9.0):
 * "--gpu-architecture=sm_90". If the compiler does not know that architecture, the option is compute_N with
 * the newest older N that it knows; the driver then compiles the PTX. Sets *architecture to the number.
 * REFUSED if the compiler knows no older architecture. */
collet_status cuda_compiler_target(const collet_host *host, const cuda_compiler *rtc,
                                   int capability, char option[48], int *architecture,
                                   collet_error *err);

/* Compiles the concatenation of `count` texts. `options` are separated by blanks. Sets *code to a cubin, or
 * to PTX with its final NUL, of *bytes bytes; the caller frees it. Errors: REFUSED with the compiler's log,
 * NO_MEMORY. */
collet_status cuda_compile(const collet_host *host, const cuda_compiler *rtc, const char *name,
                           const char *const *texts, uint32_t count, const char *options,
                           void **code, uint64_t *bytes, collet_error *err);

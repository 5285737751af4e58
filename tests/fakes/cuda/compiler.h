/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compiler.h - device sources as code of the host, so that kernels run where there is no GPU:
 * by the C++ compiler that the variable FAKE_NVRTC_CXX names, as a library of which an image is
 * made that the fake driver takes for a cubin.
 */
#ifndef TESTS_FAKES_CUDA_COMPILER_H
#define TESTS_FAKES_CUDA_COMPILER_H

#include <stddef.h>

/* An image begins with this and the number of bytes that follow the line. */
#define FAKE_HOST_IMAGE "host %zu\n"

/*
 * The image of a source under the options that are macros, `count` of them looked through; the
 * caller frees it. NULL: the compiler said no, or there is none, and *log says why.
 */
char *fake_compile(const char *source, int count, const char *const *options, size_t *bytes,
                   char log[4096]);

#endif

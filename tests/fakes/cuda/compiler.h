/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compiler.h - compiles device sources for the host, so that kernels run without a GPU: the C++
 * compiler named by the variable FAKE_NVRTC_CXX makes a shared library, which is wrapped in an
 * image that the fake driver accepts as a cubin.
 */
#ifndef TESTS_FAKES_CUDA_COMPILER_H
#define TESTS_FAKES_CUDA_COMPILER_H

#include <stddef.h>

/* An image begins with this line. The number in it is the number of bytes that follow the line. */
#define FAKE_HOST_IMAGE "host %zu\n"

/*
 * Compiles a source with the `count` options, but uses only options that define macros. Returns the
 * image, which the caller frees; NULL, with the reason in `log`, if the source does not compile or
 * there is no compiler.
 */
char *fake_compile(const char *source, int count, const char *const *options, size_t *bytes,
                   char log[4096]);

#endif

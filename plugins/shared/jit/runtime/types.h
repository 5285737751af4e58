/* SPDX-License-Identifier: Apache-2.0 */
/* types.h - the number types of kernels, for the headers *_params.h, which both the host's compiler and the kernels'
 * compilers read. These headers declare the parameter structs of kernels, and constants that the host and the
 * kernels share. Such a header contains only declarations and no #include; CMake embeds it as text like a
 * .dev file, and a source lists it before the texts that use it. */
#pragma once

#include <stdint.h>

typedef int32_t i32;
typedef uint32_t u32;
typedef int64_t i64;
typedef uint64_t u64;
typedef float f32;
typedef double f64;

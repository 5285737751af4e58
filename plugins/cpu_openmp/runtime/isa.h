/* SPDX-License-Identifier: Apache-2.0 */
/* isa.h - which instruction sets this machine supports, and tables of the kernels compiled for each. */
#pragma once

#include <stdint.h>

/* Tables of kernels, X(type, name). A kernel_*.h defines struct `type`; a kernel_*.c, compiled for each level, defines
 * a table of this type that is called name_<level>. */
#define ISA_TABLES(X)                                                                              \
    X(block_kernels, blocks_real)                                                                  \
    X(block_kernels, blocks_integer)                                                               \
    X(block_kernels, blocks_complex)                                                               \
    X(convert_kernels, convert)                                                                    \
    X(move_kernels, move)                                                                          \
    X(reduce_kernels, reduce)                                                                      \
    X(integer_kernels, integers)                                                                   \
    X(gemm_kernels, gemm)                                                                          \
    X(small_kernels, small)                                                                        \
    X(narrow_kernels, narrow)                                                                      \
    X(vector_kernels, vector)                                                                      \
    X(panel_kernels, panel)                                                                        \
    X(solve_kernels, solve)                                                                        \
    X(eigen3_kernels, eigen3)                                                                      \
    X(fft_kernels, fft)                                                                            \
    X(histogram_kernels, histogram)                                                                \
    X(scan_kernels, scan)                                                                          \
    X(sort_kernels, sort)                                                                          \
    X(random_kernels, random)                                                                      \
    X(cpu_variate_runs, variates)                                                                  \
    X(scatter_kernels, scatter)                                                                    \
    X(field_kernels, fields)                                                                       \
    X(frame_kernels, frame)                                                                        \
    X(body_kernels, body)                                                                          \
    X(ternary_products, ternary)                                                                   \
    X(ternary_rows, ternary_rows)

/* One level: the tables of all kernel_*.c that are compiled for it. It is constant and lives as long as the
 * process. */
typedef struct isa_level {
    const char *name; /* "x86-64-v3" */
    int number;       /* from 1; a higher level has all instructions of lower levels */
#define FIELD(type, name) const struct type *name;
    ISA_TABLES(FIELD)
#undef FIELD
} isa_level;

/* The number of the highest level that both the processor and the operating system support; 0: they do not support
 * even the lowest level. */
int isa_usable_levels(void);

/* XCR0: which registers the operating system saves. Only on x86-64. */
uint32_t isa_saved_registers(void);

/* The name that the processor reports, without characters that JSON would have to escape; "" if it reports none. */
void isa_processor_name(char *name, uint64_t capacity);

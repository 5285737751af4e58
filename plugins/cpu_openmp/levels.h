/* SPDX-License-Identifier: Apache-2.0 */
/* levels.h - the kernels of each instruction set, and which of them a device uses. */
#ifndef PLUGINS_CPU_OPENMP_LEVELS_H
#define PLUGINS_CPU_OPENMP_LEVELS_H

#include "cpu_openmp/runtime/isa.h"

/*
 * The highest level that both the processor and the operating system support, not above `cap` ("v3"
 * or "x86-64-v3"; NULL, "" or "auto": no cap). NULL, with the text *reason, when the machine does
 * not support even the lowest, or when there is no level of that name.
 */
const isa_level *levels_select(const char *cap, const char **reason);

/* The best kernels at this level: if the processor has the instructions, kernels with int8 and bf16
 * instructions, and with int8 instructions and counts of bits; else the kernels of the level. */
const struct narrow_kernels *levels_narrow(const isa_level *level);
const struct ternary_products *levels_ternary(const isa_level *level);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* levels.h - the kernels of each instruction set, and which of them a device uses. */
#pragma once

#include "cpu_openmp/runtime/isa.h"

/* The highest level that both the processor and the operating system support, not above `cap` ("v3"
 * or "x86-64-v3"; NULL, "" or "auto": no cap). Returns NULL and sets *reason if the machine does not
 * support even the lowest level, or if `cap` names no level. */
const isa_level *levels_select(const char *cap, const char **reason);

/* The best kernels at this level. At v4, levels_narrow uses int8 and bf16 instructions, and levels_ternary uses
 * int8 and population-count instructions, if the processor has them. */
const struct narrow_kernels *levels_narrow(const isa_level *level);
const struct ternary_products *levels_ternary(const isa_level *level);

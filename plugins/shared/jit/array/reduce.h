/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.h - the op evaluate with a program that reduces. */
#ifndef PLUGINS_SHARED_JIT_ARRAY_REDUCE_H
#define PLUGINS_SHARED_JIT_ARRAY_REDUCE_H

#include "shared/jit/runtime/rows.h"

jit_run jit_reduce_program;
jit_accepts jit_reduce_program_accepts;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.h - the op evaluate with a program that reduces. */
#pragma once

#include "shared/jit/runtime/rows.h"

jit_run jit_reduce_program;
jit_accepts jit_reduce_program_accepts;

/* SPDX-License-Identifier: Apache-2.0 */
/* row_program.h - the op evaluate with a program that has steps that reduce rows: one kernel, `rows`. The items that
 * share a row keep all values that a later stage needs. A stage is what lies between two reductions. */
#pragma once

#include "shared/jit/runtime/rows.h"

jit_run jit_row_program;
jit_accepts jit_row_program_accepts;

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - device code of a program of elementwise steps (collet_program), and its constants. Ops,
 * dtypes and numbers of values are valid.
 */
#ifndef PLUGINS_SHARED_JIT_ARRAY_STEPS_H
#define PLUGINS_SHARED_JIT_ARRAY_STEPS_H

#include "shared/jit/runtime/launch.h"

/* The largest program: collet/types.h. */
#define STEPS_OPERANDS (COLLET_PROGRAM_INPUTS + COLLET_PROGRAM_OUTPUTS)
#define STEPS_WORDS (4 * COLLET_PROGRAM_CONSTANTS)
#define STEPS_OPTIONS 128

/* The compiler options of a program. Different programs have different ones (128 bits of a hash). */
void jit_steps_options(char options[STEPS_OPTIONS], const collet_program *program);

/* Whether a device computes all steps; else the reason. */
#define STEPS_WHY 128
int jit_steps_offered(const collet_program *program, const jit_traits *t, char why[STEPS_WHY]);

/* jit_source.make of the kernels `flat` and `strided` (elementwise.dev) of a collet_program. */
const char **jit_steps_texts(const void *program);

/* The constants as a kernel gets them; returns the number of words. */
uint32_t jit_steps_words(uint32_t words[STEPS_WORDS], const collet_program *program,
                         const collet_scalar *constants);

#endif

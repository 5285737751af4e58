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

/* The compiler options of a program but for its reduction. Different programs have different ones (128
 * bits of a hash). */
void jit_steps_options(char options[STEPS_OPTIONS], const collet_program *program);

/* Whether a device computes all steps; else the reason. */
#define STEPS_WHY 128
int jit_steps_offered(const collet_program *program, const jit_traits *t, char why[STEPS_WHY]);

/* REFUSED if a kernel's arguments of this size exceed what the device allows. */
collet_status jit_steps_fit(collet_device *device, const collet_kernel_call *call, uint64_t bytes);

/* jit_source.make of the kernels of a collet_program: `flat` and `strided` (elementwise.dev), or, if it
 * reduces its only output, `reduce` and `join` (reduce.dev). */
const char **jit_steps_texts(const void *program);

/* Constants of more words are read from the workspace instead of a kernel's arguments. */
#define STEPS_INLINE 32

/* Bytes of workspace and of arguments that the constants take. */
uint64_t jit_steps_scratch(const collet_program *program);
uint32_t jit_steps_passed(const collet_program *program);

/* Passes the constants, which may enqueue their write to the workspace at `at`. `words` is valid until
 * the launch. */
void jit_steps_pass(jit_sequence *s, jit_launch *l, const collet_program *program,
                    const collet_scalar *constants, uint64_t at, uint32_t words[STEPS_WORDS]);

#endif

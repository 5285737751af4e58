/* SPDX-License-Identifier: Apache-2.0 */
/* steps.h - the device code of a program of elementwise steps (collet_program), and its constants. Programs
 * must be valid; they are not checked here. */
#pragma once

#include "shared/host/util/text.h"
#include "shared/jit/runtime/launch.h"

/* The largest program: collet/types.h. */
#define STEPS_OPERANDS (COLLET_PROGRAM_INPUTS + COLLET_PROGRAM_OUTPUTS)
#define STEPS_WORDS (4 * COLLET_PROGRAM_CONSTANTS)
#define STEPS_OPTIONS 128

/* The compiler options of a program, without the options of its reduction. They contain 128 bits of a hash of the
 * program, so that different programs have different options. */
void jit_steps_options(char options[STEPS_OPTIONS], const collet_program *program);

/* The number of operands of an elementwise step; 0 for a reduction. */
uint32_t jit_steps_inputs(uint32_t op);

/* Whether a device supports all elementwise steps; if not, sets `why`. */
#define STEPS_WHY 128
int jit_steps_offered(const collet_program *program, const jit_traits *t, char why[STEPS_WHY]);

/* Returns REFUSED if kernel arguments of `bytes` bytes exceed the limit of the device. */
collet_status jit_steps_fit(collet_device *device, const collet_kernel_call *call, uint64_t bytes);

/* The function `make` of a program's jit_source: returns the source texts, or NULL without memory. Their kernels are
 * `flat` and `strided` (elementwise.dev), or `reduce` and `join` (reduce.dev) if the program reduces its only output. */
const char **jit_steps_texts(const void *program);

/* The texts of another kernel: the formulas that the steps need, `before`, the macros for parameters and what `write`
 * writes, `after`. Both lists end with NULL. */
typedef void jit_steps_writer(text *t, const collet_program *program);
const char **jit_steps_list(const collet_program *program, jit_steps_writer *write,
                            const char *const *before, const char *const *after);

/* Elements that an item computes at once in `flat`, if the device's language has chunks. */
uint32_t jit_steps_chunk(const collet_program *program);

/* If the constants have more words than this, kernels read them from the workspace instead of from arguments. */
#define STEPS_INLINE 32

/* Bytes of workspace (scratch) and of arguments (passed) that the constants need. */
uint64_t jit_steps_scratch(const collet_program *program);
uint32_t jit_steps_passed(const collet_program *program);

/* Passes the constants; may enqueue a write of them to the workspace, at offset `at`. `words` must stay valid until the
 * launch. */
void jit_steps_pass(jit_sequence *s, jit_launch *l, const collet_program *program,
                    const collet_scalar *constants, uint64_t at, uint32_t words[STEPS_WORDS]);

/* ---- The text ----------------------------------------------------------------------------- */

/* The names of dtypes in device code, and the type of a value there. */
extern const char *const jit_type_names[COLLET_DTYPE_COUNT];
const char *jit_steps_type(const collet_program *program, uint32_t value);

/* Writes the expression that computes a step, whose operands are the variables vN of the values N. */
void jit_steps_write(text *t, const collet_program *program, const collet_step *step);
/* Writes the declarations of the constants, from `words`; in a kernel, words are at jit_steps_words(). */
void jit_steps_constants(text *t, const collet_program *program, const char *words);
const char *jit_steps_words(const collet_program *program);

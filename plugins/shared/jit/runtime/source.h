/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - what a backend compiles of a jit_source, and under which key it keeps the result.
 */
#ifndef COLLET_JIT_RUNTIME_SOURCE_H
#define COLLET_JIT_RUNTIME_SOURCE_H

#include "launch.h"

#define JIT_TEXTS 16

/* The texts of a source in the order they are compiled in, the backend's prelude first; their
 * number. */
uint32_t jit_source_texts(const jit_source *source, const char *prelude,
                          const char *texts[JIT_TEXTS]);

/*
 * All that a binary depends on, as text: `identity` (backend, device, driver, compiler), the
 * source's name, the options and a hash of the texts. The caller frees it; NULL without memory.
 */
char *jit_source_key(const char *identity, const char *name, const char *options,
                     const char *const *texts, uint32_t count);

/*
 * What is compiled, as a new file of `directory` (an absolute path; NULL: nothing): the options as
 * a comment, then all texts but the prelude. Other compilers read it in tests/jit.
 */
void jit_source_show(const char *directory, const jit_source *source, const char *options);

#endif

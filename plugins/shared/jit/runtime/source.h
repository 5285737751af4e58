/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - the texts that a backend compiles for a jit_source, and the cache key of the binary.
 */
#pragma once

#include "driver.h"

#define JIT_TEXTS 64

/* Lists a launch's texts in the order in which they are compiled, first the backend's prelude; returns their number, or
 * 0 when out of memory. The caller frees *made after the last use of the texts. */
uint32_t jit_source_texts(const jit_launch *l, const char *prelude, const char *texts[JIT_TEXTS],
                          const char ***made);

/* The cache key is a text with all that a binary depends on: `identity` (backend, device, driver,
 * compiler), the source's name, the options and a hash of the texts. The caller frees the key; NULL when
 * out of memory. */
char *jit_source_key(const char *identity, const char *name, const char *options,
                     const char *const *texts, uint32_t count);

/*
 * Writes the compiled text to a new file in `directory` (an absolute path; NULL: does nothing): the
 * options as a comment, then all texts except the prelude. tests/jit compiles such files with other
 * compilers.
 */
void jit_source_show(const char *directory, const jit_launch *l, const char *const *texts,
                     uint32_t count);

/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.h - the known word that a misspelt one may mean. */
#ifndef ENGINES_IO_NEAREST_H
#define ENGINES_IO_NEAREST_H

#include <stddef.h>

/* Keeps the best of several known words: *bound begins as io_nearest_bound, *best as NULL. */
size_t io_nearest_bound(size_t length);
/* Sets *best to `known` and *bound to its distance from the word, if that is below *bound: the
 * number of letters to insert, delete or change, ignoring case. A known word has at most 31
 * bytes. */
void io_nearest_try(const char *word, size_t length, const char *known, size_t *bound,
                    const char **best);

#endif

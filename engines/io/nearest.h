/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.h - finds the known word that a misspelt word may mean. */
#pragma once

#include <stddef.h>

/* To find the known word nearest to a word: set *bound to io_nearest_bound(length) and *best to NULL, then
 * call io_nearest_try for each known word. */
size_t io_nearest_bound(size_t length);
/* If the distance of `known` from the word is below *bound, sets *bound to it and *best to `known`. The
 * distance is the number of letters to insert, delete or change, ignoring case. `known` has at most 31
 * bytes. */
void io_nearest_try(const char *word, size_t length, const char *known, size_t *bound,
                    const char **best);

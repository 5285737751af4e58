/* SPDX-License-Identifier: Apache-2.0 */
/* Suggestions for misspelt names. */
#ifndef BENCH_SUGGEST_H
#define BENCH_SUGGEST_H

#include <stddef.h>

/* Insertions, deletions and replacements that turn a into b; names of 64 bytes and more are far
 * from everything. */
size_t bench_name_distance(const char *a, const char *b);

#endif

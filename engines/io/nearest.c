/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory.c, tests/engines/test_trajectory_selection.c */
#include "nearest.h"

#include "letters.h"

#include <string.h>

#define KNOWN_MAX 31

size_t io_nearest_bound(size_t length)
{
    return length / 3 + 2;
}

void io_nearest_try(const char *word, size_t length, const char *known, size_t *bound,
                    const char **best)
{
    size_t row[KNOWN_MAX + 1], m = strlen(known);

    /* The distance is at least the difference of the lengths. */
    if (length >= m + *bound)
        return;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= length; i++) {
        size_t diagonal = row[0]++;

        for (size_t j = 1; j <= m; j++) {
            size_t edits = diagonal + (io_to_upper(word[i - 1]) != io_to_upper(known[j - 1]));

            diagonal = row[j];
            if (edits > row[j] + 1)
                edits = row[j] + 1;
            if (edits > row[j - 1] + 1)
                edits = row[j - 1] + 1;
            row[j] = edits;
        }
    }
    if (row[m] < *bound) {
        *bound = row[m];
        *best = known;
    }
}

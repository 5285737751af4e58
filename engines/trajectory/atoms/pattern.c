/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_selection.c */
#include "pattern.h"

#include <stdint.h>

/* On a mismatch the last * takes one more character; it is never necessary to go back to an earlier *. */
int trajectory_pattern_matches(const char *pattern, size_t length, const char *name)
{
    size_t at = 0, star = SIZE_MAX;
    const char *resume = name;

    while (*name != '\0') {
        if (at < length && pattern[at] == '*') {
            star = at++;
            resume = name;
        } else if (at < length && (pattern[at] == '?' || pattern[at] == *name)) {
            at++;
            name++;
        } else if (star != SIZE_MAX) {
            at = star + 1;
            name = ++resume;
        } else {
            return 0;
        }
    }
    while (at < length && pattern[at] == '*')
        at++;
    return at == length;
}

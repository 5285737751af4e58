/* SPDX-License-Identifier: Apache-2.0 */
/* Assertions on functions of collet/ternary.h that report to a collet_error. */
#ifndef TESTS_ENGINES_TERNARY_ENGINE_H
#define TESTS_ENGINES_TERNARY_ENGINE_H

#include <collet/ternary.h>

#include "common/ternary_support.h"

/* Passed to the functions under test. */
static collet_error failure;

static inline void assert_outcome_at(collet_status got, collet_status expected, const char *file,
                                     int line)
{
    if (got != expected)
        print_error("%s:%d: %s, not %s: %s\n", file, line, collet_status_name(got),
                    collet_status_name(expected), got == COLLET_OK ? "" : failure.text);
    _assert_int_equal((uint64_t)got, (uint64_t)expected, file, line);
}
#define assert_outcome(got, expected) assert_outcome_at(got, expected, __FILE__, __LINE__)
#define assert_done(got) assert_outcome(got, COLLET_OK)
#define assert_failure_has(part)                                                                   \
    do {                                                                                           \
        if (!strstr(failure.text, part))                                                           \
            print_error("'%s' does not contain '%s'\n", failure.text, part);                       \
        assert_non_null(strstr(failure.text, part));                                               \
    } while (0)

#endif

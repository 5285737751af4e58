/* SPDX-License-Identifier: Apache-2.0 */
/* Assertions on functions of collet/ternary.h that report to a collet_error. */
#ifndef TESTS_ENGINES_TERNARY_ENGINE_H
#define TESTS_ENGINES_TERNARY_ENGINE_H

#include <collet/ternary.h>

#include "common/fixture.h"
#include "common/ternary_support.h"

OWNS(collet_ternary_file, collet_ternary_file_destroy)
OWNS(collet_ternary_network, collet_ternary_network_destroy)
OWNS(collet_ternary_output, collet_ternary_output_destroy)
OWNS(collet_ternary_weights, collet_ternary_weights_destroy)

/* Passed to the functions under test. */
static collet_error failure;

/* The call returns this status; then `failure` must contain each of the texts, if there are any. */
#define assert_outcome(got, expected, ...)                                                         \
    assert_outcome_at(got, expected, (const char *const[]){"", ##__VA_ARGS__, NULL}, __FILE__,     \
                      __LINE__)
static inline void assert_outcome_at(collet_status got, collet_status expected,
                                     const char *const *texts, const char *file, int line)
{
    if (got != expected)
        print_error("%s:%d: %s, not %s: %s\n", file, line, collet_status_name(got),
                    collet_status_name(expected), got == COLLET_OK ? "" : failure.text);
    _assert_int_equal((uint64_t)got, (uint64_t)expected, file, line);
    if (texts[1])
        test_contains(failure.text, texts, file, line);
}
#define assert_done(got) assert_outcome(got, COLLET_OK)
#define assert_failure_has(part) assert_contains(failure.text, part)

/* The same number of elements, and the same bytes. */
static inline void assert_same(const collet_array *a, const collet_array *b)
{
    size_t size = (size_t)collet_array_size(a) * collet_dtype_size(collet_array_dtype(a));
    void *values = malloc(size + 1);
    assert_non_null(values);
    assert_int_equal(collet_array_size(a), collet_array_size(b));
    assert_ok(cx, collet_array_read(cx, a, values, size));
    assert_bytes(cx, b, values);
    free(values);
}

typedef struct watch {
    int64_t calls, last;
    double fraction;
    int64_t allowed; /* calls after which the work is cancelled; -1: never */
} watch;

/* For a collet_ternary_monitor. */
static inline int32_t note(void *user, const collet_progress *progress)
{
    watch *w = user;
    assert_true(progress->done >= w->last);
    assert_true(progress->fraction >= w->fraction && progress->fraction <= 1);
    w->last = progress->done;
    w->fraction = progress->fraction;
    return w->calls++ == w->allowed;
}

#endif

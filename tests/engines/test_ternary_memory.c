/* SPDX-License-Identifier: Apache-2.0 */
/* 100 million weights in at most 25 MiB, by the memory counters. */
#include <collet/ops/array.h>
#include <collet/ops/ternary.h>

#include "common/fixture.h"
#include "engines/ternary_engine.h"

#define SIDE 10000
#define MOST ((uint64_t)25 << 20)

static collet_memory_stats memory(void)
{
    collet_memory_stats stats = {.struct_size = sizeof stats};
    assert_ok(cx, collet_memory(cx, &stats, "host"));
    return stats;
}

TEST_WITH(packed_from_codes, set_up_scalar, tear_down)
{
    collet_array *codes = array_for(cx, COLLET_I8, 2, SHAPE(SIDE, SIDE));
    const collet_scalar one = {.dtype = COLLET_F64, .value.f64 = -1};
    collet_ternary_weights *w = NULL;
    assert_ok(cx, collet_op_fill(cx, codes, &one));
    assert_done(collet_ternary_weights_from_codes(cx, &w, codes, NULL, &failure));
    collet_array_destroy(codes);
    assert_ok(cx, collet_trim(cx));
    print_message("%d x %d weights: %llu bytes\n", SIDE, SIDE,
                  (unsigned long long)memory().current);
    assert_true(memory().current <= MOST);
    assert_true(memory().current >= (uint64_t)SIDE * SIDE / 4);
    collet_ternary_weights_destroy(w);
    assert_int_equal(memory().current, 0);
}

/* Packed weights are checked a piece at a time. */
TEST_WITH(shared_from_bytes, set_up_scalar, tear_down)
{
    const int64_t width = collet_ternary_bytes(COLLET_TERNARY_T2, SIDE);
    collet_ternary_weights *w = NULL;
    unsigned char *values = malloc((size_t)(SIDE * width));
    assert_non_null(values);
    memset(values, 0x55, (size_t)(SIDE * width));
    collet_array *bytes = array_of(cx, COLLET_U8, 2, SHAPE(SIDE, width), values);
    free(values);
    uint64_t before = memory().peak;
    assert_done(collet_ternary_weights_from_bytes(cx, &w, bytes, SIDE, NULL, NULL, &failure));
    print_message("%llu more bytes to check them\n", (unsigned long long)(memory().peak - before));
    assert_true(memory().peak - before <= (uint64_t)8 << 20);
    collet_array_destroy(bytes);
    assert_true(memory().current <= MOST);
    collet_ternary_weights_destroy(w);
    assert_int_equal(memory().current, 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributes work over more compute units than this machine has. PoCL reports the number of
 * compute units for which it is configured. Skipped if no driver does so.
 */

#include "common/fixture.h"
#include "opencl_support.h"
#include "common/ternary_support.h"

#define UNITS "33"

/* Lengths around 264 full groups of 256 blocks: if all groups had the same number of blocks, some
 * would start past the end. */
TEST(dots_of_any_length)
{
    static const int64_t blocks[] = {1, 256, 257, 67584, 67585, 67588, 67591, 67592};
    const int64_t most = 67592;
    FREED(int8_t) *codes = malloc((size_t)most * 256);
    assert_non_null(codes);
    for (int64_t i = 0; i < most * 256; i++)
        codes[i] = (int8_t)(i % 7 == 3 ? -1 : i % 7 < 5);
    OWNED(collet_array) *values = array_of(cx, COLLET_I8, 1, SHAPE(most * 256), codes);
    OWNED(collet_array) *all = array_for(cx, COLLET_U8, 1, SHAPE(most * 64));
    OWNED(collet_array) *out = array_for(cx, COLLET_I32, 0, NULL);
    assert_ok(cx, collet_op_ternary_pack(cx, all, out, values, NULL, COLLET_TERNARY_T2));
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        OWNED(collet_array) *some = NULL;
        int32_t expected = 0;
        for (int64_t k = 0; k < blocks[i] * 256; k++)
            expected += codes[k] != 0;
        assert_ok(cx, collet_array_slice(cx, all, &some, 0, 0, blocks[i] * 64, 1));
        assert_ok(cx, collet_op_ternary_dot(cx, out, some, some));
        assert_string_equal(collet_last_backend(cx), "opencl");
        assert_int_equal(number_in(cx, out), expected);
    }
}

/* Whether there is a device with UNITS compute units. */
static int has_units(void)
{
    collet_backend_info info = {.struct_size = sizeof info};
    for (size_t i = 0; i < collet_backend_count(rt); i++)
        if (collet_backend_info_at(rt, &info, i, NULL) == COLLET_OK &&
            strstr(info.capabilities, "\"compute_units\": " UNITS ","))
            return 1;
    print_message("SKIP: no OpenCL device of " UNITS " compute units\n");
    return 0;
}

TEST_GROUP(NULL, tear_down)

int main(void)
{
    setenv("POCL_DEVICES", "pthread", 1);
    setenv("POCL_MAX_PTHREAD_COUNT", UNITS, 1);
    setenv("POCL_PTHREAD_MIN_THREADS", UNITS, 1);
    rt = runtime_with(OPENCL_PLUGIN, NULL);
    if (!has_units())
        return SKIPPED;
    cx = context_of(rt);
    return test_run();
}

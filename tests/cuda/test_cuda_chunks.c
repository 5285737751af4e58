/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the elementwise kernel on operands with and without an alignment to 16 bytes. It accesses aligned operands by
 * chunks. The stand-in for NVRTC compiles the kernel for the host, where access to an unaligned chunk ends the process.
 */
#include "cuda_fixture.h"

#define COUNT 2500 /* two groups of 1024 elements, and a part of one */
#define MARGIN 4   /* elements before and after an operand */

static int load_with_compiler(void **state)
{
    setenv("FAKE_NVRTC_CXX", COLLET_TEST_CXX, 1);
    setenv("CMOCKA_TEST_ABORT", "1", 1); /* after a signal in a kernel the stand-in's locks stay locked */
    return load_plugin(state);
}

/* Adds operands that begin `at` elements after an address that is a multiple of 16 bytes: output, a, b. */
static void add_at(const int64_t at[3])
{
    static float numbers[3][COUNT + 2 * MARGIN], result[COUNT + 2 * MARGIN];
    const int64_t count = COUNT, one = 1;
    collet_buffer *buffers[3];
    collet_operand operands[3];
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < COUNT + 2 * MARGIN; i++)
            numbers[k][i] = (float)((k + 1) * i) / 7.0f;
        buffers[k] = new_buffer(device, sizeof numbers[k]);
        assert_good(plugin->buffer_write(device, queue, buffers[k], 0, numbers[k],
                                         sizeof numbers[k], &err));
        operands[k] = (collet_operand){
            buffers[k], (uint64_t)at[k] * sizeof(float), COLLET_F32, 1, &count, &one};
    }
    assert_good(run_with(device, queue, COLLET_OP_ADD,
                         COLLET_SIG(COLLET_F32, COLLET_F32, COLLET_F32), 1, operands, NULL, 0));
    assert_good(plugin->buffer_read(device, queue, buffers[0], 0, result, sizeof result, &err));
    assert_good(wait_all(device, queue));
    for (int i = 0; i < COUNT; i++)
        numbers[0][at[0] + i] = numbers[1][at[1] + i] + numbers[2][at[2] + i];
    assert_memory_equal(result, numbers[0], sizeof result);
    for (int k = 0; k < 3; k++)
        plugin->buffer_free(device, buffers[k]);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

TEST_WITH(aligned, open_one, close_one)
{
    add_at((const int64_t[]){0, 0, 0});
    add_at((const int64_t[]){4, 0, 4});
}

TEST_WITH(unaligned, open_one, close_one)
{
    add_at((const int64_t[]){1, 0, 0});
    add_at((const int64_t[]){0, 2, 0});
    add_at((const int64_t[]){0, 0, 3});
    add_at((const int64_t[]){1, 1, 1});
}

TEST_GROUP(load_with_compiler, NULL)

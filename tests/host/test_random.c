/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties of the random kernels that backend-check does not test: published vectors of the
 * generator, and the same bits for any threads, instruction set, strides and division of a
 * sequence. Built once for each CPU backend (KERNEL_PLUGIN).
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "shared/host/random/philox.h"
#include "common/kernel_call.h"

/* ---- The generator --------------------------------------------------------------------------- */

/* Test vectors published with the authors' implementation. */
static void test_known_blocks(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], block[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t block[4];
        cpu_philox(known[i].counter, known[i].key, block);
        assert_memory_equal(known[i].block, block, sizeof block);
    }
}

static void block_of(uint64_t seed, uint64_t at, uint32_t block[4])
{
    const uint32_t counter[4] = {(uint32_t)at, (uint32_t)(at >> 32), 0, 0};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    cpu_philox(counter, key, block);
}

static float uniform32(uint64_t seed, uint64_t e)
{
    uint32_t block[4];
    block_of(seed, e / 4, block);
    return (float)(block[e % 4] >> 8) * 0x1p-24f;
}

static double uniform64(uint64_t seed, uint64_t e)
{
    uint32_t block[4];
    block_of(seed, e / 2, block);
    uint64_t bits = (uint64_t)block[e % 2 * 2 + 1] << 32 | block[e % 2 * 2];
    return (double)(bits >> 11) * 0x1p-53;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

#define PARAMS(seed_, offset_)                                                                     \
    (&(collet_random_params){                                                                      \
        .struct_size = sizeof(collet_random_params), .seed = (seed_), .offset = (offset_)})
#define DRAW(OP, seed, offset, operand)                                                            \
    CALL_WITH(OP, 1, PARAMS(seed, offset), sizeof(collet_random_params), operand)

enum { N = 100003, SEED = 77 };

typedef struct numbers {
    float u32[N], n32[N];
    double u64[N], n64[N];
} numbers;

static numbers one, more;

static void draw_all(numbers *to, uint64_t seed, uint64_t offset)
{
    memset(to, 0xee, sizeof *to);
    DRAW(UNIFORM, seed, offset, ARRAY(to->u32, F32, N));
    DRAW(UNIFORM, seed, offset, ARRAY(to->u64, F64, N));
    DRAW(NORMAL, seed, offset, ARRAY(to->n32, F32, N));
    DRAW(NORMAL, seed, offset, ARRAY(to->n64, F64, N));
}

static void reopen(int32_t threads, const char *isa)
{
    collet_error err;
    plugin->device_close(device);
    host_threads = threads;
    host_isa = isa;
    assert_int_equal(COLLET_OK, host_open(0, &device, &err));
}

static void test_uniform_is_as_defined(void **state)
{
    (void)state;
    const uint64_t seeds[] = {0, 1, UINT64_MAX, 0x123456789abcdef0}, far = (uint64_t)1 << 34;
    const uint64_t offsets[] = {0, 1, 7, far - N / 2, UINT64_MAX - N / 2 + 1};
    for (int s = 0; s < 4; s++) {
        for (int o = 0; o < 5; o++) {
            draw_all(&one, seeds[s], offsets[o]);
            for (uint64_t i = 0; i < N; i++) {
                assert_true(one.u32[i] == uniform32(seeds[s], offsets[o] + i));
                assert_true(one.u64[i] == uniform64(seeds[s], offsets[o] + i));
            }
        }
    }
}

static void test_bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    const int32_t counts[] = {2, 7};
    reopen(1, NULL);
    draw_all(&one, SEED, 5);
    for (int i = 0; i < 2; i++) {
        reopen(counts[i], NULL);
        draw_all(&more, SEED, 5);
        assert_memory_equal(&one, &more, sizeof one);
    }
}

/* Outputs large enough for non-temporal stores, in parts at arbitrary offsets. */
static void test_large_outputs(void **state)
{
    (void)state;
    const int64_t n = ((int64_t)96 << 20) / 4 + 5;
    float *out = malloc((size_t)(n + 1) * sizeof *out);
    assert_non_null(out);
    reopen(7, NULL);
    DRAW(UNIFORM, SEED, 3, ARRAY(out + 1, F32, n));
    for (int64_t i = 0; i < n; i += i < 5000 || i > n - 5000 ? 1 : 1009)
        assert_true(out[1 + i] == uniform32(SEED, 3 + (uint64_t)i));
    free(out);
}

#if defined(__x86_64__)
/* normal may differ between levels, within the error limit of both. */
static void test_instruction_sets(void **state)
{
    (void)state;
    const char *const levels[] = {"v2", "v3", "v4"};
    reopen(1, "v2");
    draw_all(&one, SEED, 9);
    for (int l = 1; l < 3; l++) {
        reopen(2, levels[l]);
        draw_all(&more, SEED, 9);
        assert_memory_equal(one.u32, more.u32, sizeof one.u32);
        assert_memory_equal(one.u64, more.u64, sizeof one.u64);
        for (int i = 0; i < N; i++) {
            assert_true(fabsf(one.n32[i] - more.n32[i]) <= 0x1p-21f * fabsf(one.n32[i]));
            assert_true(fabs(one.n64[i] - more.n64[i]) <= 0x1p-50 * fabs(one.n64[i]));
        }
    }
    reopen(1, NULL);
}
#endif

/* A sequence in one call, and in consecutive pieces. */
static void test_pieces_equal_the_whole(void **state)
{
    (void)state;
    const uint64_t start = UINT64_MAX - 1000;
    reopen(2, NULL);
    draw_all(&one, SEED, start);
    memset(&more, 0xee, sizeof more);
    int64_t length = 1;
    for (int64_t at = 0, n; at < N; at += n, length = length * 3 % 1021) {
        n = length < N - at ? length : N - at;
        uint64_t from = start + (uint64_t)at;
        DRAW(UNIFORM, SEED, from, ARRAY(more.u32 + at, F32, n));
        DRAW(UNIFORM, SEED, from, ARRAY(more.u64 + at, F64, n));
        DRAW(NORMAL, SEED, from, ARRAY(more.n32 + at, F32, n));
        DRAW(NORMAL, SEED, from, ARRAY(more.n64 + at, F64, n));
    }
    assert_memory_equal(&one, &more, sizeof one);
}

static void test_strides_do_not_matter(void **state)
{
    (void)state;
    enum { A = 17, B = 59, C = 97 };
    static double apart[2 * A * B * C];
    const int64_t shape[] = {A, B, C};
    /* The last axis is slowest and reversed; every second element. */
    int64_t strides[] = {2 * B, 2, -2 * A * B};
    reopen(7, NULL);
    draw_all(&one, SEED, 2);
    collet_operand out = {
        apart, (uint64_t)(2 * A * B * (C - 1)) * sizeof *apart, COLLET_F64, 3, shape, strides};
    for (int normal = 0; normal < 2; normal++) {
        memset(apart, 0, sizeof apart);
        if (normal)
            DRAW(NORMAL, SEED, 2, out);
        else
            DRAW(UNIFORM, SEED, 2, out);
        const double *expected = normal ? one.n64 : one.u64;
        for (int i = 0; i < A * B * C; i++) {
            int a = i / (B * C), b = i / C % B, c = i % C;
            int at = 2 * (A * B * (C - 1 - c) + B * a + b);
            assert_true(apart[at] == expected[i]);
            assert_true(apart[at + 1] == 0.0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_blocks),
        cmocka_unit_test(test_uniform_is_as_defined),
        cmocka_unit_test(test_bits_do_not_depend_on_threads),
        cmocka_unit_test(test_large_outputs),
#if defined(__x86_64__)
        cmocka_unit_test(test_instruction_sets),
#endif
        cmocka_unit_test(test_pieces_equal_the_whole),
        cmocka_unit_test(test_strides_do_not_matter),
    };
    return cmocka_run_group_tests(tests, open_plugin, close_plugin);
}

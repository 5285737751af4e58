/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of ternary weights by the kernels of every level that this CPU supports, also by kernels
 * that cpu_openmp does not select because the CPU has better instructions.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_openmp/ternary/kernel_ternary.h"

extern const ternary_products ternary_v2, ternary_v3, ternary_v4, ternary_v4_vnni,
    ternary_v4_counts;
extern const ternary_rows ternary_rows_v2;

/* Tiles of 12, 4 and 1 rows; partial tiles of tokens. */
enum { ROWS = 29, BLOCKS = 11, COLUMNS = BLOCKS * TERNARY_BLOCK, TOKENS = TERNARY_INTERLEAVED };
enum { WEIGHTS_STEP = BLOCKS * TERNARY_BLOCK_BYTES + 7, SUMS_STEP = ROWS + 3 };

static int8_t codes[ROWS][COLUMNS]; /* w */
static int8_t activations[TOKENS][COLUMNS];
static uint8_t weights[ROWS * WEIGHTS_STEP];
static uint32_t sums[TOKENS * SUMS_STEP];

static int64_t random_below(int64_t limit)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)limit);
}

/* All factors of one row and one token have the largest magnitude. */
static void fill(int64_t limit)
{
    for (int64_t r = 0; r < ROWS; r++) {
        for (int64_t k = 0; k < COLUMNS; k++)
            codes[r][k] = (int8_t)(r == 5 ? 1 : random_below(3) - 1);
        ternary_rows_v2.pack(weights + r * WEIGHTS_STEP, codes[r], BLOCKS);
    }
    for (int64_t t = 0; t < TOKENS; t++) {
        for (int64_t k = 0; k < COLUMNS; k++)
            activations[t][k] =
                (int8_t)(t == 2 ? -limit : random_below(limit == 1 ? 3 : 2 * limit) - limit);
    }
}

static int64_t exact(int64_t row, int64_t token, int64_t base)
{
    int64_t sum = 0;
    for (int64_t k = 0; k < COLUMNS; k++)
        sum += (codes[row][k] + base) * activations[token][k];
    return sum;
}

/* How much the sums of token t exceed the sums of w a. */
static uint32_t excess[TOKENS];

static void expect_sums(const char *what, int64_t rows, int64_t tokens)
{
    for (int64_t t = 0; t < tokens; t++) {
        for (int64_t r = 0; r < SUMS_STEP; r++) {
            uint32_t expected = r < rows ? (uint32_t)exact(r, t, 0) + excess[t] : 0xabababab;
            if (sums[t * SUMS_STEP + r] != expected)
                fail_msg("%s, %d rows of %d tokens: [%d,%d] is %d, not %d", what, (int)rows,
                         (int)tokens, (int)t, (int)r, (int)sums[t * SUMS_STEP + r], (int)expected);
        }
    }
}

static ternary_panel panel_of(int64_t rows, const void *tokens, int64_t step, int64_t count)
{
    memset(sums, 0xab, sizeof sums);
    return (ternary_panel){.weights = weights,
                           .row_step = WEIGHTS_STEP,
                           .rows = rows,
                           .blocks = BLOCKS,
                           .tokens = tokens,
                           .token_step = step,
                           .count = count,
                           .sums = sums,
                           .sums_step = SUMS_STEP};
}

static void check_i8(const char *level, const ternary_products *kernels)
{
    fill(128);
    for (int64_t t = 0; t < TOKENS; t++)
        excess[t] = (uint32_t)(exact(0, t, 1) - exact(0, t, 0));
    for (int64_t rows = 1; rows <= ROWS; rows += rows < 9 ? 1 : 5) {
        for (int64_t tokens = 1; tokens <= 17; tokens++) {
            ternary_panel p = panel_of(rows, activations, COLUMNS, tokens);
            kernels->multiply[TERNARY_I8](&p);
            expect_sums(level, rows, tokens);
        }
    }
}

/* More columns than any intermediate sum can hold. */
static void check_long(const char *level, const ternary_products *kernels)
{
    enum { LONG = 40000, LONG_ROWS = 5 };
    uint8_t *ones = malloc((size_t)LONG * TERNARY_BLOCK_BYTES);
    int8_t *lowest = malloc((size_t)LONG * TERNARY_BLOCK);
    assert_true(ones && lowest);
    memset(ones, 0xaa, (size_t)LONG * TERNARY_BLOCK_BYTES);
    memset(lowest, 0x80, (size_t)LONG * TERNARY_BLOCK);
    ternary_panel p = panel_of(LONG_ROWS, lowest, 0, 1);
    p.weights = ones;
    p.row_step = 0;
    p.blocks = LONG;
    kernels->multiply[TERNARY_I8](&p);
    uint32_t expected = (uint32_t)LONG * TERNARY_BLOCK * 2 * (uint32_t)-128;
    for (int64_t r = 0; r < LONG_ROWS; r++) {
        if (sums[r] != expected)
            fail_msg("%s, %d blocks: row %d is %u, not %u", level, LONG, (int)r, sums[r], expected);
    }
    free(ones);
    free(lowest);
}

static void check_packed(const char *level, const ternary_products *kernels)
{
    static uint8_t masks[TOKENS][BLOCKS * TERNARY_MASK_BYTES];
    uint8_t packed[BLOCKS * TERNARY_BLOCK_BYTES];
    fill(1);
    for (int64_t t = 0; t < TOKENS; t++) {
        ternary_rows_v2.pack(packed, activations[t], BLOCKS);
        excess[t] = ternary_rows_v2.masks(masks[t], packed, BLOCKS);
    }
    for (int64_t rows = 1; rows <= ROWS; rows += rows < 9 ? 1 : 5) {
        for (int64_t tokens = 1; tokens <= 9; tokens++) {
            ternary_panel p = panel_of(rows, masks, sizeof masks[0], tokens);
            kernels->multiply[TERNARY_PACKED](&p);
            expect_sums(level, rows, tokens);
        }
    }
}

static void check_f32(const char *level, const ternary_products *kernels)
{
    static float tokens[TOKENS][COLUMNS];
    fill(128);
    for (int64_t t = 0; t < TOKENS; t++) {
        for (int64_t k = 0; k < COLUMNS; k++)
            tokens[t][k] = activations[t][k];
    }
    for (int64_t count = 1; count <= 9; count++) {
        ternary_panel p = panel_of(ROWS, tokens, sizeof tokens[0], count);
        kernels->multiply[TERNARY_F32](&p);
        for (int64_t t = 0; t < count; t++) {
            for (int64_t r = 0; r < ROWS; r++) {
                float got;
                memcpy(&got, &sums[t * SUMS_STEP + r], sizeof got);
                if (got != (float)exact(r, t, 0))
                    fail_msg("%s, f32: [%d,%d] is %g, not %g", level, (int)t, (int)r, (double)got,
                             (double)exact(r, t, 0));
            }
        }
    }
}

/* `most` blocks at a time, accumulated. */
static void multiply_interleaved(const ternary_products *kernels, int64_t rows, const char *tokens,
                                 int64_t most, const int32_t *less)
{
    ternary_panel p = panel_of(rows, tokens, COLUMNS, TOKENS);
    for (int64_t first = 0; first < BLOCKS; first += p.blocks) {
        p.blocks = BLOCKS - first < most ? BLOCKS - first : most;
        p.weights = weights + first * TERNARY_BLOCK_BYTES;
        p.tokens = tokens + first * TERNARY_BLOCK;
        p.less = first == 0 ? less : NULL;
        kernels->multiply_interleaved(&p);
    }
}

static void check_interleaved(const char *level, const ternary_products *kernels)
{
    static char tokens[TOKENS][COLUMNS];
    int32_t less[TOKENS];
    fill(128);
    memcpy(tokens, activations, sizeof tokens);
    kernels->interleave(tokens[0], COLUMNS, 0, 4);
    kernels->interleave(tokens[0], COLUMNS, 4, BLOCKS - 4);
    for (int64_t t = 0; t < TOKENS; t++) {
        excess[t] = (uint32_t)t;
        less[t] = (int32_t)(exact(0, t, 1) - exact(0, t, 0) - t);
    }
    for (int64_t rows = 1; rows <= ROWS; rows++) {
        multiply_interleaved(kernels, rows, tokens[0], BLOCKS, less);
        expect_sums(level, rows, TOKENS);
        multiply_interleaved(kernels, rows, tokens[0], 4, less);
        expect_sums(level, rows, TOKENS);
    }
}

/* Results equal separate, individually rounded operations bit for bit. */
static void check_finish(const char *level, const ternary_products *kernels, int with)
{
    static char tokens[TOKENS][COLUMNS];
    float scales[ROWS], biases[ROWS], of_tokens[TOKENS], expected[ROWS];
    int32_t less[TOKENS] = {0}, plain[ROWS];
    fill(128);
    memcpy(tokens, activations, sizeof tokens);
    kernels->interleave(tokens[0], COLUMNS, 0, BLOCKS);
    for (int64_t i = 0; i < ROWS; i++) {
        scales[i] = (float)(random_below(2000) - 1000) / 700.0f;
        biases[i] = (float)(random_below(2000) - 1000) / 0.7f;
    }
    for (int64_t t = 0; t < TOKENS; t++) {
        of_tokens[t] = t == 3 ? NAN : (float)random_below(1000) / 30000.0f;
        less[t] = (int32_t)(exact(0, t, 1) - exact(0, t, 0));
    }
    ternary_finish plainly = {
        .scales = with & 1 ? scales : NULL, .biases = with & 2 ? biases : NULL, .relu = with & 4};
    ternary_finish_interleaved finish = {of_tokens, plainly.scales, plainly.biases, plainly.relu};
    ternary_panel p = panel_of(ROWS, tokens[0], COLUMNS, TOKENS);
    p.less = less;
    p.finish = &finish;
    kernels->multiply_interleaved(&p);
    for (int64_t t = 0; t < TOKENS; t++) {
        for (int64_t r = 0; r < ROWS; r++)
            plain[r] = (int32_t)exact(r, t, 0);
        plainly.scale = of_tokens[t];
        ternary_rows_v2.finish[TERNARY_I8](expected, plain, &plainly, ROWS);
        for (int64_t r = 0; r < ROWS; r++) {
            float got;
            memcpy(&got, &sums[t * SUMS_STEP + r], sizeof got);
            if (isnan(expected[r]) ? !isnan(got) : memcmp(&got, &expected[r], sizeof got) != 0)
                fail_msg("%s, finished (%d): [%d,%d] is %.9g, not %.9g", level, with, (int)t,
                         (int)r, (double)got, (double)expected[r]);
        }
    }
}

static void check_dot(const char *level, const ternary_products *kernels)
{
    for (int64_t r = 0; r < ROWS; r++) {
        int64_t sum = 0;
        for (int64_t k = 0; k < COLUMNS; k++)
            sum += codes[5][k] * codes[r][k];
        if (kernels->dot(weights + 5 * WEIGHTS_STEP, weights + r * WEIGHTS_STEP, BLOCKS) != sum)
            fail_msg("%s: the dot product with row %d is not %d", level, (int)r, (int)sum);
    }
}

static void check_level(const char *level, const ternary_products *kernels)
{
    check_i8(level, kernels);
    check_long(level, kernels);
    check_packed(level, kernels);
    check_f32(level, kernels);
    if (kernels->multiply_interleaved) {
        check_interleaved(level, kernels);
        for (int with = 0; with < 8; with++)
            check_finish(level, kernels, with);
    }
    check_dot(level, kernels);
}

static void test_every_level(void **state)
{
    (void)state;
    if (__builtin_cpu_supports("sse4.2"))
        check_level("v2", &ternary_v2);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        check_level("v3", &ternary_v3);
    if (!__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq"))
        return;
    check_level("v4", &ternary_v4);
    if (!__builtin_cpu_supports("avx512vnni"))
        return;
    check_level("v4 with VNNI", &ternary_v4_vnni);
    if (!__builtin_cpu_supports("avx512vpopcntdq"))
        return;
    check_level("v4 with VNNI and counts", &ternary_v4_counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

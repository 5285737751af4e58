/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ternary_matmul and ternary_linear: all threads prepare some tokens; then each thread multiplies rows of the weights
 * by these tokens, first by the interleaved groups, then in panels by the other tokens.
 * Tests: conformance/ternary/products.c, tests/cpu_openmp/test_kernels_openmp.c
 */
#include "cpu_openmp/runtime/device.h"

#include <math.h>
#include <string.h>

#include "cpu_openmp/runtime/team.h"
#include "shared/host/util/counts.h"
#include "shared/host/util/rows.h"
#include "kernel_ternary.h"
#include "tokens.h"

/* Size of a panel, whose sums are on the stack. */
#define PANEL_ROWS (4 * TERNARY_ROWS)
#define PANEL_TOKENS TERNARY_INTERLEAVED

/* Rows of `linear` that are finished at a time: the results of a group of tokens fit into the L1 cache. */
#define FINISH_ROWS (12 * TERNARY_ROWS)

/* Panels per thread, for load balance. */
#define PANELS 4

/* Tokens that are prepared at a time: they stay in a cache. */
#define READY_BYTES (4 << 20)

/* Blocks of a group that are multiplied at a time: they stay in a cache for all rows. */
#define GROUP_BLOCKS 64

/* Rows of a group's piece. The results of a piece are whole cache lines. */
#define PIECE_ROWS 16

/* Minimum number of products of weights, and of activations, per thread. */
#define GRAIN (1 << 20)
#define TOKEN_GRAIN (1 << 13)

enum { Y, WEIGHTS, X, SCALES, BIASES };

typedef struct product {
    const ternary_products *kernels;
    const collet_operand *y, *weights, *scales, *biases; /* the last two may be NULL */
    int linear, relu;
    int64_t rows, count; /* rows of weights; number of tokens */
    int64_t ready;       /* the most tokens that are prepared at a time */
    int64_t panel;       /* rows of a panel */
    int64_t y_step;      /* bytes between the results of successive tokens; 0: the distances differ */
    int64_t first, here; /* the tokens that are prepared now: the first token, and their number */
    int64_t interleaved; /* how many of these tokens, counted from the first, are interleaved */
    ternary_tokens tokens;
} product;

/* ---- The plan -------------------------------------------------------------------------------- */

static void choose_source(product *p, const collet_kernel_call *call)
{
    const collet_ternary_linear_params *params = call->params;
    ternary_tokens *t = &p->tokens;
    uint32_t activations = p->linear ? params->activations : COLLET_TERNARY_F32;
    collet_dtype type = t->x->dtype;
    t->form = type == COLLET_I8 ? TERNARY_I8 : type == COLLET_U8 ? TERNARY_PACKED : TERNARY_F32;
    if (!p->linear)
        return;
    p->relu = params->relu != 0;
    t->threshold = params->threshold;
    if (activations == COLLET_TERNARY_INT8 || activations == COLLET_TERNARY_INT4) {
        t->limit = activations == COLLET_TERNARY_INT4 ? 7.0f : 127.0f;
        t->form = TERNARY_I8;
        t->source = TOKENS_TO_I8;
    } else if (activations == COLLET_TERNARY_TERNARY) {
        t->form = TERNARY_PACKED;
        t->source = TOKENS_TO_CODES;
    }
}

/* Rows of a panel, few enough that every thread has several panels. For matmul, the height that gives the busiest
 * thread the fewest rows. For `linear`, the largest height, because results are finished in bulk. */
static int64_t panel_rows(const collet_device *device, int64_t rows, int64_t ready, int linear)
{
    int64_t threads = device->threads, groups = divide_up(ready, PANEL_TOKENS);
    int64_t high = divide_up(rows * groups, threads * PANELS), best = TERNARY_ROWS,
            most = INT64_MAX;
    high = min_i64(divide_up(high, TERNARY_ROWS) * TERNARY_ROWS, PANEL_ROWS);
    if (linear)
        return high < TERNARY_ROWS ? TERNARY_ROWS : high;
    for (int64_t height = high; height >= TERNARY_ROWS; height -= TERNARY_ROWS) {
        int64_t busiest = divide_up(divide_up(rows, height) * groups, threads) * height;
        if (busiest < most) {
            most = busiest;
            best = height;
        }
    }
    return best;
}

/* The value of product.y_step. */
static int64_t result_step(const collet_operand *y)
{
    int64_t step = 0, count = 1;
    for (int32_t axis = y->ndim - 2; axis >= 0; axis--) {
        if (y->shape[axis] == 1)
            continue;
        if (count == 1)
            step = cpu_step(y, axis);
        else if (cpu_step(y, axis) != step * count)
            return 0;
        count *= y->shape[axis];
    }
    return step;
}

/* Whether tokens of TERNARY_I8 can be interleaved. Their sums are stored where the results will
 * be, so the results of a token must be adjacent, and the results of successive tokens must be
 * equally far apart. */
static int can_interleave(const product *p)
{
    return p->kernels->multiply_interleaved && p->tokens.blocks > 0 && p->y_step &&
           cpu_last_step(p->y) == (int64_t)sizeof(int32_t);
}

/* Stores tokens of codes as i8 if they can be interleaved: the products of i8 are then faster than counts of bits. */
static void choose_form(product *p)
{
    if (p->tokens.form == TERNARY_PACKED && p->count >= TERNARY_INTERLEAVED && can_interleave(p))
        p->tokens.form = TERNARY_I8;
}

static int64_t interleaved_tokens(const product *p, int64_t tokens)
{
    int groups = p->tokens.form == TERNARY_I8 && can_interleave(p);
    return groups ? tokens / TERNARY_INTERLEAVED * TERNARY_INTERLEAVED : 0;
}

static void make_product(product *p, const collet_device *device, const collet_kernel_call *call)
{
    int linear = call->op == COLLET_OP_TERNARY_LINEAR;
    ternary_tokens *t = &p->tokens;
    p->kernels = device->ternary;
    p->linear = linear;
    p->y = operand_of(call, Y);
    p->weights = operand_of(call, WEIGHTS);
    t->x = operand_of(call, X);
    if (linear && operand_present(operand_of(call, SCALES)))
        p->scales = operand_of(call, SCALES);
    if (linear && operand_present(operand_of(call, BIASES)))
        p->biases = operand_of(call, BIASES);
    p->rows = p->weights->shape[0];
    p->y_step = result_step(p->y);
    p->count = 1;
    for (int32_t i = 0; i + 1 < p->y->ndim; i++)
        p->count *= p->y->shape[i];
    choose_source(p, call);
    t->kernels = device->level->ternary_rows;
    t->blocks = p->weights->shape[1] / TERNARY_BLOCK_BYTES;
    choose_form(p);
    t->step = ternary_token_bytes(t);
    p->ready = min_i64(p->count, READY_BYTES / t->step / PANEL_TOKENS * PANEL_TOKENS);
    if (p->ready < PANEL_TOKENS)
        p->ready = min_i64(p->count, PANEL_TOKENS);
}

/* Bytes of the prepared tokens, and of a ternary_token for each. */
static uint64_t scratch_bytes(const product *p)
{
    return (uint64_t)p->ready * ((uint64_t)p->tokens.step + sizeof(ternary_token));
}

/* ---- Results --------------------------------------------------------------------------------- */

/* Returns the numbers of rows first .. first + n - 1, copied to `scratch` if they are not adjacent. NULL if there is
 * no operand. */
static const float *of_rows(const collet_operand *o, int64_t first, int64_t n, float *scratch)
{
    if (!o)
        return NULL;
    const char *at = cpu_at(o) + first * cpu_step(o, 0);
    if (cpu_step(o, 0) == (int64_t)sizeof(float))
        return (const float *)(const void *)at;
    cpu_move((char *)scratch, sizeof(float), at, cpu_step(o, 0), sizeof(float), n);
    return scratch;
}

/* Stores the sums of n rows and one token as they are. */
static void store_sums(const product *p, char *y, const void *sums, uint32_t base, int64_t n)
{
    int64_t step = cpu_last_step(p->y), size = sizeof(int32_t);
    if (p->tokens.form == TERNARY_F32) {
        cpu_move(y, step, sums, size, (uint64_t)size, n);
        return;
    }
    for (int64_t i = 0; step == size && i < n; i++)
        ((uint32_t *)(void *)y)[i] = ((const uint32_t *)sums)[i] - base;
    for (int64_t i = 0; step != size && i < n; i++) {
        uint32_t sum = ((const uint32_t *)sums)[i] - base;
        memcpy(y + i * step, &sum, sizeof sum);
    }
}

static void store_linear(const product *p, char *y, const void *sums, ternary_finish *how,
                         const ternary_token *about, int64_t n)
{
    int64_t step = cpu_last_step(p->y), size = sizeof(float);
    float scratch[FINISH_ROWS];
    float *out = step == size ? (float *)(void *)y : scratch;
    how->base = about->base;
    how->scale = about->scale;
    if (about->is_nan) {
        for (int64_t i = 0; i < n; i++)
            out[i] = NAN;
    } else {
        p->tokens.kernels->finish[p->tokens.form](out, sums, how, n);
    }
    if (out == scratch)
        cpu_move(y, step, (const char *)scratch, size, (uint64_t)size, n);
}

/* The address of the results of prepared token number `place`. */
static char *results_of(const product *p, int64_t place)
{
    int64_t token = p->first + place;
    return cpu_at(p->y) +
           (p->y_step ? token * p->y_step : ternary_offset(p->y, p->y->ndim - 1, token));
}

/* Stores the results of a panel: rows from `row` on, prepared tokens from number `place` on. The results of `linear`
 * may overwrite the sums. */
static void store_panel(const product *p, const ternary_panel *panel, int64_t row, int64_t place)
{
    float scale_scratch[FINISH_ROWS], bias_scratch[FINISH_ROWS];
    ternary_finish how = {.scales = of_rows(p->scales, row, panel->rows, scale_scratch),
                          .biases = of_rows(p->biases, row, panel->rows, bias_scratch),
                          .relu = p->relu};
    int64_t to_row = row * cpu_last_step(p->y);
    for (int64_t i = 0; i < panel->count; i++) {
        const ternary_token *about = &p->tokens.about[place + i];
        char *y = results_of(p, place + i) + to_row;
        const char *sums = (const char *)panel->sums + i * panel->sums_step * 4;
        if (p->linear)
            store_linear(p, y, sums, &how, about, panel->rows);
        else
            store_sums(p, y, sums, about->base, panel->rows);
    }
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static TEAM_BODY(make_ready)
{
    const product *p = argument;
    for (int64_t i = begin; i < end; i++)
        ternary_token_store(&p->tokens, p->first + i, i);
}

/* Blocks begin .. end-1 of interleaved tokens; blocks of the same tokens are consecutive. */
static TEAM_BODY(interleave)
{
    const product *p = argument;
    const ternary_tokens *t = &p->tokens;
    for (int64_t item = begin; item < end; item++)
        p->kernels->interleave(t->stored + item / t->blocks * TERNARY_INTERLEAVED * t->step,
                               t->step, item % t->blocks, 1);
}

/* Computes rows row .. end-1 for the interleaved group of prepared tokens that begins at number `place`. */
static void multiply_group(const product *p, int64_t place, int64_t row, int64_t end)
{
    float scale_scratch[FINISH_ROWS], bias_scratch[FINISH_ROWS], scales[TERNARY_INTERLEAVED];
    int32_t less[TERNARY_INTERLEAVED] = {0};
    const ternary_tokens *t = &p->tokens;
    int64_t row_step = cpu_step(p->weights, 0), size = sizeof(int32_t);
    int at_once = p->linear && t->blocks <= GROUP_BLOCKS;
    ternary_finish_interleaved finish = {.tokens = scales, .relu = p->relu};
    for (int64_t i = 0; i < TERNARY_INTERLEAVED; i++) {
        const ternary_token *about = &t->about[place + i];
        scales[i] = about->is_nan ? NAN : about->scale;
        if (!p->linear || at_once)
            less[i] = (int32_t)about->base;
    }
    for (int64_t first = 0, blocks; first < t->blocks; first += blocks) {
        ternary_panel panel = {
            .row_step = row_step,
            .tokens = t->stored + place * t->step + first * TERNARY_BLOCK,
            .token_step = t->step,
            .count = TERNARY_INTERLEAVED,
            .sums_step = p->y_step / size,
            .less = first == 0 ? less : NULL,
            .finish = at_once ? &finish : NULL,
        };
        panel.blocks = blocks = min_i64(t->blocks - first, GROUP_BLOCKS);
        for (int64_t r = row; r < end; r += FINISH_ROWS) {
            panel.weights =
                (const uint8_t *)cpu_at(p->weights) + r * row_step + first * TERNARY_BLOCK_BYTES;
            panel.rows = min_i64(end - r, FINISH_ROWS);
            panel.sums = results_of(p, place) + r * size;
            if (at_once) {
                finish.scales = of_rows(p->scales, r, panel.rows, scale_scratch);
                finish.biases = of_rows(p->biases, r, panel.rows, bias_scratch);
            }
            p->kernels->multiply_interleaved(&panel);
            if (p->linear && !at_once && first + blocks == t->blocks)
                store_panel(p, &panel, r, place);
        }
    }
}

/* Pieces begin .. end-1 of PIECE_ROWS rows of a group; pieces of one group are consecutive.
 */
static TEAM_BODY(multiply_interleaved)
{
    const product *p = argument;
    int64_t pieces = divide_up(p->rows, PIECE_ROWS);
    for (int64_t item = begin, here; item < end; item += here) {
        int64_t piece = item % pieces, row = piece * PIECE_ROWS;
        here = min_i64(end - item, pieces - piece);
        int64_t last = min_i64(p->rows, (piece + here) * PIECE_ROWS);
        multiply_group(p, item / pieces * TERNARY_INTERLEAVED, row, last);
    }
}

/* Panels begin .. end-1 of the other tokens; panels of the same rows are consecutive. */
static TEAM_BODY(multiply)
{
    const product *p = argument;
    const ternary_tokens *t = &p->tokens;
    _Alignas(64) int32_t sums[PANEL_ROWS * PANEL_TOKENS];
    int64_t panels = divide_up(p->here - p->interleaved, PANEL_TOKENS);
    int64_t row_step = cpu_step(p->weights, 0);
    for (int64_t item = begin; item < end; item++) {
        int64_t row = item / panels * p->panel,
                place = p->interleaved + item % panels * PANEL_TOKENS;
        ternary_panel panel = {
            .weights = (const uint8_t *)cpu_at(p->weights) + row * row_step,
            .row_step = row_step,
            .rows = min_i64(p->rows - row, p->panel),
            .blocks = t->blocks,
            .tokens = t->stored + place * t->step,
            .token_step = t->step,
            .count = min_i64(p->here - place, PANEL_TOKENS),
            .sums = sums,
            .sums_step = PANEL_ROWS,
        };
        p->kernels->multiply[t->form](&panel);
        store_panel(p, &panel, row, place);
    }
}

/* Plans the phases of the next tokens; returns their number. */
static int32_t plan_phases(const collet_device *device, product *p, team_phase phases[4])
{
    const ternary_tokens *t = &p->tokens;
    int64_t columns = t->blocks * TERNARY_BLOCK, groups = p->interleaved / TERNARY_INTERLEAVED;
    int64_t others = p->here - p->interleaved, work = PIECE_ROWS * TERNARY_INTERLEAVED * columns;
    int32_t count = 0;
    phases[count++] = (team_phase){make_ready, p->here, TOKEN_GRAIN / (columns + 1) + 1, 0};
    if (groups > 0) {
        phases[count++] = (team_phase){interleave, groups * t->blocks,
                                       TOKEN_GRAIN / (TERNARY_INTERLEAVED * TERNARY_BLOCK) + 1, 0};
        phases[count++] = (team_phase){
            multiply_interleaved, groups * divide_up(p->rows, PIECE_ROWS), GRAIN / work + 1, 0};
    }
    if (others > 0) {
        p->panel = panel_rows(device, p->rows, others, p->linear);
        work = p->panel * min_i64(others, PANEL_TOKENS) * (columns + 1);
        phases[count++] =
            (team_phase){multiply, divide_up(p->rows, p->panel) * divide_up(others, PANEL_TOKENS),
                         GRAIN / work + 1, 0};
    }
    return count;
}

static collet_status run(const collet_device *device, product *p, void *workspace)
{
    ternary_tokens *t = &p->tokens;
    if (p->rows == 0 || p->count == 0)
        return COLLET_OK;
    t->stored = workspace;
    t->about = (ternary_token *)(void *)(t->stored + p->ready * t->step);
    for (p->first = 0; p->first < p->count; p->first += p->here) {
        team_phase phases[4];
        p->here = min_i64(p->count - p->first, p->ready);
        p->interleaved = interleaved_tokens(p, p->here);
        int32_t count = plan_phases(device, p, phases);
        team_run_phases(device->threads, phases, count, p);
    }
    return COLLET_OK;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

ACCEPTS(ternary_product)
{
    product p = {0};
    make_product(&p, device, call);
    *workspace_bytes = scratch_bytes(&p);
    return COLLET_OK;
}

KERNEL(ternary_product)
{
    product p = {0};
    make_product(&p, device, call);
    return run(device, &p, call->workspace);
}

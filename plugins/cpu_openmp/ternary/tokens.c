/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/ternary/products.c */
#include "tokens.h"

#include <string.h>

#include "shared/host/util/rows.h"

/* Activations that are not adjacent are gathered this many at a time; whole blocks. */
#define PIECE (4 * TERNARY_BLOCK)

#define LEAST_MAGNITUDE 0x1p-100f
#define INFINITY_BITS 0x7f800000u

/* Padding between tokens: tokens 4096 bytes apart would share few cache sets. */
#define APART 64

int64_t ternary_token_bytes(const ternary_tokens *t)
{
    static const int64_t bytes[TERNARY_FORMS] = {TERNARY_BLOCK, TERNARY_MASK_BYTES,
                                                 TERNARY_BLOCK * (int64_t)sizeof(float)};
    return t->blocks * bytes[t->form] + APART;
}

int64_t ternary_offset(const collet_operand *o, int32_t axes, int64_t index)
{
    int64_t offset = 0;
    for (int32_t axis = axes - 1; axis > 0; axis--) {
        offset += index % o->shape[axis] * cpu_step(o, axis);
        index /= o->shape[axis];
    }
    return axes > 0 ? offset + index * cpu_step(o, 0) : 0;
}

/* Activations of a token. */
typedef struct row {
    const char *at;
    int64_t step, count;
} row;

/* Returns activations first .. first + n - 1, n <= PIECE, as adjacent elements: in place, or copied to `scratch`.
 */
static const float *piece_of(const row *x, int64_t first, int64_t n, float scratch[PIECE])
{
    const char *at = x->at + first * x->step;
    if (x->step == (int64_t)sizeof(float))
        return (const float *)(const void *)at;
    cpu_move((char *)scratch, sizeof(float), at, x->step, sizeof(float), n);
    return scratch;
}

static int64_t piece_length(const row *x, int64_t first)
{
    return x->count - first < PIECE ? x->count - first : PIECE;
}

static void store_i8(const ternary_tokens *t, const row *x, char *out, ternary_token *about)
{
    cpu_move(out, 1, x->at, x->step, 1, x->count);
    memset(out + x->count, 0, (size_t)(t->blocks * TERNARY_BLOCK - x->count));
    about->base = (uint32_t)t->kernels->sum_i8((const int8_t *)out, x->count);
}

static void store_f32(const ternary_tokens *t, const row *x, char *out)
{
    int64_t size = sizeof(float);
    cpu_move(out, size, x->at, x->step, (uint64_t)size, x->count);
    memset(out + x->count * size, 0, (size_t)((t->blocks * TERNARY_BLOCK - x->count) * size));
}

static void store_quantized(const ternary_tokens *t, const row *x, char *out, ternary_token *about)
{
    float scratch[PIECE], most;
    uint32_t bits = 0;
    for (int64_t i = 0; i < x->count; i += PIECE) {
        int64_t n = piece_length(x, i);
        bits = t->kernels->greatest(bits, piece_of(x, i, n, scratch), n);
    }
    memcpy(&most, &bits, sizeof most);
    about->is_nan = bits >= INFINITY_BITS;
    if (about->is_nan || most < LEAST_MAGNITUDE) {
        memset(out, 0, (size_t)(t->blocks * TERNARY_BLOCK));
        return;
    }
    float r = t->limit / most;
    about->scale = most / t->limit;
    for (int64_t i = 0; i < x->count; i += PIECE) {
        int64_t n = piece_length(x, i);
        about->base +=
            (uint32_t)t->kernels->to_i8((int8_t *)out + i, piece_of(x, i, n, scratch), r, n);
    }
    memset(out + x->count, 0, (size_t)(t->blocks * TERNARY_BLOCK - x->count));
}

static void store_unpacked(const ternary_tokens *t, const row *x, char *out, ternary_token *about)
{
    t->kernels->unpack((int8_t *)out, (const uint8_t *)x->at, t->blocks);
    about->base = (uint32_t)t->kernels->sum_i8((const int8_t *)out, t->blocks * TERNARY_BLOCK);
}

static void store_codes(const ternary_tokens *t, const row *x, char *out, ternary_token *about)
{
    float scratch[PIECE];
    int8_t codes[PIECE];
    uint8_t bytes[PIECE / TERNARY_BLOCK * TERNARY_BLOCK_BYTES];
    about->scale = 1.0f;
    for (int64_t i = 0; i < x->count; i += PIECE) {
        int64_t n = piece_length(x, i), blocks = (n + TERNARY_BLOCK - 1) / TERNARY_BLOCK;
        t->kernels->codes[0](codes, piece_of(x, i, n, scratch), (double)t->threshold, n);
        memset(codes + n, 0, (size_t)(blocks * TERNARY_BLOCK - n));
        if (t->form == TERNARY_I8) {
            memcpy(out + i, codes, (size_t)(blocks * TERNARY_BLOCK));
            about->base += (uint32_t)t->kernels->sum_i8(codes, n);
            continue;
        }
        t->kernels->pack(bytes, codes, blocks);
        about->base += t->kernels->masks((uint8_t *)out + i / TERNARY_BLOCK * TERNARY_MASK_BYTES,
                                         bytes, blocks);
    }
}

void ternary_token_store(const ternary_tokens *t, int64_t index, int64_t place)
{
    int32_t last = t->x->ndim - 1;
    row x = {cpu_at(t->x) + ternary_offset(t->x, last, index), cpu_last_step(t->x),
             t->x->shape[last]};
    char *out = t->stored + place * t->step;
    ternary_token *about = &t->about[place];
    *about = (ternary_token){0};
    if (t->source == TOKENS_TO_I8)
        store_quantized(t, &x, out, about);
    else if (t->source == TOKENS_TO_CODES)
        store_codes(t, &x, out, about);
    else if (t->form == TERNARY_I8 && t->x->dtype == COLLET_U8)
        store_unpacked(t, &x, out, about);
    else if (t->form == TERNARY_I8)
        store_i8(t, &x, out, about);
    else if (t->form == TERNARY_F32)
        store_f32(t, &x, out);
    else
        about->base = t->kernels->masks((uint8_t *)out, (const uint8_t *)x.at, t->blocks);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/index/sort.c */
#include "index.h"

#include "shared/jit/texts.h"

#include <stdio.h>

static const jit_source source =
    JIT_SOURCE("radix", jit_text_index_index_params, jit_text_index_index, jit_text_index_keys,
               jit_text_index_radix);

#define DIGITS 256
/* Devices whose items run in sequence: blocks per compute unit, and limits of the elements of a block. */
#define BLOCKS 4
#define SHARE_LEAST (1 << 12)
#define SHARE_MOST (1 << 30)
/* An item adds up at most this many counts, unless a group has too few items for that. */
#define COUNTS 8

void index_radix_of(index_radix *r, const jit_traits *t, int64_t rows, int64_t n, uint64_t word,
                    uint64_t index, int carry, int64_t at)
{
    radix_pass *p = &r->pass;
    p->share = (int64_t)(t->group * RADIX_BYTES / (word > index ? word : index));
    if (t->serial) {
        p->share = (int64_t)jit_ceiling((uint64_t)n, BLOCKS * (uint64_t)t->units);
        p->share = p->share < SHARE_LEAST ? SHARE_LEAST : p->share;
        p->share = p->share > SHARE_MOST ? SHARE_MOST : p->share;
    }
    r->rows = rows;
    p->n = n;
    p->blocks = (int64_t)jit_ceiling((uint64_t)n, (uint64_t)p->share);
    p->totals = at;
    p->counts = at + rows * DIGITS * (int64_t)index;
    r->bytes = rows * DIGITS * (p->blocks + 1) * (int64_t)index;
    snprintf(r->options, sizeof r->options, "-DWORD=u%d -DINDEX=u%d -DCARRY=%d -DSERIAL=%d",
             (int)word * 8, (int)index * 8, carry, (int)t->serial);
}

static void pass_operand(jit_launch *l, const collet_operand *o)
{
    if (o) {
        jit_pass_operand(l, o);
    } else {
        jit_pass_buffer(l, NULL);
        jit_pass_i64(l, 0);
    }
}

void index_radix_pass(jit_sequence *s, const index_radix *r, const collet_operand *out,
                      const collet_operand *in)
{
    const radix_pass *p = &r->pass;
    uint64_t groups = (uint64_t)(r->rows * p->blocks);
    int64_t lines = r->rows * DIGITS, lanes = 1;
    jit_launch l;
    while (lanes * COUNTS < p->blocks && lanes < s->traits->group)
        lanes *= 2;
    jit_launch_begin(&l, &source, r->options, "count");
    pass_operand(&l, in);
    jit_pass_buffer(&l, s->call->workspace);
    jit_pass_block(&l, p, sizeof *p);
    jit_sequence_enqueue(s, &l, groups);
    jit_launch_begin(&l, &source, r->options, "add_up");
    jit_pass_buffer(&l, s->call->workspace);
    jit_pass_i64s(&l, p->counts, p->totals, p->blocks, lines);
    jit_pass_i32(&l, (int32_t)lanes);
    jit_sequence_enqueue(s, &l, jit_groups(s->traits, (uint64_t)(lines * lanes)));
    jit_launch_begin(&l, &source, r->options, "move");
    pass_operand(&l, in);
    pass_operand(&l, out);
    jit_pass_buffer(&l, s->call->workspace);
    jit_pass_block(&l, p, sizeof *p);
    jit_sequence_enqueue(s, &l, groups);
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

#define WORD_BYTES ((int64_t)sizeof(uint64_t))

uint64_t index_pair_bytes(const jit_traits *t, int64_t n)
{
    index_radix r;
    index_radix_of(&r, t, 1, n, sizeof(uint64_t), sizeof(uint64_t), 1, 0);
    return (uint64_t)(4 * n * WORD_BYTES + r.bytes);
}

int64_t index_sort_pairs(jit_sequence *s, int64_t at, int64_t n, int32_t bits)
{
    int64_t other = at + 2 * n;
    index_radix r = {.pass = {.mask = DIGITS - 1}};
    index_radix_of(&r, s->traits, 1, n, sizeof(uint64_t), sizeof(uint64_t), 1,
                   (at + 4 * n) * WORD_BYTES);
    for (r.pass.shift = 0; r.pass.shift < bits; r.pass.shift += 8) {
        r.pass.keys_from = at * WORD_BYTES;
        r.pass.indices_from = r.pass.shift ? (at + n) * WORD_BYTES : RADIX_NONE;
        r.pass.keys_to = other * WORD_BYTES;
        r.pass.indices_to = (other + n) * WORD_BYTES;
        index_radix_pass(s, &r, NULL, NULL);
        int64_t filled = other;
        other = at;
        at = filled;
    }
    return at;
}

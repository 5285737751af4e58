/* SPDX-License-Identifier: Apache-2.0 */
/* Reads vectors.bin, which cmake/words.cmake made an array of words.
 * Tests: tests/conformance/test_truth.c */
#include "vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const uint64_t kit_vector_words[];
extern const size_t kit_vector_count;

typedef struct section {
    collet_dtype dtype;
    int64_t inputs, outputs, rows; /* inputs and outputs: parts of a row */
    bool exact;
    const uint64_t *words;
} section;

enum { HEADER = 6 };

static double f64_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float f32_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static bool find_section(uint32_t op, collet_dtype dtype, section *s)
{
    for (size_t at = 0; at < kit_vector_count;) {
        const uint64_t *header = kit_vector_words + at;
        *s = (section){.dtype = (collet_dtype)header[1],
                       .inputs = (int64_t)header[2],
                       .outputs = (int64_t)header[3],
                       .rows = (int64_t)header[4],
                       .exact = header[5] != 0,
                       .words = header + HEADER};
        if (header[0] == op && s->dtype == dtype)
            return true;
        int64_t rests = s->exact ? 0 : (s->outputs * s->rows + 1) / 2;
        at += (size_t)(HEADER + (s->inputs + s->outputs) * s->rows + rests);
    }
    return false;
}

/* Finds the section of a function and dtype. If a function is not exact, its section for f64 or
 * c128 serves smaller dtypes, too. */
static bool section_for(uint32_t op, collet_dtype dtype, section *s)
{
    bool is_complex = kit_part(dtype) != dtype;
    return find_section(op, dtype, s) ||
           ((is_complex || kit_is_real_float(dtype)) &&
            find_section(op, is_complex ? COLLET_C128 : COLLET_F64, s) && !s->exact);
}

static bool is_integer(const section *s)
{
    return kit_precision(s->dtype) == 0;
}

static long double number(const section *s, int64_t column, int64_t row)
{
    uint64_t word = s->words[column * s->rows + row];
    return !is_integer(s)           ? (long double)f64_of(word)
           : s->dtype == COLLET_U64 ? (long double)word
                                    : (long double)(int64_t)word;
}

static long double output(const section *s, int64_t part, int64_t row)
{
    long double high = number(s, s->inputs + part, row);
    if (s->exact || !isfinite(high))
        return high;
    int64_t at = part * s->rows + row;
    uint64_t pair = s->words[(s->inputs + s->outputs) * s->rows + at / 2];
    return high + high * (long double)f32_of((uint32_t)(at % 2 ? pair : pair >> 32));
}

static bool holds(collet_dtype dtype, const section *s, int64_t row)
{
    unsigned char bytes[8];
    for (int64_t k = 0; k < s->inputs && kit_part(dtype) != kit_part(s->dtype); k++) {
        long double x = number(s, k, row);
        kit_convert(kit_part(dtype), x, bytes);
        if (kit_value(kit_part(dtype), bytes) != x && !isnan(x))
            return false;
    }
    return true;
}

int64_t vectors_count(uint32_t op, collet_dtype dtype)
{
    section s;
    int64_t count = 0;
    bool found = section_for(op, dtype, &s);
    for (int64_t row = 0; found && row < s.rows; row++)
        count += holds(dtype, &s, row);
    return count;
}

void vectors_inputs(kit_case *c)
{
    section s;
    collet_dtype dtype = c->operand[c->row->operands - 1].dtype;
    bool found = section_for(c->row->info.id, dtype, &s);
    int64_t next = 0;
    for (int64_t row = 0; found && row < s.rows; row++) {
        if (!holds(dtype, &s, row))
            continue;
        int64_t column = 0;
        for (uint32_t k = c->row->info.n_out; k < c->row->operands; k++) {
            int64_t parts = kit_part(c->operand[k].dtype) != c->operand[k].dtype ? 2 : 1;
            for (int64_t p = 0; p < parts; p++)
                kit_set(&c->operand[k], next * parts + p, number(&s, column++, row));
        }
        next++;
    }
}

long double *vectors_outputs(const kit_case *c, bool *exact)
{
    section s = {0};
    collet_dtype dtype = c->operand[c->row->operands - 1].dtype;
    bool found = section_for(c->row->info.id, dtype, &s);
    long double *values =
        kit_memory((size_t)(c->operand[0].count * (found ? s.outputs : 1)) * sizeof *values);
    int64_t next = 0;
    *exact = s.exact;
    for (int64_t row = 0; found && row < s.rows; row++)
        for (int64_t p = 0; p < s.outputs && holds(dtype, &s, row); p++)
            values[next++] = output(&s, p, row);
    return values;
}

bool vectors_row(uint32_t op, collet_dtype dtype, bool exact, int64_t row, long double x[6],
                 long double y[2])
{
    section s;
    if (!find_section(op, dtype, &s) || s.exact != exact || row >= s.rows)
        return false;
    for (int64_t k = 0; k < s.inputs; k++)
        x[k] = number(&s, k, row);
    for (int64_t p = 0; p < s.outputs; p++)
        y[p] = output(&s, p, row);
    return true;
}

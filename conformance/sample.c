/* SPDX-License-Identifier: Apache-2.0 */
/* Selects a few small cases of a row for devices on which a call takes seconds.
 * Tests: tests/conformance/test_kit.c */
#include "kit.h"

#include <string.h>

/* Minimum size of a case: the elements of its largest operand, and the extent of that operand's
 * axis `axis`, counted from the last. `op` 0: for all ops that are not listed; excludes large
 * cases. */
typedef struct size {
    uint32_t op;
    int64_t elements, extent;
    int32_t axis;
} size;

/* Small sizes, sizes larger than a work-group, and sizes at which another algorithm is used. */
static const size sizes[] = {
    {0, 5, 1, 0},
    {0, 1100, 1, 0},
    {COLLET_OP_SUM, 5, 1, 0},
    {COLLET_OP_SUM, 5000, 1, 0},
    {COLLET_OP_SUM, 20000, 1, 0},
    {COLLET_OP_MEAN, 5, 1, 0},
    {COLLET_OP_MEAN, 20000, 1, 0},
    {COLLET_OP_MIN, 5, 1, 0},
    {COLLET_OP_MIN, 20000, 1, 0},
    {COLLET_OP_MAX, 5, 1, 0},
    {COLLET_OP_MAX, 5000, 1, 0},
    {COLLET_OP_MATMUL, 5, 1, 0},
    {COLLET_OP_MATMUL, 2000, 1, 0},
    {COLLET_OP_MATMUL, 4000, 400, 1},
    {COLLET_OP_DOT, 5, 1, 0},
    {COLLET_OP_DOT, 70000, 1, 0},
    {COLLET_OP_MATVEC, 5, 1, 0},
    {COLLET_OP_MATVEC, 1000, 129, 0},
    {COLLET_OP_MATVEC, 1000, 130, 1},
    {COLLET_OP_LU, 5, 1, 0},
    {COLLET_OP_LU, 600, 1, 0},
    {COLLET_OP_LU, 9000, 97, 0},
    {COLLET_OP_SOLVE, 5, 1, 0},
    {COLLET_OP_SOLVE, 200, 1, 0},
    {COLLET_OP_SOLVE, 9000, 97, 0},
    {COLLET_OP_CHOLESKY, 5, 1, 0},
    {COLLET_OP_CHOLESKY, 200, 1, 0},
    {COLLET_OP_CHOLESKY, 9000, 97, 0},
    {COLLET_OP_QR, 5, 1, 0},
    {COLLET_OP_QR, 60, 1, 0},
    {COLLET_OP_QR, 1000, 30, 0},
    {COLLET_OP_SVD, 5, 1, 0},
    {COLLET_OP_SVD, 60, 1, 0},
    {COLLET_OP_SVD, 280, 9, 0},
    {COLLET_OP_EIGH, 5, 1, 0},
    {COLLET_OP_EIGH, 60, 1, 0},
    {COLLET_OP_EIGH, 1000, 30, 0},
    {COLLET_OP_FFT, 5, 1, 0},
    {COLLET_OP_FFT, 1100, 1, 0},
    {COLLET_OP_FFT, 4099, 4099, 0},
    {COLLET_OP_FFTSHIFT, 5, 1, 0},
    {COLLET_OP_FFTSHIFT, 100, 1, 0},
    {COLLET_OP_MAGNITUDE, 15, 1, 0},
    {COLLET_OP_MAGNITUDE, 1100, 1, 0},
    {COLLET_OP_MAGNITUDE, 3500, 512, 0},
    {COLLET_OP_COM, 5, 1, 0},
    {COLLET_OP_COM, 3000, 1, 0},
    {COLLET_OP_COM, 1, 4099, 1},
    {COLLET_OP_RMSD, 5, 1, 0},
    {COLLET_OP_RMSD, 3000, 1, 0},
    {COLLET_OP_RMSD, 1, 4099, 1},
    {COLLET_OP_OBSERVABLES, 5, 1, 0},
    {COLLET_OP_OBSERVABLES, 3000, 1, 0},
    {COLLET_OP_OBSERVABLES, 1, 4099, 1},
};

#define SIZES (sizeof sizes / sizeof *sizes)

/* The smallest case so far for each size, first with dense operands, then with other operands. */
typedef struct choice {
    const kit_row *row;
    bool own;      /* the op is listed in `sizes` */
    bool any_data; /* use any kind of values, because the row has no cases of ordinary values */
    int always[KIT_SAMPLE], always_count;
    int number[2][SIZES];
    int64_t elements[2][SIZES];
} choice;

/* 0: all operands dense; 1: some with arbitrary strides; -1: neither. */
static int layout_kind(const kit_case *c)
{
    int found = 0;
    for (uint32_t k = 0; k < c->row->operands; k++) {
        if (c->layout[k] == KIT_MIXED || c->layout[k] == KIT_ROWS)
            return 1;
        if (c->layout[k] > KIT_UNALIGNED)
            found = -1;
    }
    return found;
}

static const kit_tensor *largest_of(const kit_case *c)
{
    const kit_tensor *largest = &c->operand[0];
    for (uint32_t k = 1; k < c->row->operands; k++)
        if (c->operand[k].dtype != COLLET_DTYPE_NONE && c->operand[k].count > largest->count)
            largest = &c->operand[k];
    return largest;
}

static bool has_size(const kit_tensor *t, const size *requested)
{
    int64_t extent = requested->axis < t->ndim ? t->shape[t->ndim - 1 - requested->axis] : 1;
    return t->count >= requested->elements && extent >= requested->extent;
}

static void consider(void *user, const kit_case *c)
{
    choice *f = user;
    const kit_tensor *largest = largest_of(c);
    int layout = layout_kind(c);
    if (c->in_sample && f->always_count < KIT_SAMPLE)
        f->always[f->always_count++] = c->number;
    if (layout < 0 || (c->big && !f->own) || c->mode != KIT_PLAIN || c->operand[0].count == 0 ||
        (c->data[0] && !f->any_data))
        return;
    for (size_t i = 0; i < SIZES; i++) {
        if (sizes[i].op != (f->own ? c->row->info.id : 0) || !has_size(largest, &sizes[i]))
            continue;
        if (f->number[layout][i] < 0 || largest->count < f->elements[layout][i]) {
            f->number[layout][i] = c->number;
            f->elements[layout][i] = largest->count;
        }
    }
}

void kit_sample_row(const kit_row *row, int numbers[KIT_SAMPLE])
{
    choice f = {.row = row};
    kit_plan plan = {.row = row, .run = consider, .user = &f};
    int count = 0;
    memset(f.number, -1, sizeof f.number);
    for (size_t i = 0; i < SIZES; i++)
        f.own = f.own || sizes[i].op == row->info.id;
    for (int pass = 0; pass < 2 && count == 0; pass++) {
        plan.next = 0;
        f.always_count = 0;
        f.any_data = pass > 0;
        row->kit->plan(&plan);
        for (size_t i = 0; i < 2 * SIZES && count < KIT_SAMPLE; i++)
            if (f.number[i % 2][i / 2] >= 0)
                numbers[count++] = f.number[i % 2][i / 2];
    }
    for (int i = 0; i < f.always_count && count < KIT_SAMPLE; i++)
        numbers[count++] = f.always[i];
    while (count < KIT_SAMPLE)
        numbers[count++] = -1;
}

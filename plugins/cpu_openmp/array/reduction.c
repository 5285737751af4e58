/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/reduce.c */
#include "reduction.h"

#include <math.h>
#include <string.h>

#include "cpu_openmp/runtime/device.h"
#include "cpu_openmp/util/range.h"
#include "shared/host/util/convert.h"
#include "shared/host/util/counts.h"
#include "shared/host/util/operand.h"
#include "shared/host/util/rows.h"
#include "shared/host/util/sum.h"

/* The number of elements that are converted or made adjacent at a time; they stay in the L1 cache. */
#define BLOCK 512
#define FEW 32 /* up to this many elements are reduced in place, without a copy */

/* ---- Choosing -------------------------------------------------------------------------------- */

static int is_float(collet_dtype dtype)
{
    return dtype == COLLET_F32 || dtype == COLLET_F64 || dtype == COLLET_F16 ||
           dtype == COLLET_BF16 || cpu_dtype_is_complex(dtype);
}

static int is_unsigned(collet_dtype dtype)
{
    return dtype == COLLET_U8 || dtype == COLLET_U16 || dtype == COLLET_U32 || dtype == COLLET_U64;
}

static double bits_of(int64_t x)
{
    double bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void choose_count(method *m, const collet_device *device, uint32_t op)
{
    int size = (int)cpu_dtype_size(m->from);
    uint64_t sign = is_float(m->from) ? (uint64_t)1 << (8 * (size < 8 ? size : 8) - 1) : 0;
    m->kernel = &device->level->integers->count[__builtin_ctz((unsigned)size)];
    m->join = &device->level->integers->sum[COLLET_I64];
    /* The elements of c64 are two numbers in one word. */
    m->about.bits = ~(m->from == COLLET_C64 ? sign | sign >> 32 : sign);
    m->kind = op == COLLET_OP_ANY                           ? RESULT_POSITIVE
              : op == COLLET_OP_ALL || op == COLLET_OP_PROD ? RESULT_EQUAL
                                                            : RESULT_COUNT;
}

static void choose_integer(method *m, const collet_device *device, uint32_t op)
{
    const integer_kernels *kernels = device->level->integers;
    int bits = 8 * (int)cpu_dtype_size(m->from);
    m->kind = RESULT_WORD;
    if (op == COLLET_OP_SUM) {
        m->kernel = &kernels->sum[m->from];
        m->join = &kernels->sum[COLLET_I64];
    } else if (op == COLLET_OP_PROD) {
        m->kernel = m->join = &kernels->product;
        m->to = m->from == COLLET_U64 ? COLLET_U64 : COLLET_I64;
        m->first = bits_of(1);
    } else {
        m->kernel = &kernels->min[__builtin_ctz((unsigned)bits / 8)];
        m->join = &kernels->min[3];
        m->about.bits = (op == COLLET_OP_MAX ? ~(uint64_t)0 : 0) ^
                        (is_unsigned(m->from) ? ~(uint64_t)0 << (bits - 1) : 0);
        m->first = bits_of(INT64_MAX);
    }
}

static void choose_float(method *m, const collet_device *device, uint32_t op, int64_t count)
{
    const reduce_kernels *kernels = device->level->reduce;
    int wide = part_of(m->from) == COLLET_F64;
    m->to = wide ? COLLET_F64 : COLLET_F32;
    m->convert = device->level->convert->run[m->to][m->from];
    m->gather = device->level->move->row[wide ? 3 : 2];
    m->kind = RESULT_NUMBER;
    if (op == COLLET_OP_MIN || op == COLLET_OP_MAX) {
        const reduction *both = op == COLLET_OP_MIN ? kernels->min : kernels->max;
        m->kernel = &both[wide];
        m->join = &both[1];
        m->first = op == COLLET_OP_MIN ? (double)INFINITY : -(double)INFINITY;
    } else if (op == COLLET_OP_PROD) {
        m->kernel = &kernels->product[wide];
        m->join = &kernels->product[1];
        m->first = 1.0;
    } else {
        int squares = op == COLLET_OP_VAR || op == COLLET_OP_STD;
        m->kernel = squares ? &kernels->deviation[wide] : &kernels->sum[wide];
        m->join = &kernels->sum[1];
        m->kind = op == COLLET_OP_STD ? RESULT_ROOT : RESULT_SUM;
        m->divisor = op == COLLET_OP_SUM ? 1.0 : (double)count;
    }
}

void method_choose(method *m, const collet_device *device, uint32_t op, collet_dtype from,
                   int64_t count)
{
    int counts = op == COLLET_OP_ANY || op == COLLET_OP_ALL || op == COLLET_OP_COUNT_NONZERO;
    *m = (method){.from = from, .to = from, .divisor = 1.0, .all = count};
    if (counts || from == COLLET_BOOL)
        choose_count(m, device, op);
    else if (is_float(from))
        choose_float(m, device, op, count);
    else
        choose_integer(m, device, op);
    if (m->from != m->to)
        m->from = part_of(from);
}

int method_narrow(method *m, const collet_device *device)
{
    const reduce_kernels *kernels = device->level->reduce;
    const reduction *narrow = m->kernel == &kernels->sum[0]         ? &kernels->narrow_sum
                              : m->kernel == &kernels->deviation[0] ? &kernels->narrow_deviation
                                                                    : NULL;
    m->kernel = narrow ? narrow : m->kernel;
    return narrow != NULL;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* Copies n elements at `in` to `block` as adjacent elements of the kernel's dtype. */
static void collect(const method *m, double *block, const char *in, int64_t step, int64_t n)
{
    if (m->from == m->to)
        m->gather((char *)block, (int64_t)cpu_dtype_size(m->to), in, step, n);
    else if (m->convert && step == (int64_t)cpu_dtype_size(m->from))
        m->convert(block, in, n);
    else
        cpu_convert((char *)block, m->to, (int64_t)cpu_dtype_size(m->to), in, m->from, step, n);
}

void method_run(const method *m, const reduce_about *about, double *result, double *lost,
                const char *in, int64_t step, int64_t n)
{
    if (m->from == m->to && (!m->gather || n < FEW || step == (int64_t)cpu_dtype_size(m->from))) {
        m->kernel->run(result, lost, in, step, n, about);
        return;
    }
    double block[BLOCK];
    for (int64_t i = 0; i < n; i += BLOCK) {
        int64_t part = min_i64(n - i, BLOCK);
        collect(m, block, in + i * step, step, part);
        m->kernel->run(result, lost, (const char *)block, (int64_t)cpu_dtype_size(m->to), part,
                       about);
    }
}

void method_columns(const method *m, const reduce_about *about, double *result, double *lost,
                    const char *in, int64_t row_step, int64_t column_step, int64_t rows,
                    int64_t columns)
{
    if (m->from == m->to) {
        m->kernel->columns(result, lost, in, row_step, column_step, rows, columns, about);
        return;
    }
    double block[BLOCK];
    for (int64_t i = 0; i < rows; i++, in += row_step)
        for (int64_t j = 0; j < columns; j += BLOCK) {
            int64_t part = min_i64(columns - j, BLOCK);
            reduce_about these = {about->bits, about->center ? about->center + j : NULL};
            collect(m, block, in + j * column_step, column_step, part);
            m->kernel->columns(result + j, lost + j, (const char *)block, 0,
                               (int64_t)cpu_dtype_size(m->to), 1, part, &these);
        }
}

/* ---- Results --------------------------------------------------------------------------------- */

/* Computes n numbers: (result + lost) / divisor, without `lost` if the result is not finite. */
static void find_numbers(const method *m, double *restrict numbers, const double *restrict result,
                         const double *restrict lost, int64_t n)
{
    const double divisor = m->divisor;
    for (int64_t i = 0; i < n; i++) {
        double sum = result[i], more = sum - sum == 0.0 ? lost[i] : 0.0;
        numbers[i] = sum + more;
    }
    for (int64_t i = 0; divisor != 1.0 && i < n; i++)
        numbers[i] /= divisor;
    for (int64_t i = 0; m->kind == RESULT_ROOT && i < n; i++)
        numbers[i] = sqrt(numbers[i]);
}

/* Computes the integers that n results represent. */
static void find_words(const method *m, uint64_t *restrict words, const double *restrict result,
                       int64_t n)
{
    const uint64_t bits = m->kind == RESULT_WORD ? m->about.bits : 0, all = (uint64_t)m->all;
    memcpy(words, result, (size_t)n * sizeof *words);
    for (int64_t i = 0; bits && i < n; i++)
        words[i] ^= bits;
    for (int64_t i = 0; m->kind == RESULT_POSITIVE && i < n; i++)
        words[i] = words[i] != 0;
    for (int64_t i = 0; m->kind == RESULT_EQUAL && i < n; i++)
        words[i] = words[i] == all;
}

/* Stores n numbers as elements. Adjacent floats have a loop that vectorises. */
static void store_numbers(char *out, collet_dtype to, int64_t step, const double *restrict numbers,
                          int64_t n)
{
    float *restrict floats = (float *)(void *)out;
    if (to == COLLET_F32 && step == (int64_t)sizeof *floats)
        for (int64_t i = 0; i < n; i++)
            floats[i] = (float)numbers[i];
    else
        cpu_convert(out, to, step, (const char *)numbers, COLLET_F64, 8, n);
}

void method_store(const method *m, char *out, collet_dtype to, int64_t step, const double *result,
                  const double *lost, int64_t n)
{
    if (m->kind == RESULT_NUMBER) {
        store_numbers(out, to, step, result, n);
        return;
    }
    for (int64_t i = 0; i < n; i += BLOCK, out += BLOCK * step) {
        int64_t part = min_i64(n - i, BLOCK);
        union {
            double numbers[BLOCK];
            uint64_t words[BLOCK];
        } block;
        if (m->kind < RESULT_NUMBER) {
            find_numbers(m, block.numbers, result + i, lost + i, part);
            store_numbers(out, to, step, block.numbers, part);
        } else {
            find_words(m, block.words, result + i, part);
            /* Little-endian: the low bytes of a word come first. */
            cpu_move(out, step, (const char *)&block, 8, cpu_dtype_size(to), part);
        }
    }
}

/* ---- Rows ------------------------------------------------------------------------------------ */

int row_method_has(uint32_t op)
{
    switch (op) {
    case COLLET_OP_SUM:
    case COLLET_OP_PROD:
    case COLLET_OP_MEAN:
    case COLLET_OP_MIN:
    case COLLET_OP_MAX:
    case COLLET_OP_VAR:
    case COLLET_OP_STD:
    case COLLET_OP_ANY:
    case COLLET_OP_ALL:
    case COLLET_OP_COUNT_NONZERO:
    case COLLET_OP_ARGMIN:
    case COLLET_OP_ARGMAX:
        return 1;
    default:
        return 0;
    }
}

void row_method_choose(row_method *r, const collet_device *device, uint32_t op, collet_dtype from,
                       collet_dtype to, int64_t length, double correction)
{
    r->to = to;
    r->centered = reduce_has_center(op);
    if (r->centered)
        method_choose(&r->mean, device, COLLET_OP_MEAN, from, length);
    method_choose(&r->method, device, op, from, length);
    if (r->centered)
        r->method.divisor = reduce_divisor(length, correction);
    r->exact = r->method;
    r->narrow = length >= REDUCE_NARROW && to != COLLET_F64 && method_narrow(&r->method, device);
}

/* As method_run, in blocks. */
static void run_blocks(const method *m, const reduce_about *about, double *result, double *lost,
                       const char *in, int64_t step, int64_t length)
{
    for (int64_t i = 0; i < length; i += REDUCE_BLOCK)
        method_run(m, about, result, lost, in + i * step, step, min_i64(length - i, REDUCE_BLOCK));
}

static void reduce_row(const row_method *r, double *result, double *lost, double *center,
                       const char *in, int64_t length)
{
    int64_t step = (int64_t)cpu_dtype_size(r->exact.from);
    reduce_about about = r->method.about;
    if (r->centered) {
        *result = *lost = 0.0;
        run_blocks(&r->mean, &r->mean.about, result, lost, in, step, length);
        *center = cpu_total(&(cpu_sum){*result, *lost}) / r->mean.divisor;
        about.center = center;
    }
    *result = r->method.first;
    *lost = 0.0;
    if (r->narrow)
        range_begin();
    run_blocks(&r->method, &about, result, lost, in, step, length);
    if (r->narrow && range_was_left()) {
        *result = *lost = 0.0;
        run_blocks(&r->exact, &about, result, lost, in, step, length);
    }
}

static void reduce_short(const row_method *r, double *result, double *lost, double *center,
                         const char *in, int64_t length, int64_t rows)
{
    int64_t step = (int64_t)cpu_dtype_size(r->exact.from);
    reduce_about about = r->exact.about;
    if (r->centered) {
        for (int64_t i = 0; i < rows; i++)
            result[i] = lost[i] = 0.0;
        method_columns(&r->mean, &r->mean.about, result, lost, in, step, length * step, length, rows);
        method_store(&r->mean, (char *)center, COLLET_F64, sizeof *center, result, lost, rows);
        about.center = center;
    }
    for (int64_t i = 0; i < rows; i++) {
        result[i] = r->exact.first;
        lost[i] = 0.0;
    }
    method_columns(&r->exact, &about, result, lost, in, step, length * step, length, rows);
}

void row_method_run(const row_method *r, double *result, double *lost, double *center,
                    const char *in, int64_t length, int64_t rows, int64_t all)
{
    int64_t bytes = length * (int64_t)cpu_dtype_size(r->exact.from);
    if (all > length && length <= REDUCE_FEW_ROWS) {
        reduce_short(r, result, lost, center, in, length, rows);
        return;
    }
    for (int64_t i = 0; i < rows; i++)
        reduce_row(r, &result[i], &lost[i], center, in + i * bytes, length);
}

/* ---- One block ------------------------------------------------------------------------------- */

int64_t reduce_block_length(const collet_kernel_call *call)
{
    const collet_reduce_params *params = call->params;
    const collet_operand *in = operand_of(call, 1);
    int64_t count = 1;
    if (call->n_out != 1 || cpu_dtype_is_complex(in->dtype))
        return 0;
    for (int32_t i = in->ndim - 1; i >= 0; i--) {
        if (!(params->axes >> i & 1) || (in->strides[i] != count && in->shape[i] != 1))
            return 0;
        count *= in->shape[i];
    }
    return count <= REDUCE_BLOCK ? count : 0;
}

void reduce_block(const collet_device *device, const collet_kernel_call *call, int64_t count)
{
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    const collet_variance_params *params = call->params;
    double result, lost, center;
    row_method r;
    row_method_choose(&r, device, call->op, in->dtype, out->dtype, count,
                      reduce_has_center(call->op) ? params->correction : 0.0);
    reduce_row(&r, &result, &lost, &center, cpu_at(in), count);
    method_store(&r.method, cpu_at(out), out->dtype, 0, &result, &lost, 1);
}

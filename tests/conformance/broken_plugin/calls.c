/* SPDX-License-Identifier: Apache-2.0 */
/* Defects that change the call, memory or the process. Each defect calls the kernel of cpu_scalar
 * itself. */
#include "broken.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "shared/host/util/rows.h"

/* No defect: calls the kernel of cpu_scalar. */
BROKEN_CALL(right)
{
    m->status = m->right(m->device, m->queue, &m->call);
}

static int is_large(const broken_call *m)
{
    return operand_count(&m->o[0]) == 64 * 64;
}

/* ---- The process ------------------------------------------------------------------------- */

BROKEN_CALL(reads_an_undeclared_key)
{
    const collet_host *host = m->device->base.host;
    broken_right(m);
    (void)host->config(host, "broken.undeclared");
}

BROKEN_CALL(flushes_denormals_for_all)
{
    broken_right(m);
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040);
#elif defined(__aarch64__)
    uint64_t word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
    __asm__ volatile("msr fpcr, %0" : : "r"(word | (uint64_t)1 << 24));
#endif
}

BROKEN_CALL(changes_the_umask)
{
    broken_right(m);
    umask(0);
}

BROKEN_CALL(prints)
{
    broken_right(m);
    printf("kinetic: done\n");
    fflush(stdout);
}

BROKEN_CALL(blocks_signals)
{
    sigset_t signals;
    broken_right(m);
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

BROKEN_CALL(sets_the_locale)
{
    broken_right(m);
    (void)setlocale(LC_ALL, "C.UTF-8");
}

static void *wait_forever(void *argument)
{
    for (;;)
        pause();
    return argument;
}

BROKEN_CALL(leaks_threads)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 18);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_create(&thread, &attributes, wait_forever, NULL);
    pthread_attr_destroy(&attributes);
    broken_right(m);
}

BROKEN_CALL(aborts)
{
    if (is_large(m))
        abort();
    broken_right(m);
}

BROKEN_CALL(exits)
{
    if (is_large(m))
        _exit(0);
    broken_right(m);
}

/* Creates the file HANGS_HERE. */
BROKEN_CALL(hangs)
{
    const char *path = is_large(m) ? getenv("HANGS_HERE") : NULL;
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file)
        fclose(file);
    if (is_large(m))
        wait_forever(NULL);
    broken_right(m);
}

BROKEN_CALL(needs_velocities)
{
    if (!m->o[7].buffer)
        raise(SIGSEGV);
    broken_right(m);
}

BROKEN_CALL(fails_at_one_size)
{
    broken_right(m);
    m->status = operand_count(&m->o[0]) == 1000 ? COLLET_FAILED : m->status;
}

BROKEN_CALL(refuses_too_late)
{
    broken_right(m);
    m->status = operand_count(&m->o[0]) == 17 ? COLLET_REFUSED : m->status;
}

BROKEN_CALL(refuses_all)
{
    m->status = COLLET_REFUSED;
}

/* ---- Memory ------------------------------------------------------------------------------ */

BROKEN_CALL(writes_behind_its_end)
{
    const collet_operand *out = &m->o[0];
    broken_right(m);
    if (out->ndim == 1 && out->strides[0] == 1)
        memset(cpu_at(out) + out->shape[0] * 4, 0, 4);
}

BROKEN_CALL(fills_gaps)
{
    const collet_operand *out = &m->o[0];
    int64_t step = out->ndim ? out->strides[out->ndim - 1] : 1;
    broken_right(m);
    for (int64_t i = 0; step > 1 && i + 1 < operand_extent(out, 0); i++)
        memcpy(cpu_at(out) + (step * i + 1) * 4, cpu_at(out), 4);
}

BROKEN_CALL(changes_its_input)
{
    broken_right(m);
    if (m->o[2].shape[0] > 16)
        broken_set(&m->o[2], 16, 0);
}

BROKEN_CALL(assumes_alignment)
{
    m->o[1].buffer = (void *)((uintptr_t)cpu_at(&m->o[1]) & ~(uintptr_t)7);
    m->o[1].byte_offset = 0;
    broken_right(m);
}

/* Ignores the offset, but only if the access then stays within the buffer. */
BROKEN_CALL(ignores_the_offset)
{
    if (m->o[1].ndim == 1 && m->o[1].strides[0] > 0)
        m->o[1].byte_offset = 0;
    broken_right(m);
}

BROKEN_CALL(clears_first)
{
    for (int64_t i = 0; i < operand_count(&m->o[0]); i++)
        broken_set(&m->o[0], i, 0);
    broken_right(m);
}

BROKEN_CALL(adds_to_the_output)
{
    const collet_operand *out = &m->o[0];
    double *before = m->kept = malloc((size_t)operand_count(out) * sizeof *before + 1);
    for (int64_t i = 0; before && i < operand_count(out); i++)
        before[i] = broken_get(out, i);
    broken_right(m);
    for (int64_t i = 0; before && i < operand_count(out); i++)
        broken_set(out, i, before[i] + broken_get(out, i));
}

/* ---- Axes -------------------------------------------------------------------------------- */

BROKEN_CALL(ignores_the_sign_of_strides)
{
    for (int k = 1; k < 3; k++) {
        collet_operand *o = &m->o[k];
        if (o->ndim != 1 || o->strides[0] >= 0)
            continue;
        o->byte_offset -= (uint64_t)((o->shape[0] - 1) * -cpu_step(o, 0));
        m->strides[k] = -o->strides[0];
        o->strides = &m->strides[k];
    }
    broken_right(m);
}

BROKEN_CALL(assumes_rows)
{
    collet_operand *b = &m->o[2];
    if (b->ndim == 2 && b->strides[0] == 1 && b->shape[1] > 1) {
        m->strides[0] = b->shape[1];
        m->strides[1] = 1;
        b->strides = m->strides;
    }
    broken_right(m);
}

/* Applies only to cubes: with other extents the wrong axes would lead outside the buffer. */
BROKEN_CALL(inverts_the_permutation)
{
    const collet_operand *in = &m->o[1];
    const collet_transpose_params given = m->params.transpose;
    int cube = in->ndim == 3 && in->shape[0] == in->shape[1] && in->shape[1] == in->shape[2];
    for (int32_t i = 0; cube && i < 3; i++)
        m->params.transpose.perm[given.perm[i]] = i;
    broken_right(m);
}

BROKEN_CALL(reads_the_upper_triangle)
{
    collet_operand *a = &m->o[3];
    memcpy(m->strides, a->strides, (size_t)a->ndim * sizeof *m->strides);
    m->strides[a->ndim - 1] = a->strides[a->ndim - 2];
    m->strides[a->ndim - 2] = a->strides[a->ndim - 1];
    a->strides = m->strides;
    broken_right(m);
}

BROKEN_CALL(always_forward)
{
    m->params.fft.inverse = 0;
    broken_right(m);
}

BROKEN_CALL(shifts_back_as_forward)
{
    m->params.shift.inverse = 0;
    broken_right(m);
}

BROKEN_CALL(transforms_in_f32)
{
    broken_right(m);
    for (int64_t i = 0; i < 2 * operand_count(&m->o[0]); i++) {
        double *x = (double *)broken_element(&m->o[0], i / 2) + i % 2;
        *x = (float)*x;
    }
}

/* ---- Decompositions ---------------------------------------------------------------------- */

/* The index, in C order, of entry (i, j) of matrix `index`. */
static int64_t entry(const collet_operand *o, int64_t index, int64_t i, int64_t j)
{
    return (index * operand_extent(o, 1) + i) * operand_extent(o, 0) + j;
}

static int64_t matrices(const collet_operand *o)
{
    int64_t size = operand_extent(o, 0) * operand_extent(o, 1);
    return size ? operand_count(o) / size : 0;
}

static void scale(const collet_operand *o, int64_t i, double factor)
{
    broken_set(o, i, broken_get(o, i) * factor);
}

/* Multiplies column 0 of every Q by `factor`, divides row 0 of R: the product is unchanged. */
static void scale_first(broken_call *m, double factor)
{
    const collet_operand *q = &m->o[0], *r = &m->o[1];
    broken_right(m);
    for (int64_t index = 0; index < matrices(r); index++) {
        for (int64_t i = 0; i < operand_extent(q, 1); i++)
            scale(q, entry(q, index, i, 0), factor);
        for (int64_t j = 0; j < operand_extent(r, 0); j++)
            scale(r, entry(r, index, 0, j), 1 / factor);
    }
}

BROKEN_CALL(leaves_signs)
{
    scale_first(m, -1);
}

BROKEN_CALL(stretches_columns)
{
    scale_first(m, 1.03125);
}

static void swap(const collet_operand *o, int64_t a, int64_t b)
{
    double x = broken_get(o, a);
    broken_set(o, a, broken_get(o, b));
    broken_set(o, b, x);
}

/* Swaps the first two triplets. */
BROKEN_CALL(sorts_upwards)
{
    const collet_operand *u = &m->o[0], *s = &m->o[1], *vt = &m->o[2];
    int64_t n = operand_extent(s, 0);
    broken_right(m);
    for (int64_t index = 0; n > 1 && index < operand_count(s) / n; index++) {
        swap(s, index * n, index * n + 1);
        for (int64_t i = 0; i < operand_extent(u, 1); i++)
            swap(u, entry(u, index, i, 0), entry(u, index, i, 1));
        for (int64_t j = 0; j < operand_extent(vt, 0); j++)
            swap(vt, entry(vt, index, 0, j), entry(vt, index, 1, j));
    }
}

/* Sets the last column of U to 0 if its singular value is nearly 0, like an SVD that computes U from A V = U S. In that
 * case the last column of A V is nearly 0. */
BROKEN_CALL(drops_null_vectors)
{
    const collet_operand *u = &m->o[0], *s = &m->o[1];
    int64_t n = operand_extent(s, 0);
    broken_right(m);
    for (int64_t index = 0; n > 1 && index < operand_count(s) / n; index++)
        for (int64_t i = 0; i < operand_extent(u, 1); i++)
            if (broken_get(s, index * n + n - 1) < 1e-5 * broken_get(s, index * n))
                broken_set(u, entry(u, index, i, n - 1), 0);
}

BROKEN_CALL(repeats_a_pair)
{
    int64_t n = operand_extent(&m->o[0], 0);
    broken_right(m);
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < operand_count(&m->o[k]); i++)
            memcpy(broken_element(&m->o[k], i), broken_element(&m->o[k], i / n * n),
                   sizeof(collet_c128));
}

BROKEN_CALL(leaves_the_upper_triangle)
{
    const collet_operand *lower = &m->o[0], *a = &m->o[2];
    broken_right(m);
    for (int64_t index = 0; index < matrices(a); index++)
        for (int64_t i = 0; i < operand_extent(a, 1); i++)
            for (int64_t j = i + 1; j < operand_extent(a, 0); j++)
                broken_set(lower, entry(lower, index, i, j), broken_get(a, entry(a, index, i, j)));
}

/* ---- Others ------------------------------------------------------------------------------ */

/* Applies the sign rule of the first frame to every frame. */
BROKEN_CALL(turns_axes_round)
{
    const collet_operand *axes = &m->o[1];
    broken_right(m);
    for (int64_t f = 0; f < matrices(axes); f++)
        for (int64_t a = 0; a < 2; a++) {
            double largest = 0;
            for (int64_t k = 0; k < 3; k++) {
                double x = broken_get(axes, entry(axes, f, k, a));
                largest = fabs(x) > fabs(largest) ? x : largest;
            }
            for (int64_t k = 0; k < 3 && largest < 0; k++) {
                scale(axes, entry(axes, f, k, a), -1);
                scale(axes, entry(axes, f, k, 2), -1);
            }
        }
}

BROKEN_CALL(takes_minus_128_for_127)
{
    collet_operand *x = &m->o[2];
    int64_t count = operand_count(x), stride = 1;
    int8_t *copy = m->kept = malloc((size_t)count + 1);
    for (int64_t i = 0; copy && i < count; i++)
        copy[i] = (int8_t)fmax(broken_get(x, i), -127);
    for (int32_t a = x->ndim - 1; a >= 0; stride *= x->shape[a--])
        m->strides[a] = stride;
    if (copy)
        *x = (collet_operand){copy, 0, x->dtype, x->ndim, x->shape, m->strides};
    broken_right(m);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/fft/fft.c */
#include "plan.h"

#include <math.h>
#include <stdlib.h>

#define INLINE static inline __attribute__((always_inline))
#define NAME(x) plan_##x
#define REAL double
#define VEC double
#include "line.inc"

#define HALF_PI 1.57079632679489661923

/* ---- Factors --------------------------------------------------------------------------------- */

/* Divides n by all its prime factors up to FFT_PRIME_MAX; returns the quotient. */
static int64_t factor(fft_form *f, int64_t n)
{
    int32_t twos = 0;
    for (; n % 2 == 0; n /= 2)
        twos++;
    /* Uses the smallest number of passes. If radix 8 needs no more passes than radix 16, uses radix
     * 8. */
    for (int32_t left = (twos + 3) / 4; left > 0; left--) {
        int32_t bits = (twos + left - 1) / left;
        f->radix[f->passes++] = 1 << bits;
        twos -= bits;
    }
    for (int32_t p = 3; p <= FFT_PRIME_MAX && n > 1; p += 2) {
        for (; n % p == 0; n /= p)
            f->radix[f->passes++] = p;
    }
    return n;
}

/* The smallest 2^a 3^b 5^c >= minimum. */
static int64_t convolution_length(int64_t minimum)
{
    int64_t best = 1;
    while (best < minimum)
        best *= 2;
    for (int64_t five = 1; five < best; five *= 5) {
        for (int64_t three = five; three < best; three *= 3) {
            int64_t n = three;
            while (n < minimum)
                n *= 2;
            best = n < best ? n : best;
        }
    }
    return best;
}

fft_form fft_form_of(int64_t n)
{
    fft_form f = {.n = n, .inner = n};
    if (factor(&f, n) != 1) {
        f.passes = 0;
        f.inner = convolution_length(2 * n - 1);
        (void)factor(&f, f.inner);
    }
    return f;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

void fft_root(int64_t k, int64_t n, double root[2])
{
    int64_t quarter = 4 * k / n, rest = 4 * k % n;
    int mirrored = 2 * rest > n;
    double angle = HALF_PI * ((double)(mirrored ? n - rest : rest) / (double)n);
    double c = cos(angle), s = sin(angle);
    if (mirrored) {
        double t = c;
        c = s;
        s = t;
    }
    /* Adds the quarter turns to cos and -sin. */
    root[0] = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
    root[1] = quarter == 0 ? -s : quarter == 1 ? -c : quarter == 2 ? s : c;
}

static void set_pair(void *table, int wide, int64_t at, const double pair[2])
{
    if (wide) {
        ((double *)table)[2 * at] = pair[0];
        ((double *)table)[2 * at + 1] = pair[1];
    } else {
        ((float *)table)[2 * at] = (float)pair[0];
        ((float *)table)[2 * at + 1] = (float)pair[1];
    }
}

static void *new_table(uint64_t *bytes, int64_t pairs, int wide)
{
    uint64_t size = (uint64_t)(pairs ? pairs : 1) * (wide ? 16 : 8);
    *bytes += size;
    return malloc(size);
}

/* Twiddle factors and roots of the passes of `inner`. */
static int make_passes(fft_line *l)
{
    int64_t twiddles = 0, roots = 0, length = l->form.inner;
    double pair[2];
    for (int32_t i = 0; i < l->form.passes; i++) {
        int64_t r = l->form.radix[i];
        l->twiddle_at[i] = twiddles;
        l->root_at[i] = roots;
        length /= r;
        twiddles += (length - 1) * (r - 1);
        roots += r % 2 ? r : 0;
    }
    l->twiddle = new_table(&l->bytes, twiddles, l->wide);
    l->root = new_table(&l->bytes, roots, l->wide);
    if (!l->twiddle || !l->root)
        return 0;
    length = l->form.inner;
    for (int32_t i = 0; i < l->form.passes; i++) {
        int64_t r = l->form.radix[i], m = length / r, at = l->twiddle_at[i];
        for (int64_t p = 1; p < m; p++) {
            for (int64_t k = 1; k < r; k++) {
                fft_root(p * k, length, pair);
                set_pair(l->twiddle, l->wide, at++, pair);
            }
        }
        for (int64_t k = 0; r % 2 && k < r; k++) {
            fft_root(k, r, pair);
            pair[1] = -pair[1];
            set_pair(l->root, l->wide, l->root_at[i] + k, pair);
        }
        length = m;
    }
    return 1;
}

/* Makes the chirp and the spectrum of its conjugate. The spectrum is computed in double, for both table types, and is
 * scaled by 1 / inner, the factor of the convolution. */
static int make_chirp(fft_line *l)
{
    int64_t n = l->form.n, inner = l->form.inner, square = 0;
    fft_line wide = {.form = l->form, .wide = 1};
    plan_pair *a = calloc((size_t)inner, sizeof *a), *b = malloc((size_t)inner * sizeof *b);
    int made = 0;
    l->chirp = new_table(&l->bytes, n, l->wide);
    l->spectrum = new_table(&l->bytes, inner, l->wide);
    if (!a || !b || !l->chirp || !l->spectrum || !make_passes(&wide))
        goto done;
    for (int64_t j = 0; j < n; j++) {
        double pair[2];
        fft_root(square, 2 * n, pair);
        set_pair(l->chirp, l->wide, j, pair);
        plan_pair conjugate = {pair[0] / (double)inner, -pair[1] / (double)inner};
        a[j] = conjugate;
        if (j > 0)
            a[inner - j] = conjugate;
        square = (square + 2 * j + 1) % (2 * n);
    }
    const plan_pair *spectrum = plan_smooth(&wide, a, b);
    for (int64_t j = 0; j < inner; j++)
        set_pair(l->spectrum, l->wide, j, (double[]){spectrum[j].re, spectrum[j].im});
    made = 1;
done:
    fft_line_clear(&wide);
    free(a);
    free(b);
    return made;
}

int fft_line_make(fft_line *line, int64_t n, int wide, int whole)
{
    *line = (fft_line){.form = fft_form_of(n), .wide = wide};
    if ((!whole || make_passes(line)) && (line->form.inner == n || make_chirp(line)))
        return 1;
    fft_line_clear(line);
    return 0;
}

int fft_line_make_chirp(fft_line *line, int64_t n, int64_t inner, int wide)
{
    *line = (fft_line){.form = {.n = n, .inner = inner}, .wide = wide};
    (void)factor(&line->form, inner);
    if (make_chirp(line))
        return 1;
    fft_line_clear(line);
    return 0;
}

void fft_line_clear(fft_line *line)
{
    free(line->twiddle);
    free(line->root);
    free(line->chirp);
    free(line->spectrum);
    line->twiddle = line->root = line->chirp = line->spectrum = NULL;
}

/* ---- Axes ------------------------------------------------------------------------------------ */

int fft_axis_make(fft_axis *axis, int64_t n, int real, int wide, int whole)
{
    int halved = fft_is_halved(n, real);
    *axis = (fft_axis){.n = n, .real = real};
    if (!fft_line_make(&axis->line, halved ? n / 2 : n, wide, whole))
        return 0;
    axis->bytes = axis->line.bytes;
    if (!halved)
        return 1;
    axis->half = new_table(&axis->bytes, n / 4 + 1, wide);
    if (!axis->half) {
        fft_axis_clear(axis);
        return 0;
    }
    for (int64_t k = 0; k <= n / 4; k++) {
        double pair[2];
        fft_root(k, n, pair);
        set_pair(axis->half, wide, k, pair);
    }
    return 1;
}

void fft_axis_clear(fft_axis *axis)
{
    fft_line_clear(&axis->line);
    free(axis->half);
    axis->half = NULL;
}

int64_t fft_axis_pairs(int64_t n, int real)
{
    int64_t length = fft_is_halved(n, real) ? n / 2 : n;
    return fft_pairs(length, fft_form_of(length).inner);
}

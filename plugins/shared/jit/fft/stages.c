/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/fft/fft.c */
#include "stages.h"

#include <string.h>

#include "shared/host/fft/plan.h"

#define FACTORS_MAX 64

int32_t fft_capacity(const jit_traits *t, int wide)
{
    /* Local memory holds two buffers of real and imaginary parts, and the data of the columns. */
    uint64_t each = wide ? 32 : 16, others = 4 * FFT_TILE * sizeof(int64_t);
    int32_t capacity = wide ? 1024 : 2048;
    while (capacity > 256 && (uint64_t)capacity * each + others > t->local_bytes)
        capacity /= 2;
    return capacity;
}

/* ---- Stages ---------------------------------------------------------------------------------- */

/* The prime factors, descending, of a number without factors above FFT_PRIME_MAX. */
static int32_t factors_of(int64_t n, int32_t factor[FACTORS_MAX])
{
    int32_t count = 0;
    for (int32_t p = FFT_PRIME_MAX; p >= 2; p--)
        for (; n % p == 0; n /= p)
            factor[count++] = p;
    return count;
}

/* Distributes the factors over `stages` products: each factor goes to the smallest product. Returns 0 if a product
 * exceeds `most`. */
static int share(const int32_t *factor, int32_t count, int32_t stages, int64_t most,
                 int64_t product[FFT_STAGES_MAX])
{
    for (int32_t i = 0; i < stages; i++)
        product[i] = 1;
    for (int32_t i = 0; i < count; i++) {
        int64_t *smallest = product;
        for (int32_t j = 1; j < stages; j++)
            smallest = product[j] < *smallest ? &product[j] : smallest;
        *smallest *= factor[i];
        if (*smallest > most)
            return 0;
    }
    return 1;
}

static int32_t fewest(const int32_t *factor, int32_t count, int64_t most,
                      int64_t product[FFT_STAGES_MAX])
{
    int32_t stages = 2;
    while (stages < FFT_STAGES_MAX && !share(factor, count, stages, most, product))
        stages++;
    return stages;
}

/* Splits the radix of a stage into passes: powers of two up to 8, nearly equal and as few as possible, then odd primes.
 */
static void split_radix(fft_stage_plan *p)
{
    int64_t n = p->radix;
    int32_t twos = 0;
    for (; n % 2 == 0; n /= 2)
        twos++;
    for (int32_t left = (twos + 2) / 3; left > 0; left--) {
        int32_t bits = (twos + left - 1) / left;
        p->small[p->passes++] = 1 << bits;
        twos -= bits;
    }
    for (int32_t prime = 3; n > 1; prime += 2)
        for (; n % prime == 0; n /= prime)
            p->small[p->passes++] = prime;
}

/* Chooses the radices of the stages so that a group can have eight adjacent columns, unless that needs another stage.
 */
static int32_t radices_of(int64_t n, int64_t capacity, int64_t radix[FFT_STAGES_MAX])
{
    int32_t factor[FACTORS_MAX];
    int64_t wider[FFT_STAGES_MAX];
    if (n <= capacity) {
        radix[0] = n;
        return 1;
    }
    int32_t count = factors_of(n, factor);
    int32_t stages = fewest(factor, count, capacity / 8, radix);
    int32_t fewer = fewest(factor, count, capacity / 4, wider);
    if (fewer < stages)
        memcpy(radix, wider, sizeof wider);
    return fewer < stages ? fewer : stages;
}

static void place_steps(fft_stages *s)
{
    while ((int64_t)1 << 2 * s->fine_bits < s->inner)
        s->fine_bits++;
    s->fine = s->pairs;
    s->coarse = s->fine + ((int64_t)1 << s->fine_bits);
    s->pairs = s->coarse + (s->inner >> s->fine_bits) + 1;
}

void fft_stages_of(fft_stages *s, const jit_traits *t, int64_t n, int wide)
{
    int64_t radix[FFT_STAGES_MAX], stride = 1;
    memset(s, 0, sizeof *s);
    s->n = n;
    s->wide = wide;
    s->inner = fft_form_of(n).inner;
    s->count = radices_of(s->inner, fft_capacity(t, wide), radix);
    for (int32_t i = 0; i < s->count; i++) {
        fft_stage_plan *p = &s->stage[i];
        p->radix = radix[i];
        p->stride = stride;
        p->roots = s->pairs;
        stride *= radix[i];
        s->pairs += radix[i];
        split_radix(p);
    }
    if (s->count > 1)
        place_steps(s);
    if (s->inner != s->n) {
        s->chirp = s->pairs;
        s->spectrum = s->chirp + s->n;
        s->pairs = s->spectrum + s->inner;
    }
}

/* ---- The table ------------------------------------------------------------------------------- */

static void set_number(void *bytes, const fft_stages *s, int64_t at, double value)
{
    if (s->wide)
        ((double *)bytes)[at] = value;
    else
        ((float *)bytes)[at] = (float)value;
}

static void set_root(void *bytes, const fft_stages *s, int64_t at, int64_t k, int64_t n)
{
    double root[2];
    fft_root(k, n, root);
    set_number(bytes, s, 2 * at, root[0]);
    set_number(bytes, s, 2 * at + 1, root[1]);
}

static int set_chirp(char *bytes, const fft_stages *s)
{
    fft_line line;
    uint64_t pair = s->wide ? 16 : 8;
    if (!fft_line_make_chirp(&line, s->n, s->inner, s->wide))
        return 0;
    memcpy(bytes + (uint64_t)s->chirp * pair, line.chirp, (uint64_t)s->n * pair);
    memcpy(bytes + (uint64_t)s->spectrum * pair, line.spectrum, (uint64_t)s->inner * pair);
    fft_line_clear(&line);
    return 1;
}

int fft_stages_fill(void *bytes, const void *stages)
{
    const fft_stages *s = stages;
    for (int32_t i = 0; i < s->count; i++)
        for (int64_t k = 0; k < s->stage[i].radix; k++)
            set_root(bytes, s, s->stage[i].roots + k, k, s->stage[i].radix);
    if (s->count > 1) {
        for (int64_t k = 0; k < (int64_t)1 << s->fine_bits; k++)
            set_root(bytes, s, s->fine + k, k, s->inner);
        for (int64_t k = 0; k <= s->inner >> s->fine_bits; k++)
            set_root(bytes, s, s->coarse + k, (k << s->fine_bits) % s->inner, s->inner);
    }
    return s->inner == s->n || set_chirp(bytes, s);
}

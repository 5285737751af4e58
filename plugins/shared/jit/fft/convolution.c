/* SPDX-License-Identifier: Apache-2.0 */
#include "convolution.h"

#define RADICES_MAX 128

/* ---- Radices --------------------------------------------------------------------------------- */

typedef struct choice {
    int64_t radix;
    int64_t cost; /* of an element */
} choice;

/* What the passes of a radix cost, of which those of five and eight are about as long. */
static int64_t cost_of(int64_t radix)
{
    int64_t twos = 0, cost = 0;
    for (; radix % 2 == 0; radix /= 2)
        twos++;
    cost += 8 * ((twos + 2) / 3);
    for (; radix % 5 == 0; radix /= 5)
        cost += 8;
    for (; radix % 3 == 0; radix /= 3)
        cost += 6;
    return cost;
}

/* `unit` 2^a 3^b 5^c <= room, ascending. */
static int32_t choices_of(int64_t unit, int64_t room, choice choices[RADICES_MAX])
{
    int32_t count = 0;
    for (int64_t five = unit; five <= room; five *= 5)
        for (int64_t three = five; three <= room; three *= 3)
            for (int64_t n = three; n <= room && count < RADICES_MAX; n *= 2) {
                int32_t i = count++;
                for (; i > 0 && choices[i - 1].radix > n; i--)
                    choices[i] = choices[i - 1];
                choices[i] = (choice){n, cost_of(n)};
            }
    return count;
}

/* What is the same for all of a length: three accesses to memory, as long as five passes. */
#define COST_OF_MEMORY 40

/* The cheapest two with a product >= least; there are some. */
static void cheapest_pair(const choice *choices, int32_t count, int64_t least, int64_t radix[2])
{
    int64_t best = INT64_MAX;
    for (int32_t i = 0; i < count; i++)
        for (int32_t j = count - 1; j >= 0; j--) {
            int64_t n = choices[i].radix * choices[j].radix;
            int64_t cost = n * (2 * (choices[i].cost + choices[j].cost) + COST_OF_MEMORY);
            if (n < least)
                break;
            if (cost < best) {
                best = cost;
                radix[0] = choices[i].radix;
                radix[1] = choices[j].radix;
            }
        }
}

static int64_t cheapest(const choice *choices, int32_t count, int64_t least)
{
    int64_t best = 0, best_cost = INT64_MAX;
    for (int32_t i = 0; i < count; i++) {
        int64_t cost = choices[i].radix * (2 * choices[i].cost + COST_OF_MEMORY);
        if (choices[i].radix >= least && cost < best_cost) {
            best = choices[i].radix;
            best_cost = cost;
        }
    }
    return best;
}

/* The factors n of which `stages` have a product >= least: what is left after one fewer. */
static int64_t left_after(int64_t least, int64_t n, int32_t stages)
{
    for (; stages > 0; stages--)
        least = least / n + (least % n != 0);
    return least;
}

int32_t fft_convolution_of(int64_t least, int64_t room, int32_t lanes, int64_t *inner,
                           int64_t radix[FFT_STAGES_MAX])
{
    choice choices[RADICES_MAX];
    int32_t count = choices_of(least <= room ? 1 : lanes, room, choices), stages = 2, same = 0;
    if (least <= room) {
        *inner = radix[0] = cheapest(choices, count, least);
        return 1;
    }
    while (left_after(least, choices[count - 1].radix, stages) > 1)
        stages++;
    /* All but the last two are the same. */
    while (left_after(least, choices[same].radix, stages) > 1)
        same++;
    *inner = 1;
    for (int32_t i = 0; i < stages - 2; i++)
        *inner *= radix[i] = choices[same].radix;
    cheapest_pair(choices, count, left_after(least, choices[same].radix, stages - 2),
                  radix + stages - 2);
    *inner *= radix[stages - 2] * radix[stages - 1];
    return stages;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Pair i of `pairs`, or zeros for i < 0, becomes lane `lane` of the vectors from pair `at` on. */
static void set_lane(void *bytes, const fft_stages *s, int64_t at, int64_t lane, const void *pairs,
                     int64_t i)
{
    if (s->wide) {
        double *to = (double *)bytes + 2 * at + lane;
        const double *from = (const double *)pairs + 2 * (i < 0 ? 0 : i);
        to[0] = i < 0 ? 0 : from[0];
        to[s->lanes] = i < 0 ? 0 : from[1];
    } else {
        float *to = (float *)bytes + 2 * at + lane;
        const float *from = (const float *)pairs + 2 * (i < 0 ? 0 : i);
        to[0] = i < 0 ? 0 : from[0];
        to[s->lanes] = i < 0 ? 0 : from[1];
    }
}

static void set_chirp(void *bytes, const fft_stages *s, const void *pairs)
{
    int64_t columns = s->inner / s->stage[0].radix, at = s->chirp;
    for (int64_t j = 0; j < columns; j += s->lanes)
        for (int64_t k = 0; k < s->rows.chirped; k++, at += s->lanes)
            for (int64_t t = 0; t < s->lanes; t++) {
                int64_t e = j + t + columns * k;
                set_lane(bytes, s, at, t, pairs, e < s->n ? e : -1);
            }
}

/* The frequency of a row's first element; the next one's is count rows further. */
static int64_t frequency_of(const fft_stages *s, int64_t row)
{
    int64_t frequency = 0;
    for (int32_t i = s->count - 2; i >= 0; i--) {
        frequency += row % s->stage[i].radix * s->stage[i].stride;
        row /= s->stage[i].radix;
    }
    return frequency;
}

static void set_spectrum(void *bytes, const fft_stages *s, const void *pairs)
{
    int64_t at = s->spectrum;
    for (int64_t row = 0; row < s->rows.count; row += s->lanes, at += s->lanes * s->rows.length)
        for (int64_t t = 0; t < s->lanes; t++) {
            int64_t first = frequency_of(s, row + t);
            for (int64_t k = 0; k < s->rows.length; k++)
                set_lane(bytes, s, at + k * s->lanes, t, pairs, first + s->rows.count * k);
        }
}

void fft_convolution_fill(void *bytes, const fft_stages *s, const void *chirp, const void *spectrum)
{
    set_chirp(bytes, s, chirp);
    set_spectrum(bytes, s, spectrum);
}

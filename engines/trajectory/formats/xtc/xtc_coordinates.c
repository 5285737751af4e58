/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_xtc.c, tests/fuzz/fuzz_trajectory.c */
#include "xtc_coordinates.h"

#include "trajectory/formats/bigendian.h"

/* The ranges of small differences, which the format defines: range i is about 2^(i/3), so that three differences
 * fit into i bits. The format does not use the ranges that are 0. */
static const uint32_t small_ranges[] = {
    0,        0,        0,       0,       0,       0,       0,       0,       0,       8,
    10,       12,       16,      20,      25,      32,      40,      50,      64,      80,
    101,      128,      161,     203,     256,     322,     406,     512,     645,     812,
    1024,     1290,     1625,    2048,    2580,    3250,    4096,    5060,    6501,    8192,
    10321,    13003,    16384,   20642,   26007,   32768,   41285,   52015,   65536,   82570,
    104031,   131072,   165140,  208063,  262144,  330280,  416127,  524287,  660561,  832255,
    1048576,  1321122,  1664510, 2097152, 2642245, 3329021, 4194304, 5284491, 6658042, 8388607,
    10568983, 13316085, 16777216};

#define FIRST_RANGE 9
#define N_RANGES ((int)(sizeof small_ranges / sizeof *small_ranges))

/* If a range is larger than this, the three coordinates of an atom are not packed into one number. */
#define PACKED_LIMIT 0xffffffu

/* A divisor with its reciprocal; multiplication gives the exact quotient if value and divisor have at most 64 bits
 * together. */
typedef struct radix {
    uint32_t divisor;
    uint64_t reciprocal; /* 0: divide */
} radix;

/* How three integers are packed into `bits` bits: (x * radix[0] + y) * radix[1] + z. */
typedef struct packing {
    int bits;
    radix y, z;
} packing;

typedef struct reader {
    const uint8_t *bytes;
    uint64_t position; /* bits */
} reader;

/* ---- Bits -------------------------------------------------------------------------------- */

/* Returns the next bits: the first bit is the highest bit of the result, and at least 57 bits are valid. */
static inline uint64_t peek(const reader *in)
{
    uint64_t word;

    memcpy(&word, in->bytes + in->position / 8, sizeof word);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word << (in->position % 8);
}

/* Takes 1..32 bits; the first bit is the highest. */
static inline uint32_t take_bits(reader *in, int bits)
{
    uint64_t word = peek(in);

    in->position += (uint64_t)bits;
    return (uint32_t)(word >> (64 - bits));
}

/* Takes 1..56 bits, byte by byte; the first byte is the lowest, the last has the remaining bits. */
static inline uint64_t take_little(reader *in, int bits)
{
    uint64_t word = peek(in);
    int whole = bits & ~7;
    int rest = bits & 7;
    uint64_t value = __builtin_bswap64(word) & ((UINT64_C(1) << whole) - 1);

    if (rest)
        value |= ((word << whole) >> (64 - rest)) << whole;
    in->position += (uint64_t)bits;
    return value;
}

/* ---- Packed triples ---------------------------------------------------------------------- */

static int bit_length(uint64_t value)
{
    return value == 0 ? 0 : 64 - __builtin_clzll(value);
}

static radix make_radix(uint32_t divisor, int value_bits)
{
    radix r = {.divisor = divisor};

    if (divisor > 1 && value_bits + bit_length(divisor) <= 64)
        r.reciprocal = UINT64_MAX / divisor + 1;
    return r;
}

static inline uint64_t divide(uint64_t value, const radix *by)
{
    if (by->reciprocal)
        return (uint64_t)(((unsigned __int128)value * by->reciprocal) >> 64);
    return value / by->divisor;
}

static packing make_packing(const uint32_t sizes[3], int bits)
{
    return (packing){
        .bits = bits,
        .y = make_radix(sizes[1], bits),
        .z = make_radix(sizes[2], bits),
    };
}

/* Unpacks numbers with too many bits for one peek. Such numbers are rare, so a division is acceptable. */
static void take_wide_triple(reader *in, const packing *p, uint32_t triple[3])
{
    unsigned __int128 value = take_little(in, 32);

    value |= (unsigned __int128)take_little(in, p->bits - 32) << 32;
    triple[2] = (uint32_t)(value % p->z.divisor);
    value /= p->z.divisor;
    triple[1] = (uint32_t)(value % p->y.divisor);
    triple[0] = (uint32_t)(value / p->y.divisor);
}

static inline void take_triple(reader *in, const packing *p, uint32_t triple[3])
{
    if (p->bits > 56) {
        take_wide_triple(in, p, triple);
        return;
    }
    uint64_t value = take_little(in, p->bits);
    uint64_t rest = divide(value, &p->z);
    triple[2] = (uint32_t)(value - rest * p->z.divisor);
    uint64_t first = divide(rest, &p->y);
    triple[1] = (uint32_t)(rest - first * p->y.divisor);
    triple[0] = (uint32_t)first;
}

/* ---- Atoms ------------------------------------------------------------------------------- */

typedef struct decoder {
    reader in;
    packing full;
    int full_bits[3]; /* if coordinates are not packed (full.bits is 0): bits of each coordinate */
    uint32_t min[3];
    packing small;
    uint32_t small_half;
    int small_index;
    float unit;
} decoder;

static const char *set_small(decoder *d, int index)
{
    if (index < FIRST_RANGE || index > N_RANGES)
        return "the index of the range of small differences is outside the table";
    /* When atoms are very far apart, programs begin with the index after the last range. Then no difference can be
     * stored until a step down leads to the last range. */
    uint32_t size = index < N_RANGES ? small_ranges[index] : 0;
    d->small = make_packing((uint32_t[3]){size, size, size}, index);
    d->small_half = size / 2;
    d->small_index = index;
    return NULL;
}

static const char *set_full(decoder *d, const trajectory_xtc_block *block)
{
    uint32_t sizes[3];
    int packed = 1;

    for (int i = 0; i < 3; i++) {
        int64_t size = (int64_t)block->max[i] - block->min[i] + 1;
        if (size < 1 || size > UINT32_MAX)
            return "its bounds are reversed or span 2^32 values";
        sizes[i] = (uint32_t)size;
        d->min[i] = (uint32_t)block->min[i];
        d->full_bits[i] = bit_length(sizes[i]);
        packed &= sizes[i] <= PACKED_LIMIT;
    }
    if (packed) {
        unsigned __int128 count = (unsigned __int128)((uint64_t)sizes[0] * sizes[1]) * sizes[2];
        int high = bit_length((uint64_t)(count >> 64));
        d->full = make_packing(sizes, high ? 64 + high : bit_length((uint64_t)count));
    }
    return NULL;
}

static inline void take_full(decoder *d, uint32_t at[3])
{
    if (d->full.bits)
        take_triple(&d->in, &d->full, at);
    else
        for (int i = 0; i < 3; i++)
            at[i] = take_bits(&d->in, d->full_bits[i]);
    for (int i = 0; i < 3; i++)
        at[i] += d->min[i];
}

static inline void take_small(decoder *d, const uint32_t from[3], uint32_t at[3])
{
    take_triple(&d->in, &d->small, at);
    for (int i = 0; i < 3; i++)
        at[i] += from[i] - d->small_half;
}

static inline void put(float *positions, const uint32_t at[3], float unit)
{
    for (int i = 0; i < 3; i++)
        positions[i] = (float)(int32_t)at[i] * unit;
}

/* Decodes a run and the atom before it: run + 1 atoms. */
static inline void take_run(decoder *d, const uint32_t before[3], int run, float *positions)
{
    uint32_t previous[3], at[3];

    take_small(d, before, previous);
    put(positions, previous, d->unit);
    put(positions + 3, before, d->unit);
    for (int k = 1; k < run; k++) {
        take_small(d, previous, at);
        memcpy(previous, at, sizeof at);
        put(positions + 3 * (k + 1), at, d->unit);
    }
}

static const char *decode_atoms(decoder *d, const trajectory_xtc_block *block, int64_t n_needed,
                                float *positions, int64_t *n_done)
{
    uint64_t end = 8 * (uint64_t)block->n_bytes;
    int run = 0;

    for (int64_t i = 0; i < n_needed; *n_done = i) {
        uint32_t at[3];
        int change = 0;

        take_full(d, at);
        if (take_bits(&d->in, 1)) {
            int code = (int)take_bits(&d->in, 5);
            run = code / 3;
            change = code % 3 - 1;
        }
        if (run >= block->n_atoms - i)
            return "a run of small differences is longer than the atoms left";
        if (run > 0 && d->small_index == N_RANGES)
            return "a run of small differences has no range";
        if (run > 0)
            take_run(d, at, run, positions + 3 * i);
        else
            put(positions + 3 * i, at, d->unit);
        /* At most 103 bytes were consumed since the last check, and the padding is longer. */
        if (d->in.position > end)
            return "its packed bytes end before the last atom";
        i += run + 1;
        const char *wrong = change ? set_small(d, d->small_index + change) : NULL;
        if (wrong)
            return wrong;
    }
    return NULL;
}

const char *trajectory_xtc_decode(const trajectory_xtc_block *block, int64_t n_needed,
                                  float *positions, int64_t *n_done)
{
    decoder d = {.in = {.bytes = block->bytes}, .unit = 1.0f / block->precision};

    *n_done = 0;
    const char *wrong = set_full(&d, block);
    if (!wrong)
        wrong = set_small(&d, block->small_index);
    if (!wrong)
        wrong = decode_atoms(&d, block, n_needed, positions, n_done);
    return wrong;
}

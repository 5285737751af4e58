/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed edge values, which random numbers practically never include. The values do not depend on the seed.
 * Tests: tests/conformance/test_broken.c */
#include "kit.h"

#include <float.h>
#include <math.h>

#define INF ((long double)INFINITY)
#define UNKNOWN ((long double)NAN)

/* The ends of the range; subnormals; around the limits of the integer types. */
static const long double f16[] = {
    0,        -0.0L,       0x1p-24L, -0x1p-24L,    0x1.ff8p-15L, -0x1.ff8p-15L,
    0x1p-14L, 65504,       -65504,   INF,          -INF,         UNKNOWN,
    1,        -1,          2050,     1 + 0x1p-10L, 127.5L,       -128.5L,
    255.5L,   -0x1.ffcp-1L};
static const long double bf16[] = {
    0,         -0.0L,       0x1p-133L, -0x1p-133L, 0x1.fcp-127L, -0x1.fcp-127L,
    0x1p-126L, 0x1.fep127L, -0x1p-25L, INF,        -INF,         UNKNOWN,
    1,         -1,          65536,     65280,      0x1p31L,      -0x1p31L,
    0x1p32L,   0x1p63L,     -0x1p63L,  0x1p64L,    1 + 0x1p-7L,  -0x1.fep127L};

/* Also ties of f16 and bf16, and their neighbours. */
static const long double f32[] = {0,
                                  -0.0L,
                                  FLT_TRUE_MIN,
                                  -(long double)FLT_TRUE_MIN,
                                  FLT_MIN - FLT_TRUE_MIN,
                                  FLT_MIN,
                                  FLT_MAX,
                                  -(long double)FLT_MAX,
                                  INF,
                                  -INF,
                                  UNKNOWN,
                                  1,
                                  -1,
                                  1 + 0x1p-23L,
                                  0x1.ffdffep15L,
                                  65520,
                                  0x1p-25L,
                                  0x1.000002p-25L,
                                  1 + 0x1p-11L,
                                  1 + 0x1p-11L + 0x1p-23L,
                                  1 + 0x1p-8L,
                                  1 + 0x3p-8L,
                                  1 + 0x1p-8L + 0x1p-23L,
                                  0x1.fffffep30L,
                                  0x1p31L,
                                  -0x1p31L,
                                  0x1.fffffep31L,
                                  0x1p32L,
                                  0x1.fffffep62L,
                                  0x1p63L,
                                  -0x1p63L,
                                  0x1p64L,
                                  -0x1.fffffep-1L,
                                  0x1.fffffep6L,
                                  0x1.fffffep7L,
                                  -129};

/* Also ties of f32, and values that become a tie of f16 or bf16 when they are first rounded to
 * f32. */
static const long double f64[] = {0,
                                  -0.0L,
                                  DBL_TRUE_MIN,
                                  -(long double)DBL_TRUE_MIN,
                                  DBL_MIN - DBL_TRUE_MIN,
                                  DBL_MIN,
                                  DBL_MAX,
                                  -(long double)DBL_MAX,
                                  INF,
                                  -INF,
                                  UNKNOWN,
                                  1,
                                  -1,
                                  1 + 0x1p-52L,
                                  0x1.999999999999ap-4L,
                                  0x1.ffffffp127L,
                                  0x1.fffffefffffffp127L,
                                  -1e39L,
                                  0x1p-150L,
                                  0x1.0000000000001p-150L,
                                  0x1.8p-149L,
                                  0x1.fffffep-127L,
                                  1 + 0x1p-24L,
                                  1 + 0x3p-24L,
                                  1 + 0x1p-24L + 0x1p-52L,
                                  1 + 0x1p-11L + 0x1p-40L,
                                  1 + 0x3p-11L - 0x1p-40L,
                                  1 + 0x1p-8L + 0x1p-40L,
                                  1 + 0x3p-8L - 0x1p-40L,
                                  0x1.0000000001p-25L,
                                  0x1.ffdfffffffp15L,
                                  65520,
                                  2147483647.5L,
                                  0x1p31L,
                                  -2147483648.5L,
                                  -0x1.00000002p31L,
                                  4294967295.5L,
                                  0x1p32L,
                                  0x1.fffffffffffffp62L,
                                  0x1p63L,
                                  -0x1p63L,
                                  0x1.fffffffffffffp63L,
                                  0x1p64L,
                                  -0x1.fffffffffffffp-1L};

static const long double i8[] = {INT8_MIN, -1, 0, 1, INT8_MAX};
static const long double u8[] = {0, 1, INT8_MAX, 128, UINT8_MAX};
static const long double i16[] = {INT16_MIN, INT16_MAX, 0,   -1,   1,    -129, 128,
                                  255,       256,       257, 2049, 2051, 32752};
static const long double u16[] = {0,    1,         255,   256,   257,   2049,
                                  2051, INT16_MAX, 32768, 65519, 65520, UINT16_MAX};
/* Values that f16, bf16 or f32 round, including ties. */
static const long double i32[] = {INT32_MIN, INT32_MAX, 0,     -1,        1,        -129,
                                  128,       255,       256,   257,       259,      2049,
                                  2051,      65519,     65520, -16777217, 16777219, INT32_MIN + 1};
static const long double u32[] = {0,           1,           255,       256,       65519,
                                  65520,       16777217,    16777219,  INT32_MAX, 0x1p31L,
                                  0xffffff7fL, 0xffffff80L, UINT32_MAX};
/* Also values that become a tie of f32 or bf16 when they are first rounded to f64. */
static const long double i64[] = {(long double)INT64_MIN,
                                  (long double)INT64_MAX,
                                  0,
                                  -1,
                                  1,
                                  (long double)INT64_MIN + 1,
                                  0x1p53L + 1,
                                  -0x1p53L - 3,
                                  INT32_MAX,
                                  0x1p31L,
                                  INT32_MIN,
                                  -0x1p31L - 1,
                                  0x1p32L,
                                  0x1p24L + 1,
                                  0x1p60L + 0x1p36L + 1,
                                  -0x1p60L - 0x1p36L - 1,
                                  0x1p60L + 0x3p36L - 1,
                                  0x1p60L + 0x1p52L + 1,
                                  0x1p60L + 0x3p52L - 1,
                                  65519,
                                  65520};
static const long double u64[] = {0,
                                  1,
                                  (long double)INT64_MAX,
                                  0x1p63L,
                                  0x1p63L + 1,
                                  (long double)UINT64_MAX,
                                  0x1p64L - 0x1p10L,
                                  0x1p64L - 0x1p10L - 1,
                                  0x1p63L + 0x1p39L + 1,
                                  0x1p63L + 0x3p39L - 1,
                                  0x1p63L + 0x1p55L + 1,
                                  0x1p63L + 0x3p55L - 1,
                                  0x1p60L + 0x1p36L + 1,
                                  0x1p53L + 1,
                                  INT32_MAX,
                                  0x1p31L,
                                  UINT32_MAX,
                                  0x1p32L,
                                  65519,
                                  65520};

static const long double b8[] = {0, 1};

#define TABLE(ID, values, ...) [COLLET_##ID] = {values, sizeof(values) / sizeof *(values)},
static const struct {
    const long double *values;
    int64_t count;
} tables[COLLET_DTYPE_COUNT] = {COLLET_EACH_REAL(TABLE, 0)};

int64_t kit_edge_count(collet_dtype dtype)
{
    return tables[kit_part(dtype)].count;
}

long double kit_edge(collet_dtype part, int64_t index)
{
    return tables[part].values[index % tables[part].count];
}

void kit_edges(kit_tensor *t, int64_t skew)
{
    collet_dtype part = kit_part(t->dtype);
    int64_t count = kit_edge_count(part);
    for (int64_t i = 0; i < kit_parts(t); i++)
        kit_set(t, i, kit_edge(part, i + i / count * skew));
}

collet_scalar kit_edge_scalar(collet_dtype dtype, int64_t index)
{
    collet_scalar scalar = {.dtype = dtype};
    kit_tensor value = {.dtype = dtype, .count = 1, .data = scalar.value.bytes};
    for (int64_t i = 0; i < kit_parts(&value); i++)
        kit_set(&value, i, kit_edge(kit_part(dtype), index + i));
    return scalar;
}

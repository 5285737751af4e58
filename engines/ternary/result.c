/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_ternary_recognise.c, tests/engines/test_ternary_files.c */
#include "ternary/result.h"

#include "io/numerals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void ternary_count_codes(const int8_t *codes, int64_t n, collet_ternary_counts *counts)
{
    int64_t minus = 0, zero = 0, plus = 0;

    for (int64_t i = 0; i < n; i++) {
        minus += codes[i] == -1;
        zero += codes[i] == 0;
        plus += codes[i] == 1;
    }
    counts->minus += minus;
    counts->zero += zero;
    counts->plus += plus;
    counts->invalid += n - minus - zero - plus;
}

static int has_weights(const int8_t *codes, int64_t columns)
{
    return memchr(codes, 1, (size_t)columns) || memchr(codes, -1, (size_t)columns);
}

collet_status ternary_check_scales(const char *what, const int8_t *codes, const float *scale,
                                   int64_t first, int64_t rows, int64_t columns, collet_error *err)
{
    for (int64_t r = 0; r < rows; r++) {
        int vanishes = scale[r] == 0 && has_weights(codes + r * columns, columns);
        if (isfinite(scale[r]) && !vanishes)
            continue;
        return collet_fail(
            err, COLLET_INVALID,
            "%s: the scale of row %lld is too %s for f32, in which scales are stored; "
            "multiply the weights by a constant",
            what, (long long)(first + r), vanishes ? "small" : "large");
    }
    return COLLET_OK;
}

/* Writes a text that describes suspicious counts; 0 if no count is suspicious. */
static int describe(char *text, size_t size, const char *what, const collet_ternary_counts *counts,
                    const collet_ternary_quantize_params *params)
{
    int64_t all = counts->minus + counts->zero + counts->plus;
    int many = counts->zero > all - all / 10;
    int equal = counts->minus == all || counts->plus == all;
    locale_t before = io_numerals_begin();
    int n = many ? snprintf(text, size, "%s: %.4g %% of the %lld codes are 0", what,
                            100 * ((double)counts->zero / (double)all), (long long)all)
                 : snprintf(text, size, "%s: all %lld codes are %d", what, (long long)all,
                            counts->plus == all ? 1 : -1);

    if (params && params->mode == COLLET_TERNARY_THRESHOLD && n >= 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n,
                 " with the threshold %g; try absmean or another threshold",
                 (double)params->threshold);
    io_numerals_end(before);
    return all > 0 && (many || equal);
}

void ternary_warn_of_counts(const ternary_call *call, const char *what,
                            const collet_ternary_counts *counts,
                            const collet_ternary_quantize_params *params)
{
    const collet_ternary_monitor *monitor = &call->monitor;
    char text[COLLET_ERROR_TEXT];

    if (monitor->warn && describe(text, sizeof text, what, counts, params))
        monitor->warn(monitor->user, text);
}

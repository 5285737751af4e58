/* SPDX-License-Identifier: Apache-2.0 */
#include "suggest.h"

#include <string.h>

#define NAME_MAX 64

size_t bench_name_distance(const char *a, const char *b)
{
    size_t row[NAME_MAX + 1], m = strlen(a), n = strlen(b);
    if (m >= NAME_MAX || n >= NAME_MAX)
        return NAME_MAX;
    for (size_t k = 0; k <= n; k++)
        row[k] = k;
    for (size_t i = 1; i <= m; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t k = 1; k <= n; k++) {
            size_t replaced = corner + (a[i - 1] != b[k - 1]);
            size_t shorter = row[k] < row[k - 1] ? row[k] : row[k - 1];
            corner = row[k];
            row[k] = replaced < shorter + 1 ? replaced : shorter + 1;
        }
    }
    return row[n];
}

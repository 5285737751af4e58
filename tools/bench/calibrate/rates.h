/* SPDX-License-Identifier: Apache-2.0 */
/* rates.h - texts of rates, as plugins/shared/host/util/ways.h describes them, in documents. */
#ifndef TOOLS_BENCH_CALIBRATE_RATES_H
#define TOOLS_BENCH_CALIBRATE_RATES_H

#include <stdint.h>

#include <cjson/cJSON.h>

/* The text of a document; NULL: it has none. */
const char *rates_of(const cJSON *document);

/* `text`, and the items of `old` (may be NULL) for other keys or sides. The caller frees it; NULL: out of memory. */
char *rates_merged(const char *text, const char *old);

/* Prints at which sides another way is the fastest than before, or that were not measured before, or adds
 * that to `list`. Adds to *items and *changed. 0 when out of memory. */
int32_t rates_compare(const char *backend, const char *now, const char *old, cJSON *list,
                      int32_t *items, int32_t *changed);

#endif

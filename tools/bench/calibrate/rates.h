/* SPDX-License-Identifier: Apache-2.0 */
/* rates.h - texts of rates, as plugins/shared/host/util/ways.h describes them, in documents. */
#ifndef TOOLS_BENCH_CALIBRATE_RATES_H
#define TOOLS_BENCH_CALIBRATE_RATES_H

#include <cjson/cJSON.h>

/* The text of a document; NULL: it has none. */
const char *rates_of(const cJSON *document);

/* `text`, and the items of `old` (may be NULL) for other keys or sides. The caller frees it; NULL: out of memory. */
char *rates_merged(const char *text, const char *old);

#endif

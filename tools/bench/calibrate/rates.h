/* SPDX-License-Identifier: Apache-2.0 */
/* rates.h - the texts of rates in documents. plugins/shared/host/util/ways.h describes such texts. */
#pragma once

#include <cjson/cJSON.h>

/* Returns the text of rates in a document; NULL: it has none. */
const char *rates_of(const cJSON *document);

/* Returns `text` with the items of `old` (may be NULL) whose key and side are not in `text`. The caller
 * frees it; NULL if out of memory. */
char *rates_merged(const char *text, const char *old);

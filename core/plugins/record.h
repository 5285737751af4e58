/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record - the steps of the search for plugins, with their outcomes.
 *
 * A record_list only grows. Entries and their strings never move or change, and live as long as the
 * list. Every function but record_list_free is safe on any thread.
 */
#pragma once

#include <collet/collet.h>
#include <collet/types.h>

typedef struct record_list record_list;

/* NO_MEMORY. The caller frees *out with record_list_free. */
collet_status record_list_create(record_list **out, collet_error *err);
/* NULL does nothing. No thread may still use the list or its entries. */
void record_list_free(record_list *list);

/* Milliseconds of a monotonic clock. */
double record_clock(void);

/* Appends a copy of *entry, with "" for strings that are NULL. `code` is a code of loader.h. NO_MEMORY. */
collet_status record_add(record_list *list, const collet_plugin_record *entry, collet_error *err);

size_t record_count(record_list *list);
/* NULL beyond the count. */
const collet_plugin_record *record_at(record_list *list, size_t index);

/* `text` is set if `code` is not "ok". */
typedef struct refusal {
    const char *code; /* a stable word: loader.h */
    char text[COLLET_ERROR_TEXT];
} refusal;

/* Sets *why; returns `status`. */
collet_status refuse_with(refusal *why, collet_status status, const char *code, const char *format,
                          ...) COLLET_PRINTF(4, 5);

#define REFUSE(code, ...) refuse_with(why, COLLET_FORMAT, code, __VA_ARGS__)
#define REFUSE_NO_MEMORY(...) refuse_with(why, COLLET_NO_MEMORY, "no-memory", __VA_ARGS__)

/* SPDX-License-Identifier: Apache-2.0 */
/* spans.h - sets of items of a job, as ranges [first, end). */
#pragma once

#include <stdint.h>

typedef struct devices_span {
    int64_t first, end;
} devices_span;

/* Spans that do not overlap, in order. All members 0: none. */
typedef struct devices_spans {
    devices_span *list;
    int64_t count, capacity;
} devices_spans;

/* Makes room for this many more spans: 0 if out of memory. */
int devices_spans_reserve(devices_spans *spans, int64_t more);
/* Adds a span, for which there must be room; an empty span is ignored. */
void devices_spans_add(devices_spans *spans, int64_t first, int64_t end);
/* Removes at most `most` items from the first span and returns them; returns an empty span if there is no span. */
devices_span devices_spans_take(devices_spans *spans, int64_t most);
/* Returns the first item; INT64_MAX if there is none. */
int64_t devices_spans_first(const devices_spans *spans);

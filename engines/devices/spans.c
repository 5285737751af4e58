/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_devices.c */
#include "devices/spans.h"

#include <stdlib.h>
#include <string.h>

int devices_spans_reserve(devices_spans *spans, int64_t more)
{
    if (spans->count + more <= spans->capacity)
        return 1;
    int64_t capacity = 2 * spans->count + more;
    devices_span *list = realloc(spans->list, (size_t)capacity * sizeof *list);
    if (!list)
        return 0;
    spans->list = list;
    spans->capacity = capacity;
    return 1;
}

void devices_spans_add(devices_spans *spans, int64_t first, int64_t end)
{
    int64_t at = 0;
    if (first >= end)
        return;
    while (at < spans->count && spans->list[at].first < first)
        at++;
    memmove(spans->list + at + 1, spans->list + at,
            (size_t)(spans->count - at) * sizeof *spans->list);
    spans->list[at] = (devices_span){first, end};
    spans->count++;
}

devices_span devices_spans_take(devices_spans *spans, int64_t most)
{
    devices_span taken = {0, 0}, *first = spans->list;
    if (spans->count == 0)
        return taken;
    taken = *first;
    if (taken.end - taken.first > most)
        taken.end = taken.first + most;
    first->first = taken.end;
    if (first->first == first->end)
        memmove(first, first + 1, (size_t)--spans->count * sizeof *first);
    return taken;
}

int64_t devices_spans_first(const devices_spans *spans)
{
    return spans->count ? spans->list->first : INT64_MAX;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench_calibrate.c */
#include "rates.h"

#include "common/json_add.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEM 128

/* An item of the texts: "KEY/SIDE:WAY=RATE,...". */
typedef struct item {
    const char *at;
    int key, side;       /* lengths */
    const char *fastest; /* name of the way; NULL: malformed */
    int length;          /* of the name */
} item;

/* Reads the next item; 0 at the end. */
static int32_t next_item(const char **text, item *out)
{
    double best = 0;
    const char *at = *text ? *text + strspn(*text, " ") : "", *end = at + strcspn(at, " ");
    *out = (item){.at = at, .key = (int)strcspn(at, "/")};
    if (!*at)
        return 0;
    *text = end;
    out->side = (int)strcspn(at, ":") - out->key - 1;
    for (at += strcspn(at, ":"); at < end; at += 1 + strcspn(at + 1, ",: ")) {
        const char *equals = strchr(at, '=');
        double rate = equals && equals < end ? strtod(equals + 1, NULL) : 0;
        if (rate > best) {
            best = rate;
            out->fastest = at + 1;
            out->length = (int)(equals - at) - 1;
        }
    }
    return 1;
}

/* Finds the first item of the key, and of the side unless that is NULL. */
static int32_t find_item(const char *text, const item *like, int32_t any_side, item *out)
{
    while (next_item(&text, out))
        if (out->key == like->key && !strncmp(out->at, like->at, (size_t)like->key) &&
            (any_side || (out->side == like->side &&
                          !strncmp(out->at, like->at, (size_t)(like->key + 1 + like->side)))))
            return 1;
    return 0;
}

const char *rates_of(const cJSON *document)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(document, "calibrated"));
}

char *rates_merged(const char *text, const char *old)
{
    item next, found;
    char *all = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&all, &size);
    if (!stream)
        return NULL;
    fputs(text, stream);
    while (next_item(&old, &next))
        if (!find_item(text, &next, 0, &found))
            fprintf(stream, " %.*s", (int)strcspn(next.at, " "), next.at);
    if (!fclose(stream))
        return all;
    free(all);
    return NULL;
}

/* "cpu_openmp, f32: openblas at 256 (before own), onednn at 64": the sides where another way is the fastest
 * than before, or that were not measured before. Returns their number. */
static int32_t tell_key(const char *backend, const char *now, const char *old, const item *first,
                        cJSON *list, int32_t *fine)
{
    int32_t changed = 0;
    item next, before;
    for (const char *at = now; next_item(&at, &next);) {
        if (next.key != first->key || strncmp(next.at, first->at, (size_t)first->key) != 0)
            continue;
        char was[ITEM] = "", is[ITEM] = "";
        if (find_item(old, &next, 0, &before) && before.fastest)
            snprintf(was, sizeof was, "%.*s", before.length, before.fastest);
        if (next.fastest)
            snprintf(is, sizeof is, "%.*s", next.length, next.fastest);
        if (!*is || !strcmp(was, is))
            continue;
        const char *side = next.at + next.key + 1;
        if (!list) {
            if (!changed)
                printf("%s, %.*s:", backend, first->key, first->at);
            printf("%s %s at %.*s%s%s%s", changed ? "," : "", is, next.side, side,
                   *was ? " (before " : "", was, *was ? ")" : "");
        } else {
            char call[ITEM];
            snprintf(call, sizeof call, "%.*s", next.key + 1 + next.side, next.at);
            cJSON *row = json_append_object(list);
            *fine = *fine && row && json_add_text(row, "op", call) &&
                    json_add_text(row, "before", was) && json_add_text(row, "now", is);
        }
        changed++;
    }
    if (changed && !list)
        putchar('\n');
    return changed;
}

int32_t rates_compare(const char *backend, const char *now, const char *old, cJSON *list,
                      int32_t *items, int32_t *changed)
{
    int32_t fine = 1;
    item next, first;
    for (const char *at = now; next_item(&at, &next); ++*items)
        if (find_item(now, &next, 1, &first) && first.at == next.at)
            *changed += tell_key(backend, now, old, &next, list, &fine);
    return fine;
}

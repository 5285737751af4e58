/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench_parts.c */
#include "rates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An item of a text of rates: "KEY/SIDE:WAY=RATE,...". */
typedef struct item {
    const char *at;
    int length; /* length of "KEY/SIDE" */
} item;

/* Reads the next item; 0 at the end. */
static int32_t next_item(const char **text, item *out)
{
    const char *at = *text ? *text + strspn(*text, " ") : "";
    *out = (item){at, (int)strcspn(at, ": ")};
    if (*at)
        *text = at + strcspn(at, " ");
    return *at != '\0';
}

/* 1 if the text has an item with the same key and side as `like`. */
static int32_t has_item(const char *text, const item *like)
{
    item next;
    while (next_item(&text, &next))
        if (next.length == like->length && !strncmp(next.at, like->at, (size_t)like->length))
            return 1;
    return 0;
}

const char *rates_of(const cJSON *document)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(document, "calibrated"));
}

char *rates_merged(const char *text, const char *old)
{
    item next;
    char *all = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&all, &size);
    if (!stream)
        return NULL;
    fputs(text, stream);
    while (next_item(&old, &next))
        if (!has_item(text, &next))
            fprintf(stream, " %.*s", (int)strcspn(next.at, " "), next.at);
    if (!fclose(stream))
        return all;
    free(all);
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_util.c, tests/fault/test_loader.c */
#include "record.h"
#include "util/text.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct record_list {
    pthread_mutex_t mutex;
    size_t count;
    collet_plugin_record **entries;
};

collet_status record_list_create(record_list **out, collet_error *err)
{
    record_list *list = calloc(1, sizeof *list);
    if (!list)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the list of records");
    pthread_mutex_init(&list->mutex, NULL);
    *out = list;
    return COLLET_OK;
}

void record_list_free(record_list *list)
{
    if (!list)
        return;
    for (size_t i = 0; i < list->count; i++)
        free(list->entries[i]);
    free(list->entries);
    pthread_mutex_destroy(&list->mutex);
    free(list);
}

/* Copies the entry and its four strings into one allocation. */
static collet_plugin_record *entry_copy(const collet_plugin_record *in)
{
    const char *text[4] = {in->path, in->stage, in->code, in->reason};
    size_t length[4], total = sizeof(collet_plugin_record);
    for (int i = 0; i < 4; i++) {
        text[i] = text[i] ? text[i] : "";
        length[i] = strlen(text[i]) + 1;
        total += length[i];
    }
    collet_plugin_record *out = malloc(total);
    if (!out)
        return NULL;
    char *p = (char *)(out + 1);
    const char **target[4] = {&out->path, &out->stage, &out->code, &out->reason};
    *out = *in;
    for (int i = 0; i < 4; i++) {
        *target[i] = memcpy(p, text[i], length[i]);
        p += length[i];
    }
    return out;
}

double record_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

collet_status record_add(record_list *list, const collet_plugin_record *entry, collet_error *err)
{
    collet_plugin_record *copy = entry_copy(entry);
    pthread_mutex_lock(&list->mutex);
    collet_plugin_record **grown =
        copy ? realloc(list->entries, (list->count + 1) * sizeof *grown) : NULL;
    if (grown) {
        list->entries = grown;
        grown[list->count++] = copy;
    }
    pthread_mutex_unlock(&list->mutex);
    if (grown)
        return COLLET_OK;
    free(copy);
    return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a record");
}

size_t record_count(record_list *list)
{
    pthread_mutex_lock(&list->mutex);
    size_t count = list->count;
    pthread_mutex_unlock(&list->mutex);
    return count;
}

const collet_plugin_record *record_at(record_list *list, size_t index)
{
    pthread_mutex_lock(&list->mutex);
    const collet_plugin_record *entry = index < list->count ? list->entries[index] : NULL;
    pthread_mutex_unlock(&list->mutex);
    return entry;
}

collet_status refuse_with(refusal *why, collet_status status, const char *code, const char *format,
                          ...)
{
    va_list arguments;
    why->code = code;
    va_start(arguments, format);
    text_message(why->text, sizeof why->text, format, arguments);
    va_end(arguments);
    return status;
}

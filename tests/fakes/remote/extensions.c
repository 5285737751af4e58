/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "remote.h"

/* ---- collet.memory/1 --------------------------------------------------------------------- */

static collet_status memory_stats(collet_device *d, collet_memory_stats *stats, collet_error *err)
{
    (void)err;
    pthread_mutex_lock(&d->lock);
    stats->current = d->stats.current;
    stats->reserved = d->stats.current + d->kept;
    stats->peak = d->stats.peak;
    stats->total = stats->available = 0;
    pthread_mutex_unlock(&d->lock);
    return COLLET_OK;
}

static void memory_reset_peak(collet_device *d)
{
    pthread_mutex_lock(&d->lock);
    d->stats.peak = d->stats.current;
    pthread_mutex_unlock(&d->lock);
}

static const collet_memory_extension memory_extension = {sizeof memory_extension, 0, memory_stats,
                                                         memory_reset_peak};

/* ---- collet.trim/1 ----------------------------------------------------------------------- */

static void trim(collet_device *d)
{
    pthread_mutex_lock(&d->lock);
    d->kept = 0;
    d->trims++;
    pthread_mutex_unlock(&d->lock);
}

static const collet_trim_extension trim_extension = {sizeof trim_extension, 0, trim};

/* ---- The list ---------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const void *table;
    uint32_t size;
} offered[] = {
    {COLLET_EXTENSION_MEMORY, &memory_extension, sizeof memory_extension},
    {COLLET_EXTENSION_TRIM, &trim_extension, sizeof trim_extension},
    {COLLET_EXTENSION_RECORD, &remote_record, sizeof remote_record},
};

/* A copy of the table with the fault that the setting remote.extension names. */
static const void *spoiled(collet_device *d, const void *table, uint32_t size, const char *fault)
{
    unsigned char *copy = d->spoiled;
    memcpy(copy, table, size);
    if (!strcmp(fault, "absent"))
        return NULL;
    if (!strcmp(fault, "short"))
        size--;
    else if (!strcmp(fault, "reserved"))
        copy[4] = 1;
    else
        memset(copy + size - sizeof(void (*)(void)), 0, sizeof(void (*)(void)));
    memcpy(copy, &size, sizeof size);
    return copy;
}

const void *remote_extension(collet_device *d, const char *name)
{
    char which[64] = "", fault[16] = "";
    const char *set = d->host->config(d->host, "remote.extension");
    if (set)
        sscanf(set, "%63s %15s", which, fault);
    for (size_t i = 0; i < sizeof offered / sizeof *offered; i++)
        if (!strcmp(offered[i].name, name))
            return strcmp(which, name) ? offered[i].table
                                       : spoiled(d, offered[i].table, offered[i].size, fault);
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_extensions.c */
#include "extensions.h"

#include <string.h>

typedef struct known_extension {
    const char *name;
    size_t offset; /* in device_extensions */
    uint32_t size; /* size of the table in the first release of this version */
} known_extension;

static const known_extension known[] = {
    {COLLET_EXTENSION_COPY, offsetof(device_extensions, copy), sizeof(collet_copy_extension)},
    {COLLET_EXTENSION_EXPLAIN, offsetof(device_extensions, explain),
     sizeof(collet_explain_extension)},
    {COLLET_EXTENSION_MEMORY, offsetof(device_extensions, memory), sizeof(collet_memory_extension)},
    {COLLET_EXTENSION_NATIVE, offsetof(device_extensions, native), sizeof(collet_native_extension)},
    {COLLET_EXTENSION_PINNED, offsetof(device_extensions, pinned), sizeof(collet_pinned_extension)},
    {COLLET_EXTENSION_TIMING, offsetof(device_extensions, timing), sizeof(collet_timing_extension)},
    {COLLET_EXTENSION_TRIM, offsetof(device_extensions, trim), sizeof(collet_trim_extension)},
};

/* The first members of every table; pointers to functions follow. */
typedef struct table_head {
    uint32_t struct_size;
    uint32_t reserved;
} table_head;

static int has_null(const void *table, uint32_t size)
{
    for (size_t at = sizeof(table_head); at < size; at += sizeof(void (*)(void))) {
        void (*function)(void);
        memcpy(&function, (const char *)table + at, sizeof function);
        if (!function)
            return 1;
    }
    return 0;
}

static int usable(const known_extension *k, const void *table, const char *name,
                  const collet_host *host)
{
    table_head head = {0, 0};
    memcpy(&head.struct_size, table, sizeof head.struct_size);
    if (head.struct_size < k->size) {
        host->log(host, COLLET_LOG_ERROR,
                  "%s: the extension %s is not used: its table has %u bytes, and the first version "
                  "has %u",
                  name, k->name, head.struct_size, k->size);
        return 0;
    }
    memcpy(&head, table, sizeof head);
    if (!head.reserved && !has_null(table, k->size))
        return 1;
    host->log(host, COLLET_LOG_ERROR, "%s: the extension %s is not used: %s", name, k->name,
              head.reserved ? "its table's member `reserved` is not 0"
                            : "a function in its table is NULL");
    return 0;
}

void extensions_find(device_extensions *found, const collet_plugin *plugin, collet_device *device,
                     const char *name, const collet_host *host)
{
    for (size_t i = 0; plugin->extension && i < sizeof known / sizeof *known; i++) {
        const void *table = plugin->extension(device, known[i].name);
        if (table && usable(&known[i], table, name, host))
            memcpy((char *)found + known[i].offset, &table, sizeof table);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Valid: its capabilities need a second, larger buffer and contain escaped characters. */
#include "zoo.h"

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    (void)self;
    static char text[100000];
    (void)host;
    (void)err;
    size_t length = strlen(strcpy(text, "{\"jit\": false, \"parallel\": false, \"gpu\": false,"
                                        " \"device_count\": 1, \"devices\": [{\"name\": \""));
    memset(text + length, '}', 90000);
    strcpy(text + length + 90000, "\"}]}");
    return zoo_write(text, json, capacity, needed);
}

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    zoo_table.capabilities = capabilities;
    return &zoo_table;
}

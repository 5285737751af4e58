/* SPDX-License-Identifier: Apache-2.0 */
/* Reports a device_count of two but lists one device. */
#include "zoo.h"

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    (void)self;
    (void)host;
    (void)err;
    return zoo_write("{\"jit\": false, \"parallel\": false, \"gpu\": false, \"device_count\": 2,"
                     " \"devices\": [{\"name\": \"one\"}]}",
                     json, capacity, needed);
}

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    zoo_table.capabilities = capabilities;
    return &zoo_table;
}

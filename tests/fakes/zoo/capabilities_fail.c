/* SPDX-License-Identifier: Apache-2.0 */
/* Cannot say what it can do. */
#include "zoo.h"

static collet_status capabilities(const collet_host *host, char *json, uint64_t capacity,
                                  uint64_t *needed, collet_error *err)
{
    (void)json;
    (void)capacity;
    *needed = 0;
    return host->fail(err, COLLET_FAILED, "the driver is asleep");
}

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    zoo_table.capabilities = capabilities;
    return &zoo_table;
}

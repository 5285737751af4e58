/* SPDX-License-Identifier: Apache-2.0 */
/* Reads settings that its manifest does not declare. */
#include "zoo.h"

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    (void)self;
    (void)err;
    if (host->config(host, "in_probe"))
        (void)host->config(host, "zoo_undeclared.probed");
    (void)host->config(host, "zoo_undeclared.secret");
    return zoo_write(zoo_json, json, capacity, needed);
}

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    zoo_table.capabilities = capabilities;
    return &zoo_table;
}

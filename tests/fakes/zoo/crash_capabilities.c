/* SPDX-License-Identifier: Apache-2.0 */
/* Crashes in its capabilities slot. */
#include <signal.h>

#include "zoo.h"

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    raise(SIGFPE);
    return zoo_capabilities(self, json, capacity, needed, host, err);
}

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    zoo_table.capabilities = capabilities;
    return &zoo_table;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Its capabilities slot returns an error. */
#include "zoo.h"

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    (void)self;
    (void)json;
    (void)capacity;
    *needed = 0;
    return host->fail_text(err, COLLET_FAILED, "the driver does not respond: %s");
}

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    zoo_table.capabilities = capabilities;
    return &zoo_table;
}

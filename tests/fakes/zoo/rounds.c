/* SPDX-License-Identifier: Apache-2.0 */
/* Changes the rounding in its entry or in its capabilities, as ZOO_DRIVER_ROUNDS says. */
#include "zoo.h"

#include <fenv.h>
#include <stdlib.h>

static void change(const char *where)
{
    const char *wanted = getenv("ZOO_DRIVER_ROUNDS");
    if (wanted && !strcmp(wanted, where))
        fesetround(FE_UPWARD);
}

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    change("capabilities");
    return zoo_capabilities(self, json, capacity, needed, host, err);
}

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    change("entry");
    zoo_fill(&zoo_table);
    zoo_table.capabilities = capabilities;
    return &zoo_table;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A required slot is NULL. */
#include "zoo.h"

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    zoo_table.device_close = NULL;
    return &zoo_table;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A valid plugin. Tests also corrupt copies of it. */
#include "zoo.h"

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    return &zoo_table;
}

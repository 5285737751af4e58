/* SPDX-License-Identifier: Apache-2.0 */
/* The table's ABI differs from the manifest's. */
#include "zoo.h"

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    zoo_table.abi = (COLLET_ABI_MAJOR + 1u) << 16 | 7;
    return &zoo_table;
}

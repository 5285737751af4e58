/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest is of this interface, the table of another. */
#include "zoo.h"

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    zoo_table.abi = (COLLET_ABI_MAJOR + 1u) << 16;
    return &zoo_table;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* One slot shorter than the first release's table. */
#include "zoo.h"

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    zoo_table.struct_size = offsetof(collet_plugin, extension);
    return &zoo_table;
}

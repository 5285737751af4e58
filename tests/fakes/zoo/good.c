/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is wrong with it. Tests also make bad ones of it by changing bytes of a copy. */
#include "zoo.h"

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    return &zoo_table;
}

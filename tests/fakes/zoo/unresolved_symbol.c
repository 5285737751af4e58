/* SPDX-License-Identifier: Apache-2.0 */
/* Calls a function that no library defines. */
#include "zoo.h"

void zoo_nowhere(void);

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    zoo_nowhere();
    zoo_fill(&zoo_table);
    return &zoo_table;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Ends the process in its entry. */
#include <stdlib.h>

#include "zoo.h"

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    exit(7);
}

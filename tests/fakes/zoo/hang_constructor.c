/* SPDX-License-Identifier: Apache-2.0 */
/* Hangs while being loaded. */
#include <unistd.h>

#include "zoo.h"

__attribute__((constructor)) static void hang(void)
{
    for (;;)
        pause();
}

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    return &zoo_table;
}

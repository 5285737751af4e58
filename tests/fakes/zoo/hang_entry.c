/* SPDX-License-Identifier: Apache-2.0 */
/* Never returns from its entry, prints, and forks a child that holds every descriptor. */
#include <stdio.h>
#include <unistd.h>

#include "zoo.h"

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    if (fork() == 0)
        for (;;)
            pause();
    for (;;)
        fprintf(stderr, "still here\n");
}

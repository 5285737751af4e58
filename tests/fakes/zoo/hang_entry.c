/* SPDX-License-Identifier: Apache-2.0 */
/* Never returns from its entry, prints, and starts a process in a session of its own that holds
 * every descriptor and creates the file $ZOO_STARTED. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "zoo.h"

static void child(void)
{
    const char *path = getenv("ZOO_STARTED");
    if (path)
        creat(path, 0600);
    for (;;)
        pause();
}

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    if (fork() == 0) {
        setsid();
        if (fork() == 0)
            child();
        _exit(0);
    }
    for (;;)
        fprintf(stderr, "still here\n");
}

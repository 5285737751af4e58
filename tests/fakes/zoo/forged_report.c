/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the probe's report itself, with a code that would clear a terminal. */
#include <unistd.h>

#include "zoo.h"

__attribute__((constructor)) static void forge(void)
{
    static const char text[] = "{\"code\":\"a\\u001b[2J\",\"reason\":\"no\",\"unproven\":false}\n";
    if (write(3, text, sizeof text - 1) > 0)
        _exit(0);
}

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    return &zoo_table;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Crashes while being loaded. */
#include <signal.h>

#include "zoo.h"

__attribute__((constructor)) static void crash(void)
{
    raise(SIGSEGV);
}

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    return &zoo_table;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Needs libzoo_plain_library.so, which is not on the dynamic linker's path. */
#include "zoo.h"

int zoo_plain(void);

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    zoo_fill(&zoo_table);
    return zoo_plain() ? &zoo_table : NULL;
}

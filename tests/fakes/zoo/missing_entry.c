/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin with a manifest, but without collet_plugin_entry. */
#include "zoo.h"

const collet_plugin *zoo_other_entry(void);

__attribute__((visibility("default"))) const collet_plugin *zoo_other_entry(void)
{
    zoo_fill(&zoo_table);
    return &zoo_table;
}

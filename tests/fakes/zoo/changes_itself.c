/* SPDX-License-Identifier: Apache-2.0 */
/* Its file changes while it is loaded. */
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "zoo.h"

__attribute__((constructor)) static void change(void)
{
    const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    Dl_info info;
    if (dladdr(zoo_json, &info))
        (void)utimensat(AT_FDCWD, info.dli_fname, times, 0);
}

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    return &zoo_table;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Valid, but its constructor ignores SIGCHLD, starts processes in its group and in a session of
 * their own, and asks for more memory than a machine has, which it writes if it gets it. */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "zoo.h"

static const char *memory = "none";

static void start_one(int session)
{
    if (fork() == 0) {
        if (session)
            setsid();
        if (fork() == 0)
            for (;;)
                pause();
        _exit(0);
    }
}

__attribute__((constructor)) static void construct(void)
{
    const size_t huge = (size_t)1 << 45;
    signal(SIGCHLD, SIG_IGN);
    start_one(0);
    start_one(1);
    if (!strcmp(COLLET_SANITIZER, "none") &&
        mmap(NULL, huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
             0) != MAP_FAILED)
        memory = "got";
    if (mmap(NULL, huge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
        memory = "no addresses";
}

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    (void)self;
    if (strcmp(memory, "none"))
        return host->fail(err, COLLET_FAILED, "memory: %s", memory);
    return zoo_write(zoo_json, json, capacity, needed);
}

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    zoo_table.capabilities = capabilities;
    return &zoo_table;
}

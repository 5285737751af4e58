/* SPDX-License-Identifier: Apache-2.0 */
/* Good: what it tries in its probe crashes, hangs, ends the process or returns; its choices tell
 * of it, and its device does not open but says what it was told of them. */
#include "zoo.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void crash(void *argument, void *result)
{
    (void)argument;
    (void)result;
    raise(SIGILL);
}

static void hang(void *argument, void *result)
{
    (void)argument;
    (void)result;
    for (;;)
        pause();
}

static void leave(void *argument, void *result)
{
    (void)argument;
    (void)result;
    _exit(0);
}

/* What it writes anywhere but into its result is lost with the child. */
static void twice(void *argument, void *result)
{
    int64_t *number = argument;
    *(int64_t *)result += 2 * *number;
    *number = 0;
}

static void try_one(const collet_host *host, void (*body)(void *, void *), const char *word,
                    char *text, uint64_t size)
{
    collet_error why = {COLLET_OK, ""};
    int64_t number = 21, result = -1;
    size_t used = strlen(text);
    collet_status status = host->trial(host, body, &number, &result, sizeof result, 100, &why);
    snprintf(text + used, size - used, "\"%s\": \"%d %s %lld %lld\", ", word, (int)status, why.text,
             (long long)number, (long long)result);
}

static collet_status capabilities(const collet_host *host, char *json, uint64_t capacity,
                                  uint64_t *needed, collet_error *err)
{
    static char text[2048];
    (void)err;
    if (!text[0] && host->struct_size == sizeof *host && host->trial) {
        size_t head = sizeof zoo_json - 2; /* without the brace */
        memcpy(text, zoo_json, head);
        strcat(text, ", \"choices\": {");
        try_one(host, crash, "crash", text, sizeof text);
        try_one(host, hang, "hang", text, sizeof text);
        try_one(host, leave, "leave", text, sizeof text);
        try_one(host, twice, "twice", text, sizeof text);
        snprintf(text + strlen(text), sizeof text - strlen(text), "\"probe\": \"%ld\"}%s}",
                 (long)getpid(),
                 host->config(host, "zoo_trials.unsure") ? ", \"provisional\": true" : "");
    }
    return zoo_write(text[0] ? text : zoo_json, json, capacity, needed);
}

static collet_status device_open(const collet_host *host, uint32_t index, collet_device **device,
                                 collet_error *err)
{
    const char *twice_is = host->config(host, "zoo_trials.twice");
    const char *probe = host->config(host, "zoo_trials.probe");
    (void)index;
    (void)device;
    return host->fail(err, COLLET_UNAVAILABLE, "twice: %s, probe: %s, trial: %s",
                      twice_is ? twice_is : "none", probe ? probe : "none",
                      host->trial ? "some" : "none");
}

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    zoo_table.capabilities = capabilities;
    zoo_table.device_open = device_open;
    return &zoo_table;
}

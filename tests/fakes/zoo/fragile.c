/* SPDX-License-Identifier: Apache-2.0 */
/* Valid in safe mode; else its capabilities die according to the setting "dies": crash, hang, exit,
 * or "always" (crash in safe mode too). Opening its device fails and reports its settings. */
#include "zoo.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void die(const char *how)
{
    if (!strcmp(how, "crash") || !strcmp(how, "always"))
        raise(SIGILL);
    while (!strcmp(how, "hang"))
        pause();
    if (!strcmp(how, "exit"))
        _exit(3);
}

/* The number of descriptors that the probe inherited from the host; 0 to 3 are its own. */
static int descriptors(void)
{
    int count = 0;
    for (int i = 4; i < 256; i++)
        count += fcntl(i, F_GETFD) >= 0;
    return count;
}

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    (void)self;
    const char *safe = host->config(host, "zoo_fragile.safe_mode");
    const char *dies = host->config(host, "zoo_fragile.dies");
    char text[512];
    (void)err;
    host->log_text(host, COLLET_LOG_DEBUG, "trying the library 100 %s");
    if (dies && (!safe || !strcmp(safe, "off") || !strcmp(dies, "always")))
        die(dies);
    snprintf(text, sizeof text, "%.*s, \"choices\": {\"probe\": \"%ld\"}, \"descriptors\": %d}",
             (int)(sizeof zoo_json - 2), zoo_json, (long)getpid(), descriptors());
    return zoo_write(text, json, capacity, needed);
}

static const char *setting_or_none(const collet_host *host, const char *key)
{
    const char *value = host->config(host, key);
    return value ? value : "none";
}

static collet_status device_open(const collet_plugin *self, collet_device **device,
                                 collet_device_properties *properties, const collet_host *host,
                                 uint32_t index, const char *name, collet_error *err)
{
    (void)self;
    (void)name;
    (void)index;
    (void)properties;
    (void)device;
    return host->fail(err, COLLET_UNAVAILABLE, "probe: %s, in_probe: %s, safe_mode: %s",
                      setting_or_none(host, "zoo_fragile.probe"), setting_or_none(host, "in_probe"),
                      setting_or_none(host, "zoo_fragile.safe_mode"));
}

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    zoo_table.capabilities = capabilities;
    zoo_table.device_open = device_open;
    return &zoo_table;
}

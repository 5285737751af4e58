/* SPDX-License-Identifier: Apache-2.0 */
/* The device's name, and why it does not open, would clear a terminal and are not UTF-8. */
#include "zoo.h"

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    (void)self;
    (void)host;
    (void)err;
    return zoo_write("{\"jit\": false, \"parallel\": false, \"gpu\": false, \"device_count\": 1,"
                     " \"devices\": [{\"name\": \"\\u001b[2Jcard\\n\xff\xc2\x9b\\u009B \\\\n\","
                     " \"a\\nb\": 1}]}",
                     json, capacity, needed);
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
    return host->fail(err, COLLET_UNAVAILABLE, "the driver's \033[2J\r\n\xff\xc2\x9b message");
}

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    zoo_table.capabilities = capabilities;
    zoo_table.device_open = device_open;
    return &zoo_table;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zoo - a valid backend. Every plugin of the zoo (tests/fakes/zoo) changes one thing in it.
 * tests/fakes/zoo/CMakeLists.txt writes its manifest and defines its name (ZOO_NAME).
 */
#ifndef TESTS_FAKES_ZOO_ZOO_H
#define TESTS_FAKES_ZOO_ZOO_H

#include <string.h>

#include <collet/plugin.h>

static const char zoo_json[] =
    "{\"jit\": false, \"parallel\": false, \"gpu\": false, \"device_count\": 1,"
    " \"devices\": [{\"name\": \"" ZOO_NAME "\"}]}";

static collet_status zoo_write(const char *text, char *json, uint64_t capacity, uint64_t *needed)
{
    *needed = strlen(text) + 1;
    if (*needed <= capacity)
        memcpy(json, text, *needed);
    return COLLET_OK;
}

static collet_status zoo_capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                      uint64_t *needed, const collet_host *host, collet_error *err)
{
    return zoo_write(zoo_json, json, capacity, needed);
}

static collet_status zoo_device_open(const collet_plugin *self, collet_device **device,
                                     collet_device_properties *properties, const collet_host *host,
                                     uint32_t index, const char *name, collet_error *err)
{
    *device = NULL;
    return COLLET_OK;
}

static void zoo_device_close(collet_device *device)
{
}

static collet_status zoo_run(collet_device *device, collet_queue *queue,
                             const collet_kernel_call *call)
{
    return COLLET_REFUSED;
}

/* Fills a table that passes every check. The caller then adds its defect. */
static inline void zoo_fill(collet_plugin *table)
{
    static const collet_kernel_row rows[] = {
        COLLET_ROW(ADD, COLLET_SIG(COLLET_F32, COLLET_F32, COLLET_F32), zoo_run, NULL),
        COLLET_ROW(ADD, COLLET_SIG(COLLET_F64, COLLET_F64, COLLET_F64), zoo_run, NULL),
    };
    memset(table, 0, sizeof *table);
    table->abi = COLLET_ABI;
    table->struct_size = sizeof *table;
    table->kernel_count = sizeof rows / sizeof *rows;
    table->kernel_size = sizeof *rows;
    table->name = ZOO_NAME;
    table->version = "1.0";
    table->kernels = rows;
    table->capabilities = zoo_capabilities;
    table->device_open = zoo_device_open;
    table->device_close = zoo_device_close;
}

#ifdef ZOO_MANIFEST
COLLET_PLUGIN_MANIFEST(ZOO_MANIFEST);
static collet_plugin zoo_table;
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Valid: defines the op zoo.twice; the setting zoo_own_op.devices=0 removes its device. */
#include "zoo.h"

static const collet_ops_definition ops[] = {
    {.name = "zoo.twice", .shapes = "... : ...", .sigs = "f:f d:d", .alias = 1}};
static const collet_kernel_row rows[] = {
    {.op = COLLET_OWN_OP(0), .sig = COLLET_SIG(COLLET_F32, COLLET_F32), .run = zoo_run},
};

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    (void)self;
    (void)err;
    const char *devices = host->config(host, "zoo_own_op.devices");
    return zoo_write(!strcmp(devices, "0")
                         ? "{\"jit\": true, \"parallel\": true, \"gpu\": true, \"device_count\": 0,"
                           " \"devices\": [], \"reason\": \"switched off\"}"
                         : zoo_json,
                     json, capacity, needed);
}

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    (void)host;
    zoo_fill(&zoo_table);
    zoo_table.ops = ops;
    zoo_table.op_count = 1;
    zoo_table.op_size = sizeof *ops;
    zoo_table.kernels = rows;
    zoo_table.kernel_count = 1;
    zoo_table.capabilities = capabilities;
    return &zoo_table;
}

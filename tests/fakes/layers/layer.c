/* SPDX-License-Identifier: Apache-2.0 */
/* A layer that reports the plugin tables below it; CMakeLists.txt sets its name and its defect. */
#include <fenv.h>
#include <stdlib.h>
#include <string.h>

#include <collet/plugin.h>

COLLET_PLUGIN_MANIFEST(LAYER_MANIFEST);

#define MOST 8

#ifdef LAYER_UNRESOLVED
void LAYER_UNRESOLVED(void);
#endif

static struct over {
    const collet_plugin *below;
    collet_plugin table;
} list[MOST];
static int count;

static int32_t none(collet_device *device, uint32_t row)
{
    return 0;
}

static collet_status device_open(const collet_plugin *self, collet_device **out,
                                 collet_device_properties *properties, const collet_host *host,
                                 uint32_t index, const char *name, collet_error *err)
{
    for (int i = 0; i < count; i++) {
        if (self != &list[i].table)
            continue;
        host->log(host, COLLET_LOG_INFO, "%s opens %s", LAYER_NAME, list[i].below->name);
        return list[i].below->device_open(list[i].below, out, properties, host, index, name, err);
    }
    return host->fail(err, COLLET_FAILED, "%s was not opened through its table", LAYER_NAME);
}

static void spoil(collet_plugin *table)
{
    static collet_kernel_row rows[4096];
    if (!strcmp(LAYER_DEFECT, "name"))
        table->name = "another";
    if (!strcmp(LAYER_DEFECT, "short"))
        table->struct_size = 64;
    if (!strcmp(LAYER_DEFECT, "slot"))
        table->queue_mark = NULL;
    if (!strcmp(LAYER_DEFECT, "rows") || !strcmp(LAYER_DEFECT, "order")) {
        memcpy(rows, table->kernels, table->kernel_count * sizeof *rows);
        uint32_t fewer = !strcmp(LAYER_DEFECT, "rows");
        table->kernel_count -= fewer;
        rows[0] = table->kernels[1];
        rows[1] = table->kernels[fewer ? table->kernel_count : 0];
        table->kernels = rows;
    }
}

const collet_plugin *collet_layer_entry(const collet_host *host, const collet_plugin *below,
                                        collet_error *err)
{
    int at = 0;
    host->log(host, COLLET_LOG_INFO, "%s over %s", LAYER_NAME, below->name);
    if (!strcmp(LAYER_DEFECT, "rounding"))
        fesetround(FE_UPWARD);
#ifdef LAYER_UNRESOLVED
    LAYER_UNRESOLVED();
#endif
    if (!strcmp(LAYER_DEFECT, "null")) {
        host->fail(err, COLLET_UNAVAILABLE, "it is not a friend of %s", below->name);
        return NULL;
    }
    while (at < count && list[at].below != below)
        at++;
    if (at == MOST)
        return NULL;
    count += at == count;
    list[at] = (struct over){below, *below};
    list[at].table.device_open = device_open;
    spoil(&list[at].table);
    if (!strcmp(host->config(host, LAYER_NAME ".hides"), "on"))
        list[at].table.device_supports = none;
    return &list[at].table;
}

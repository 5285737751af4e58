/* SPDX-License-Identifier: Apache-2.0 */
/* A layer that reports the tables it is put over; tests choose its name and its defect. */
#include <stdlib.h>
#include <string.h>

#include <collet/plugin.h>

COLLET_PLUGIN_MANIFEST(LAYER_MANIFEST);

#define MOST 8

static struct over {
    const collet_plugin *below;
    collet_plugin table;
} list[MOST];
static int count;

static int32_t none(collet_device *device, uint32_t row)
{
    (void)device;
    (void)row;
    return 0;
}

const collet_plugin *collet_layer_entry(const collet_host *host, const collet_plugin *below,
                                        collet_error *err)
{
    int at = 0;
    host->log(host, COLLET_LOG_INFO, "%s over %s", LAYER_NAME, below->name);
    if (!strcmp(LAYER_DEFECT, "null")) {
        host->fail(err, COLLET_UNAVAILABLE, "it is no friend of %s", below->name);
        return NULL;
    }
    while (at < count && list[at].below != below)
        at++;
    if (at == MOST)
        return NULL;
    count += at == count;
    list[at] = (struct over){below, *below};
    if (!strcmp(LAYER_DEFECT, "name"))
        list[at].table.name = "another";
    if (!strcmp(host->config(host, LAYER_NAME ".hides"), "on"))
        list[at].table.device_supports = none;
    return &list[at].table;
}

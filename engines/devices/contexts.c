/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts for devices by their names.
 * Tests: tests/engines/test_devices.c, tests/tools/test_several_devices.c */
#include "devices/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHOICE 256

/* A context whose device is open. */
static collet_status open_one(collet_runtime *runtime, const char *choice, collet_context **out,
                              collet_error *err)
{
    collet_memory_stats stats = {.struct_size = sizeof stats};
    collet_error own;
    collet_status status = collet_context_create(runtime, out, &own);
    if (status != COLLET_OK)
        return collet_fail(err, status, "devices: %s", own.text);
    status = collet_set_backend(*out, choice);
    if (status == COLLET_OK && strchr(choice, ':'))
        status = collet_memory(*out, &stats, choice);
    return status == COLLET_OK ? status
                               : collet_fail(err, status, "devices: %s", collet_last_error(*out));
}

collet_status devices_open(collet_runtime *runtime, const char *list, collet_context ***contexts,
                           int64_t *count, collet_error *err)
{
    collet_status status = COLLET_OK;
    int64_t most = 1;
    for (const char *at = list; (at = strchr(at, ',')) != NULL; at++)
        most++;
    *count = 0;
    *contexts = calloc((size_t)most, sizeof(void *));
    if (!*contexts)
        return collet_fail(err, COLLET_NO_MEMORY, "devices: out of memory");
    for (const char *at = list; at && status == COLLET_OK;) {
        char choice[CHOICE];
        int length = (int)strcspn(at, ",");
        snprintf(choice, sizeof choice, "%.*s", length, at);
        for (int64_t i = 0; i < *count && status == COLLET_OK; i++)
            if (!strcmp(collet_get_backend((*contexts)[i]), choice))
                status = collet_fail(err, COLLET_INVALID, "devices: %s is given twice", choice);
        if (status == COLLET_OK)
            status = open_one(runtime, choice, &(*contexts)[(*count)++], err);
        at = at[length] ? at + length + 1 : NULL;
    }
    if (status == COLLET_OK)
        return status;
    devices_close(*contexts, *count);
    *contexts = NULL;
    *count = 0;
    return status;
}

void devices_close(collet_context **contexts, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        collet_context_destroy(contexts[i]);
    free(contexts);
}

void devices_of_host(collet_runtime *runtime, char *list, size_t size)
{
    collet_backend_info info = {.struct_size = sizeof info};
    collet_device_info device = {.struct_size = sizeof device};
    *list = '\0';
    for (size_t i = 0; collet_backend_info_at(runtime, &info, i, NULL) == COLLET_OK; i++) {
        size_t used = strlen(list);
        if (info.state == COLLET_BACKEND_USABLE &&
            collet_device_info_at(runtime, &device, i, 0, NULL) == COLLET_OK &&
            device.kind == COLLET_DEVICE_CPU && device.memory == COLLET_MEMORY_HOST &&
            device.execution == COLLET_EXECUTION_SYNCHRONOUS)
            snprintf(list + used, size - used, "%s%s", used ? "," : "", info.name);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs.c */
#include "devices.h"

#include <stdio.h>
#include <string.h>

static collet_status add(rsoxs_devices *devices, const char *name, size_t length, collet_error *err)
{
    if (devices->count == RSOXS_DEVICES || length >= sizeof *devices->choice)
        return collet_fail(err, COLLET_INVALID, "--devices: more than %d, or too long a name",
                           RSOXS_DEVICES);
    snprintf(devices->choice[devices->count++], sizeof *devices->choice, "%.*s", (int)length, name);
    return COLLET_OK;
}

static collet_status choose_list(rsoxs_devices *devices, collet_context *context, const char *list,
                                 collet_error *err)
{
    collet_status status = COLLET_OK;
    for (const char *at = list; at && status == COLLET_OK;) {
        size_t length = strcspn(at, ",");
        status = add(devices, at, length, err);
        at = at[length] ? at + length + 1 : NULL;
    }
    for (int64_t i = 0; i < devices->count && status == COLLET_OK; i++) {
        const char *choice = devices->choice[i];
        collet_memory_stats stats = {.struct_size = sizeof stats};
        for (int64_t k = 0; k < i; k++)
            if (!strcmp(choice, devices->choice[k]))
                return collet_fail(err, COLLET_INVALID, "--devices: %s is given twice", choice);
        status = collet_set_backend(context, choice);
        if (status == COLLET_OK && strchr(choice, ':'))
            status = collet_memory(context, &stats, choice); /* opens it */
        if (status != COLLET_OK)
            return collet_fail(err, status, "--devices: %s", collet_last_error(context));
    }
    return status;
}

/* The first backend of a choice, and the backends after it; 0: not found, or the choice names one
 * of its devices. */
static int find_backend(rsoxs_devices *devices, collet_runtime *runtime, const char *choice,
                        size_t *index)
{
    collet_backend_info info = {.struct_size = sizeof info};
    int any = !strcmp(choice, "auto"), found = 0;
    for (size_t i = 0; any && collet_backend_info_at(runtime, &info, i, NULL) == COLLET_OK; i++) {
        size_t used = strlen(devices->rest);
        if (info.state != COLLET_BACKEND_USABLE)
            continue;
        if (!found)
            *index = i;
        else
            snprintf(devices->rest + used, sizeof devices->rest - used, ",%s", info.name);
        found = 1;
    }
    for (const char *at = choice; !any && !found; at += strcspn(at, ",") + 1) {
        size_t length = strcspn(at, ",");
        for (*index = 0;
             !found && collet_backend_info_at(runtime, &info, *index, NULL) == COLLET_OK; ++*index)
            if (strlen(info.name) == length && !strncmp(at, info.name, length))
                found = info.state == COLLET_BACKEND_USABLE;
        if (found) {
            --*index;
            snprintf(devices->rest, sizeof devices->rest, "%s", at + length);
        } else if (memchr(at, ':', length) || at[length] == '\0')
            return 0;
    }
    return found;
}

static collet_status choose_alike(rsoxs_devices *devices, collet_context *context,
                                  collet_error *err)
{
    const char *choice = collet_get_backend(context);
    collet_runtime *runtime = collet_context_runtime(context);
    collet_device_info first = {.struct_size = sizeof first}, info = first;
    collet_memory_stats stats = {.struct_size = sizeof stats};
    collet_status status = COLLET_OK;
    size_t backend;
    if (find_backend(devices, runtime, choice, &backend) &&
        collet_device_info_at(runtime, &first, backend, 0, NULL) == COLLET_OK)
        for (uint32_t i = 1; status == COLLET_OK && devices->count + 1 < RSOXS_DEVICES &&
                             collet_device_info_at(runtime, &info, backend, i, NULL) == COLLET_OK;
             i++) {
            if (strcmp(info.name, first.name) != 0)
                continue;
            if (collet_memory(context, &stats, info.choice) != COLLET_OK) {
                fprintf(stderr, "collet-rsoxs: warning: computing without %s: %s\n", info.choice,
                        collet_last_error(context));
                continue;
            }
            if (devices->count == 0)
                status = add(devices, first.choice, strlen(first.choice), err);
            if (status == COLLET_OK)
                status = add(devices, info.choice, strlen(info.choice), err);
        }
    return status;
}

collet_status rsoxs_devices_choose(rsoxs_devices *devices, collet_context *context,
                                   const char *list, collet_error *err)
{
    return list ? choose_list(devices, context, list, err) : choose_alike(devices, context, err);
}

collet_status rsoxs_devices_context(const rsoxs_devices *devices, int64_t i,
                                    collet_runtime *runtime, collet_context **out,
                                    collet_error *err)
{
    char choice[sizeof devices->choice[0] + sizeof devices->rest];
    collet_status status = collet_context_create(runtime, out, err);
    if (status != COLLET_OK || devices->count == 0)
        return status;
    snprintf(choice, sizeof choice, "%s%s", devices->choice[i], devices->rest);
    status = collet_set_backend(*out, choice);
    return status == COLLET_OK ? status : collet_fail(err, status, "%s", collet_last_error(*out));
}

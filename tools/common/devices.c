/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs.c, tests/tools/ranks.sh */
#include "devices.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static collet_status add(tool_devices *devices, const char *name, size_t length, collet_error *err)
{
    if (devices->count == TOOL_DEVICES || length >= sizeof *devices->choice)
        return collet_fail(err, COLLET_INVALID, "--devices: more than %d, or too long a name",
                           TOOL_DEVICES);
    snprintf(devices->choice[devices->count++], sizeof *devices->choice, "%.*s", (int)length, name);
    return COLLET_OK;
}

/* 1 if device i of `count` belongs to this process. */
static int is_own(tool_place place, int64_t i, int64_t count)
{
    int64_t step = place.size < count ? place.size : count;
    return i % step == place.rank % step;
}

static collet_status read_list(tool_devices *devices, const char *list, collet_error *err)
{
    collet_status status = COLLET_OK;
    for (const char *at = list; at && status == COLLET_OK;) {
        size_t length = strcspn(at, ",");
        status = add(devices, at, length, err);
        at = at[length] ? at + length + 1 : NULL;
    }
    for (int64_t i = 0; i < devices->count && status == COLLET_OK; i++)
        for (int64_t k = 0; k < i; k++)
            if (!strcmp(devices->choice[i], devices->choice[k]))
                return collet_fail(err, COLLET_INVALID, "--devices: %s is given twice",
                                   devices->choice[i]);
    return status;
}

static collet_status choose_list(tool_devices *devices, collet_context *context, const char *list,
                                 tool_place place, collet_error *err)
{
    collet_status status = read_list(devices, list, err);
    int64_t count = devices->count;
    devices->count = 0;
    for (int64_t i = 0; i < count && status == COLLET_OK; i++) {
        char *choice = devices->choice[i];
        collet_memory_stats stats = {.struct_size = sizeof stats};
        if (!is_own(place, i, count))
            continue;
        status = collet_set_backend(context, choice);
        if (status == COLLET_OK && strchr(choice, ':'))
            status = collet_memory(context, &stats, choice); /* opens it */
        if (status != COLLET_OK)
            return collet_fail(err, status, "--devices: %s", collet_last_error(context));
        memmove(devices->choice[devices->count++], choice, sizeof *devices->choice);
    }
    return status;
}

/* Finds the first backend of a choice, and keeps the backends after it in devices->rest. 0: the backend was not
 * found, or the choice names a single device of this backend. */
static int find_backend(tool_devices *devices, collet_runtime *runtime, const char *choice,
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

/* Finds the next device of the backend, from *i on, that has the same name as `first`. */
static int next_alike(collet_runtime *runtime, size_t backend, const collet_device_info *first,
                      uint32_t *i, collet_device_info *info)
{
    while (collet_device_info_at(runtime, info, backend, (*i)++, NULL) == COLLET_OK)
        if (!strcmp(info->name, first->name))
            return 1;
    return 0;
}

static collet_status choose_alike(tool_devices *devices, collet_context *context, tool_place place,
                                  collet_error *err)
{
    collet_runtime *runtime = collet_context_runtime(context);
    collet_device_info first = {.struct_size = sizeof first}, info = first;
    collet_memory_stats stats = {.struct_size = sizeof stats};
    collet_status status = COLLET_OK;
    int64_t count = 0, k = 0;
    size_t backend;
    if (!find_backend(devices, runtime, collet_get_backend(context), &backend) ||
        collet_device_info_at(runtime, &first, backend, 0, NULL) != COLLET_OK)
        return status;
    for (uint32_t i = 0; next_alike(runtime, backend, &first, &i, &info);)
        count++;
    for (uint32_t i = 0; count > 1 && status == COLLET_OK && devices->count < TOOL_DEVICES &&
                         next_alike(runtime, backend, &first, &i, &info);
         k++) {
        if (!is_own(place, k, count))
            continue;
        if (k > 0 && collet_memory(context, &stats, info.choice) != COLLET_OK) {
            fprintf(stderr, "%s: warning: computing without %s: %s\n",
                    program_invocation_short_name, info.choice, collet_last_error(context));
            continue;
        }
        status = add(devices, info.choice, strlen(info.choice), err);
    }
    if (devices->count == 1 && place.size == 1)
        devices->count = 0; /* the choice leads there */
    return status;
}

collet_status tool_devices_choose(tool_devices *devices, collet_context *context, const char *list,
                                  tool_place place, collet_error *err)
{
    return list ? choose_list(devices, context, list, place, err)
                : choose_alike(devices, context, place, err);
}

collet_status tool_devices_context(const tool_devices *devices, int64_t i, collet_runtime *runtime,
                                   collet_context **out, collet_error *err)
{
    char choice[sizeof devices->choice[0] + sizeof devices->rest];
    collet_status status = collet_context_create(runtime, out, err);
    if (status != COLLET_OK || devices->count == 0)
        return status;
    snprintf(choice, sizeof choice, "%s%s", devices->choice[i], devices->rest);
    status = collet_set_backend(*out, choice);
    return status == COLLET_OK ? status : collet_fail(err, status, "%s", collet_last_error(*out));
}

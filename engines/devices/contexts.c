/* SPDX-License-Identifier: Apache-2.0 */
/* The contexts of a job's devices, and copies of the devices' shares.
 * Tests: tests/engines/test_devices.c, tests/tools/test_several_devices.c */
#include "devices/devices.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/struct.h"

#define CHOICE 256

/* ---- Checks ---------------------------------------------------------------------------------- */

static collet_status check_contexts(const collet_devices *d, collet_error *err)
{
    if (d->n_contexts < 1 || d->n_contexts > INT16_MAX || !d->contexts)
        return collet_fail(err, COLLET_INVALID,
                           "devices: choices is NULL, contexts is %s and n_contexts is %" PRId64
                           "; give choices, or 1 to %d contexts",
                           d->contexts ? "not NULL" : "NULL", d->n_contexts, INT16_MAX);
    for (int64_t i = 0; i < d->n_contexts; i++) {
        int given = 0;
        for (int64_t k = 0; k < i; k++)
            given |= d->contexts[i] == d->contexts[k];
        if (!d->contexts[i] || given)
            return collet_fail(err, COLLET_INVALID, "devices: contexts[%" PRId64 "] is %s", i,
                               given ? "given twice; give each context once" : "NULL");
        if (collet_context_runtime(d->contexts[i]) != collet_context_runtime(d->contexts[0]))
            return collet_fail(err, COLLET_INVALID,
                               "devices: contexts[%" PRId64 "] is of another runtime", i);
    }
    return COLLET_OK;
}

/* Copies the program's struct. */
static collet_status take(collet_devices *own, const collet_devices *given, collet_error *err)
{
    *own = (collet_devices){0};
    collet_status status = io_struct_in(own, sizeof *own, given, "devices", err);
    if (status != COLLET_OK)
        return status;
    if (own->reserved || (own->choices && (own->contexts || own->n_contexts)))
        return collet_fail(err, COLLET_INVALID, "devices: %s",
                           own->reserved ? "reserved is not 0"
                                         : "give choices or contexts, not both");
    if (own->choices)
        return *own->choices ? COLLET_OK
                             : collet_fail(err, COLLET_INVALID,
                                           "devices: choices is empty; name one or more");
    return check_contexts(own, err);
}

collet_status devices_copy(collet_devices **out, const collet_devices *given, collet_error *err)
{
    collet_devices own, *made = NULL;
    *out = NULL;
    collet_status status = given ? take(&own, given, err) : COLLET_OK;
    if (status != COLLET_OK || !given)
        return status;
    size_t texts = own.choices ? strlen(own.choices) + 1 : 0;
    size_t contexts = (size_t)own.n_contexts * sizeof(void *);
    made = malloc(sizeof *made + contexts + texts);
    if (!made)
        return collet_fail(err, COLLET_NO_MEMORY, "devices: out of memory");
    *made = own;
    if (texts)
        made->choices = memcpy(made + 1, own.choices, texts);
    else
        made->contexts = memcpy(made + 1, own.contexts, contexts);
    *out = made;
    return COLLET_OK;
}

/* ---- Opening --------------------------------------------------------------------------------- */

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

static collet_status open_choices(devices_list *list, const char *choices, collet_runtime *runtime,
                                  collet_error *err)
{
    collet_status status = COLLET_OK;
    for (const char *at = choices; at && status == COLLET_OK;) {
        char choice[CHOICE];
        int length = (int)strcspn(at, ",");
        snprintf(choice, sizeof choice, "%.*s", length, at);
        for (int64_t i = 0; i < list->count && status == COLLET_OK; i++)
            if (!strcmp(collet_get_backend(list->contexts[i]), choice))
                status = collet_fail(err, COLLET_INVALID, "devices: %s is given twice", choice);
        if (status == COLLET_OK)
            status = open_one(runtime, choice, &list->contexts[list->count++], err);
        at = at[length] ? at + length + 1 : NULL;
    }
    return status;
}

collet_status devices_open(devices_list *list, const collet_devices *given, collet_runtime *runtime,
                           collet_error *err)
{
    collet_devices d;
    int64_t most = 1;
    *list = (devices_list){0};
    collet_status status = take(&d, given, err);
    if (status == COLLET_OK && !d.choices && collet_context_runtime(*d.contexts) != runtime)
        status = collet_fail(err, COLLET_INVALID,
                             "devices: the contexts are of another runtime than the job's");
    if (status != COLLET_OK)
        return status;
    for (const char *at = d.choices; at && (at = strchr(at, ',')) != NULL; at++)
        most++;
    most = d.choices ? most : d.n_contexts;
    list->own = d.choices != NULL;
    list->contexts = calloc((size_t)most, sizeof(void *));
    if (!list->contexts)
        return collet_fail(err, COLLET_NO_MEMORY, "devices: out of memory");
    if (!d.choices) {
        memcpy(list->contexts, d.contexts, (size_t)most * sizeof(void *));
        list->count = most;
        return status;
    }
    status = open_choices(list, d.choices, runtime, err);
    if (status != COLLET_OK)
        devices_close(list);
    return status;
}

void devices_close(devices_list *list)
{
    for (int64_t i = 0; i < list->count && list->own; i++)
        collet_context_destroy(list->contexts[i]);
    free(list->contexts);
    *list = (devices_list){0};
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

/* ---- Shares that outlive the job ------------------------------------------------------------- */

struct devices_kept {
    collet_device_share share;
    char device[CHOICE];
    char error[COLLET_ERROR_TEXT];
};

int devices_shares_add(devices_shares *shares, const collet_device_share *share)
{
    struct devices_kept *list =
        realloc(shares->list, ((size_t)shares->count + 1) * sizeof *shares->list);
    if (!list)
        return 0;
    shares->list = list;
    struct devices_kept *kept = &list[shares->count++];
    kept->share = *share;
    snprintf(kept->device, sizeof kept->device, "%s", share->device);
    snprintf(kept->error, sizeof kept->error, "%s", share->error ? share->error : "");
    return 1;
}

collet_status devices_shares_at(const devices_shares *shares, collet_device_share *share,
                                size_t index)
{
    if (index >= (size_t)shares->count)
        return COLLET_NOT_FOUND;
    const struct devices_kept *kept = &shares->list[index];
    collet_device_share own = kept->share;
    own.device = kept->device;
    own.error = own.error ? kept->error : NULL;
    io_struct_out(share, &own, sizeof own);
    return COLLET_OK;
}

void devices_shares_clear(devices_shares *shares)
{
    free(shares->list);
    *shares = (devices_shares){0};
}

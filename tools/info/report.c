/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JSON.
 * Tests: tests/tools/test_info.c */
#include "info.h"

#include "common/json_add.h"

#include <stdio.h>
#include <sys/utsname.h>

static int32_t add_abi(cJSON *object, uint32_t abi)
{
    const int numbers[] = {(int)(abi >> 16), (int)(abi & 0xffffu)};
    return json_add_item(object, "abi",
                         abi ? cJSON_CreateIntArray(numbers, 2) : cJSON_CreateNull());
}

static int32_t add_features(cJSON *object, const collet_backend_info *backend)
{
    cJSON *features = cJSON_AddObjectToObject(object, "features");
    return features && json_add_bool(features, "jit", backend->jit) &&
           json_add_bool(features, "parallel", backend->parallel) &&
           json_add_bool(features, "gpu", backend->gpu);
}

static int32_t add_named(cJSON *devices, const collet_backend_info *backend,
                         const info_options *options)
{
    char choice[256];
    cJSON *object = json_append_object(devices);
    snprintf(choice, sizeof choice, "%s:%s", backend->name, options->named);
    return object && json_add_text(object, "name", choice) &&
           json_add_number(object, "kernel_count", options->named_kernels);
}

/* Adds "capabilities" and "devices", a copy of the list in the capabilities: all elements, or only the
 * requested device. Without capabilities, "devices" is empty and "capabilities" is null. */
static int32_t add_capabilities(cJSON *object, const collet_backend_info *backend,
                                const info_options *options)
{
    int32_t device = options->device;
    cJSON *root = *backend->capabilities ? cJSON_Parse(backend->capabilities) : cJSON_CreateNull();
    const cJSON *own = cJSON_GetObjectItemCaseSensitive(root, "devices");
    cJSON *devices = own && device < 0 ? cJSON_Duplicate(own, 1) : cJSON_CreateArray();

    if (device >= 0)
        cJSON_AddItemToArray(devices, cJSON_Duplicate(cJSON_GetArrayItem(own, device), 1));
    if (!json_add_item(object, "devices", devices) ||
        (options->named && !add_named(devices, backend, options))) {
        cJSON_Delete(root);
        return 0;
    }
    return json_add_item(object, "capabilities", root);
}

static int32_t add_backend(cJSON *list, const collet_backend_info *backend,
                           const info_options *options)
{
    cJSON *object = json_append_object(list);
    return object && json_add_text(object, "name", backend->name) &&
           json_add_text(object, "version", backend->version) && add_abi(object, backend->abi) &&
           json_add_text(object, "status", info_state_word(backend->state)) &&
           json_add_text(object, "reason", backend->reason) && add_features(object, backend) &&
           json_add_number(object, "device_count", backend->device_count) &&
           json_add_number(object, "kernel_count", backend->kernel_count) &&
           json_add_number(object, "priority", backend->priority) &&
           json_add_text(object, "path", backend->path) &&
           json_add_text(object, "calibration", backend->calibration) &&
           add_capabilities(object, backend, options);
}

static int32_t add_backends(cJSON *root, const collet_runtime *runtime, const info_options *options,
                            const collet_backend_info *only)
{
    cJSON *list = cJSON_AddArrayToObject(root, "backends");
    int32_t fine = list && (!only || add_backend(list, only, options));
    for (size_t i = 0; fine && !only && i < collet_backend_count(runtime); i++) {
        collet_backend_info backend = {.struct_size = sizeof backend};
        if (collet_backend_info_at(runtime, &backend, i, NULL) == COLLET_OK)
            fine = add_backend(list, &backend, options);
    }
    return fine;
}

static int32_t add_records(cJSON *root, const collet_runtime *runtime,
                           const collet_backend_info *only)
{
    cJSON *list = cJSON_AddArrayToObject(root, "records");
    int32_t fine = list != NULL;
    for (size_t i = 0; fine && i < collet_record_count(runtime); i++) {
        collet_plugin_record r = {.struct_size = sizeof r};
        if (collet_record_at(runtime, &r, i, NULL) != COLLET_OK || !info_requests_record(only, &r))
            continue;
        cJSON *object = json_append_object(list);
        fine = object && json_add_text(object, "path", r.path) &&
               json_add_text(object, "stage", r.stage) &&
               json_add_bool(object, "accepted", r.accepted) &&
               json_add_text(object, "code", r.code) && json_add_text(object, "reason", r.reason) &&
               json_add_number(object, "ms", r.milliseconds);
    }
    return fine;
}

static int32_t add_settings(cJSON *root, const collet_runtime *runtime)
{
    cJSON *list = cJSON_AddArrayToObject(root, "settings");
    int32_t fine = list != NULL;
    for (size_t i = 0; fine && i < collet_setting_count(runtime); i++) {
        collet_setting s = {.struct_size = sizeof s};
        if (collet_setting_at(runtime, &s, i, NULL) != COLLET_OK)
            continue;
        cJSON *object = json_append_object(list);
        fine = object && json_add_text(object, "key", s.key) &&
               json_add_text(object, "variable", s.environment) &&
               json_add_text(object, "type", s.type) && json_add_text(object, "values", s.values) &&
               json_add_text(object, "default", s.fallback) &&
               json_add_text(object, "value", s.value) &&
               json_add_text(object, "source", s.source) && json_add_text(object, "help", s.help);
    }
    return fine;
}

static int32_t add_system(cJSON *root)
{
    struct utsname system;
    cJSON *object = cJSON_AddObjectToObject(root, "system");
    return object && !uname(&system) && json_add_text(object, "name", system.sysname) &&
           json_add_text(object, "release", system.release) &&
           json_add_text(object, "machine", system.machine);
}

cJSON *info_json(const collet_runtime *runtime, const info_options *options,
                 const collet_backend_info *only)
{
    cJSON *root = cJSON_CreateObject();
    if (root && json_add_text(root, "collet", collet_version()) && add_system(root) &&
        add_backends(root, runtime, options, only) &&
        (!options->why || add_records(root, runtime, only)) &&
        (!options->env || add_settings(root, runtime)))
        return root;
    cJSON_Delete(root);
    return NULL;
}

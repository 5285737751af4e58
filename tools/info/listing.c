/* SPDX-License-Identifier: Apache-2.0 */
/* The readable listing. Members of the capabilities that it does not know are shown as they are. */
#include "report.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL "  %-12s"

const char *info_state_word(int32_t state)
{
    switch (state) {
    case COLLET_BACKEND_USABLE:
        return "usable";
    case COLLET_BACKEND_UNAVAILABLE:
        return "unavailable";
    default:
        return "unproven";
    }
}

static const char *yes_no(int32_t value)
{
    return value ? "yes" : "no";
}

/* ---- Values ------------------------------------------------------------------------------ */

static void print_bytes(double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1024;
        unit++;
    }
    printf("%.4g %s", bytes, units[unit]);
}

static int32_t ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && !strcmp(text + length - tail, end);
}

static void print_value(const cJSON *value);

static void print_members(const cJSON *object)
{
    for (const cJSON *member = object->child; member; member = member->next) {
        printf("%s%s%s", member == object->child ? "" : ", ", member->string ? member->string : "",
               member->string ? " " : "");
        print_value(member);
    }
}

static void print_value(const cJSON *value)
{
    if (cJSON_IsString(value))
        fputs(value->valuestring, stdout);
    else if (cJSON_IsBool(value))
        fputs(yes_no(cJSON_IsTrue(value)), stdout);
    else if (cJSON_IsNull(value))
        fputs("unknown", stdout);
    else if (cJSON_IsNumber(value) && value->string && ends_with(value->string, "bytes"))
        print_bytes(value->valuedouble);
    else if (cJSON_IsNumber(value))
        printf("%.10g", value->valuedouble);
    else
        print_members(value);
}

/* ---- A backend --------------------------------------------------------------------------- */

static int32_t is_shown_elsewhere(const char *member)
{
    static const char *const shown[] = {"jit",          "parallel", "gpu",
                                        "device_count", "devices",  "reason"};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (!strcmp(member, shown[i]))
            return 1;
    return 0;
}

static void print_device(const cJSON *device, const char *backend, int32_t index)
{
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(device, "name");
    printf("    %s:%d  ", backend, index);
    print_value(name);
    putchar('\n');
    for (const cJSON *member = device->child; member; member = member->next) {
        if (member == name)
            continue;
        printf("      %-18s ", member->string);
        print_value(member);
        putchar('\n');
    }
}

static void print_capabilities(const collet_backend_info *backend)
{
    cJSON *root = cJSON_Parse(backend->capabilities);
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(root, "devices");
    int32_t index = 0;

    printf(LABEL "%" PRIu32 "\n", "devices", backend->device_count);
    if (devices)
        for (const cJSON *device = devices->child; device; device = device->next)
            print_device(device, backend->name, index++);
    for (const cJSON *member = root ? root->child : NULL; member; member = member->next) {
        if (is_shown_elsewhere(member->string))
            continue;
        printf(LABEL, member->string);
        if (strlen(member->string) >= 12)
            putchar(' ');
        print_value(member);
        putchar('\n');
    }
    cJSON_Delete(root);
}

static void print_backend(const collet_backend_info *backend)
{
    const char *state = backend->state == COLLET_BACKEND_UNPROVEN ? "not tried yet"
                                                                  : info_state_word(backend->state);
    printf("%s%s%s: %s%s%s\n", backend->name, *backend->version ? " " : "", backend->version, state,
           *backend->reason ? ": " : "", backend->reason);
    if (backend->abi)
        printf(LABEL "%" PRIu32 ".%" PRIu32 "\n", "ABI", backend->abi >> 16,
               backend->abi & 0xffffu);
    if (backend->abi) {
        printf(LABEL "jit %s, parallel %s, gpu %s\n", "features", yes_no(backend->jit),
               yes_no(backend->parallel), yes_no(backend->gpu));
        printf(LABEL "%" PRId32 "\n", "priority", backend->priority);
        printf(LABEL "%" PRIu32 "\n", "kernels", backend->kernel_count);
    }
    if (*backend->capabilities)
        print_capabilities(backend);
    printf(LABEL "%s\n", "path", backend->path);
}

void info_list_backends(const collet_runtime *runtime, const info_options *options)
{
    size_t count = collet_backend_count(runtime), shown = 0;
    for (size_t i = 0; i < count; i++) {
        collet_backend_info backend = {.struct_size = sizeof backend};
        if (collet_backend_info_at(runtime, i, &backend) != COLLET_OK ||
            !info_wanted(options, &backend))
            continue;
        if (shown++)
            putchar('\n');
        print_backend(&backend);
    }
    if (!count) {
        puts("no backend was found. Searched:");
        info_list_directories(runtime);
        puts("COLLET_PLUGIN_PATH names other directories; --why tells what was seen.");
    }
}

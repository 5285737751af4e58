/* SPDX-License-Identifier: Apache-2.0 */
/* Two tables: the steps of the search for plugins, and the settings.
 * Tests: tests/tools/test_info.c */
#include "info.h"

#include "common/output.h"

#include <stdio.h>
#include <string.h>

/* ---- Records ----------------------------------------------------------------------------- */

static int32_t record_get(const collet_runtime *runtime, size_t index, collet_plugin_record *record)
{
    *record = (collet_plugin_record){.struct_size = sizeof *record};
    return collet_record_at(runtime, record, index, NULL) == COLLET_OK;
}

static void print_record(const collet_plugin_record *record)
{
    int indent =
        printf("  %-9s %-8s %-20s %9.3f ms  ", record->stage,
               record->accepted ? "passed" : "refused", record->code, record->milliseconds);
    wrap_print(record->reason, indent);
}

static int32_t path_seen_before(const collet_runtime *runtime, size_t index, const char *path)
{
    collet_plugin_record earlier;
    for (size_t i = 0; i < index; i++)
        if (record_get(runtime, i, &earlier) && !strcmp(earlier.path, path))
            return 1;
    return 0;
}

void info_list_file(const collet_runtime *runtime, const char *path)
{
    collet_plugin_record record;
    printf("%s\n", tool_shown(path));
    for (size_t k = 0; k < collet_record_count(runtime); k++)
        if (record_get(runtime, k, &record) && !strcmp(record.path, path))
            print_record(&record);
}

void info_list_records(const collet_runtime *runtime, const collet_backend_info *only)
{
    size_t count = collet_record_count(runtime);
    collet_plugin_record first;

    puts("Steps of the search:");
    for (size_t i = 0; i < count; i++) {
        if (!record_get(runtime, i, &first) || !info_requests_record(only, &first) ||
            path_seen_before(runtime, i, first.path))
            continue;
        info_list_file(runtime, first.path);
    }
}

void info_list_calibrations(const collet_runtime *runtime)
{
    int32_t any = 0;
    for (size_t i = 0; i < collet_backend_count(runtime); i++) {
        collet_backend_info b = {.struct_size = sizeof b};
        if (collet_backend_info_at(runtime, &b, i, NULL) != COLLET_OK || !*b.calibration)
            continue;
        printf("%s  %s: %s\n", any++ ? "" : "Calibrations in use:\n", b.name,
               tool_shown(b.calibration));
    }
    puts(any ? "" : "Calibrations in use: none\n");
}

void info_list_directories(const collet_runtime *runtime)
{
    collet_plugin_record record;
    int32_t any = 0;
    for (size_t i = 0; i < collet_record_count(runtime); i++) {
        if (!record_get(runtime, i, &record) ||
            (record.accepted && strcmp(record.stage, "search") != 0))
            continue;
        printf("  %s%s%s\n", tool_shown(record.path), *record.reason ? ": " : "", record.reason);
        any = 1;
    }
    if (!any)
        puts("  nothing: the search path is empty");
}

/* ---- Settings ---------------------------------------------------------------------------- */

static void print_setting(const collet_setting *s)
{
    char text[4096], type[1536];
    const char *joint = !*s->values                  ? ""
                        : !strcmp(s->type, "words")  ? " of "
                        : !strcmp(s->type, "choice") ? ": "
                                                     : " or ";
    int indent = printf("%-18s ", s->key);
    snprintf(text, sizeof text, "%s (%s)", *s->value ? s->value : "none", s->source);
    wrap_print(text, indent);
    snprintf(type, sizeof type, "%s%s%s", s->type, joint, s->values);
    snprintf(text, sizeof text, "%s. %s%s%s%s%s", s->help, s->environment,
             *s->environment ? ", " : "", type, *s->fallback ? ", default " : "", s->fallback);
    printf("    ");
    wrap_print(text, 4);
}

/* Prints why the cache of probes cannot be used. */
static void print_cache(const collet_runtime *runtime)
{
    collet_plugin_record r;
    for (size_t i = 0; i < collet_record_count(runtime); i++) {
        r = (collet_plugin_record){.struct_size = sizeof r};
        if (collet_record_at(runtime, &r, i, NULL) != COLLET_OK || strcmp(r.stage, "cache") != 0)
            continue;
        printf("    ");
        wrap_print(r.reason, 4);
    }
}

/* 1 if the setting is for tests, developers or probes (docs/contributing/machines.md). */
static int is_internal(const collet_setting *s)
{
    return !strncmp(s->help, "internal: ", 10) || !strcmp(s->type, "probe");
}

void info_list_settings(const collet_runtime *runtime)
{
    for (size_t i = 0; i < collet_setting_count(runtime); i++) {
        collet_setting s = {.struct_size = sizeof s};
        if (collet_setting_at(runtime, &s, i, NULL) != COLLET_OK || is_internal(&s))
            continue;
        print_setting(&s);
        if (!strcmp(s.key, "cache_dir"))
            print_cache(runtime);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The two tables: the steps of the search for plugins, and the settings. */
#include "report.h"

#include <stdio.h>
#include <string.h>

#define COLUMNS 6

/* ---- Records ----------------------------------------------------------------------------- */

static int32_t record_get(const collet_runtime *runtime, size_t index, collet_plugin_record *record)
{
    *record = (collet_plugin_record){.struct_size = sizeof *record};
    return collet_record_at(runtime, index, record) == COLLET_OK;
}

static void print_record(const collet_plugin_record *record)
{
    printf("  %-9s %-8s %-20s %9.3f ms  %s\n", record->stage,
           record->accepted ? "passed" : "refused", record->code, record->milliseconds,
           record->reason);
}

static int32_t path_seen_before(const collet_runtime *runtime, size_t index, const char *path)
{
    collet_plugin_record earlier;
    for (size_t i = 0; i < index; i++)
        if (record_get(runtime, i, &earlier) && !strcmp(earlier.path, path))
            return 1;
    return 0;
}

void info_list_records(const collet_runtime *runtime, const collet_backend_info *only)
{
    size_t count = collet_record_count(runtime);
    collet_plugin_record first, record;

    puts("What was looked at, and what came of it:");
    for (size_t i = 0; i < count; i++) {
        if (!record_get(runtime, i, &first) || !info_record_wanted(only, &first) ||
            path_seen_before(runtime, i, first.path))
            continue;
        printf("%s\n", first.path);
        for (size_t k = i; k < count; k++)
            if (record_get(runtime, k, &record) && !strcmp(record.path, first.path))
                print_record(&record);
    }
}

void info_list_directories(const collet_runtime *runtime)
{
    collet_plugin_record record;
    int32_t any = 0;
    for (size_t i = 0; i < collet_record_count(runtime); i++) {
        if (!record_get(runtime, i, &record) || strcmp(record.stage, "search"))
            continue;
        printf("  %s%s%s\n", record.path, *record.reason ? ": " : "", record.reason);
        any = 1;
    }
    if (!any)
        puts("  nothing: the search path is empty");
}

/* ---- Settings ---------------------------------------------------------------------------- */

typedef struct setting_row {
    const char *cell[COLUMNS];
    const char *help;
} setting_row;

static setting_row setting_get(const collet_runtime *runtime, size_t index)
{
    collet_setting s = {.struct_size = sizeof s};
    setting_row row = {{"", "", "", "", "", ""}, ""};
    if (collet_setting_at(runtime, index, &s) == COLLET_OK)
        row = (setting_row){{s.key, s.environment, s.type, *s.fallback ? s.fallback : "-",
                             *s.value ? s.value : "-", s.source},
                            s.help};
    return row;
}

static void print_row(const setting_row *row, const int *width)
{
    for (size_t c = 0; c < COLUMNS; c++)
        printf("%-*s  ", width[c], row->cell[c]);
    printf("%s\n", row->help);
}

void info_list_settings(const collet_runtime *runtime)
{
    static const setting_row head = {{"key", "variable", "type", "default", "value", "source"},
                                     "meaning"};
    size_t count = collet_setting_count(runtime);
    int width[COLUMNS];

    for (size_t c = 0; c < COLUMNS; c++) {
        width[c] = (int)strlen(head.cell[c]);
        for (size_t i = 0; i < count; i++) {
            setting_row row = setting_get(runtime, i);
            int length = (int)strlen(row.cell[c]);
            width[c] = length > width[c] ? length : width[c];
        }
    }
    print_row(&head, width);
    for (size_t i = 0; i < count; i++) {
        setting_row row = setting_get(runtime, i);
        print_row(&row, width);
    }
}

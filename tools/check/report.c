/* SPDX-License-Identifier: Apache-2.0 */
/* The report: a line for each row as it ends, or one JSON text at the end.
 * Tests: tests/conformance/test_broken.c */
#include "check.h"

#include "common/output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

static const char *const state_words[] = {"WAIT", "PASS", "FAIL", "SKIP"};
static const tool_paint state_paints[] = {TOOL_PLAIN, TOOL_GREEN, TOOL_RED, TOOL_YELLOW};
static const char *const json_states[] = {"waiting", "pass", "fail", "skip"};

static void print_state(int state)
{
    printf("%s%s%s", tool_colour(stdout, state_paints[state]), state_words[state],
           tool_colour(stdout, TOOL_PLAIN));
}

/* Writes the command that runs one case again. */
static void rerun(const check_options *options, const check_row *row, char text[KIT_TEXT])
{
    char device[16] = "", layer[80] = "";
    /* If the target is a file, all its devices are checked: no device is named. */
    if (row->device > 0 && !strpbrk(options->target, ":/."))
        snprintf(device, sizeof device, ":%d", row->device);
    if (options->layer)
        snprintf(layer, sizeof layer, " --layer %s", options->layer);
    if (row->sig[0] == '\0')
        snprintf(text, KIT_TEXT, "backend-check %s%s%s --verbs --op %s", options->target, device,
                 layer, row->op);
    else
        snprintf(text, KIT_TEXT, "backend-check %s%s%s --op %s --sig %s --case %d --seed %" PRIu64,
                 options->target, device, layer, row->op, row->sig, row->result.first,
                 options->seed);
}

void check_report_begin(const check_options *options, const check_shared *shared)
{
    if (options->json)
        return;
    printf("%s %s (%s), seed %" PRIu64 "%s\n", shared->called, shared->version,
           tool_shown(shared->path), options->seed, options->large == 0 ? ", quick" : "");
    fflush(stdout);
}

static void print_margin(const kit_result *r)
{
    if (!r->limit)
        return;
    if (r->limit->limit == 0.0)
        printf("  %s", r->error == 0.0 ? "exact" : "not exact");
    else
        printf("  worst %.3g of %.3g %s (%s)", r->error, r->limit->limit, r->limit->unit,
               r->limit->quantity);
}

void check_report_row(const check_options *options, const check_row *row)
{
    char again[KIT_TEXT];
    if (options->json)
        return;
    print_state(row->state);
    if (row->sig[0] == '\0')
        printf("  %-22s :%-3d", row->op, row->device);
    else if (row->device)
        printf("  %-16s %s:%-*d", row->op, row->sig, (int)(9 - strlen(row->sig)), row->device);
    else
        printf("  %-16s %-10s", row->op, row->sig);
    if (row->sig[0] == '\0' && row->state == CHECK_ROW_PASS) {
        printf("\n");
        fflush(stdout);
        return;
    }
    if (row->state == CHECK_ROW_SKIP) {
        printf("  %s\n", tool_shown(row->why));
        fflush(stdout);
        return;
    }
    printf(" %5d case%-1s", row->result.cases, tool_plural(row->result.cases));
    print_margin(&row->result);
    if (row->result.refused)
        printf("  (%d refused)", row->result.refused);
    printf("\n");
    if (row->state == CHECK_ROW_FAIL) {
        rerun(options, row, again);
        printf("      %d case%s failed; %s\n", row->result.failures,
               tool_plural(row->result.failures), tool_shown(row->why));
        if (row->result.first >= 0 || row->sig[0] == '\0')
            printf("      again: %s\n", tool_shown(again));
    }
    fflush(stdout);
}

static void count_rows(const check_shared *shared, int counts[4], int *cases)
{
    memset(counts, 0, 4 * sizeof *counts);
    *cases = 0;
    for (int32_t i = 0; i < shared->row_count; i++) {
        counts[shared->rows[i].state]++;
        *cases += shared->rows[i].result.cases;
    }
}

static void print_summary(const check_shared *shared, int status, double seconds)
{
    int counts[4], cases;
    count_rows(shared, counts, &cases);
    if (status == TOOL_EXIT_UNAVAILABLE) {
        print_state(CHECK_ROW_SKIP);
        printf("  %s\n", tool_shown(shared->reason));
    } else if (shared->phase == CHECK_DONE || shared->phase == CHECK_STOPPED) {
        int waiting = counts[CHECK_ROW_WAITING];
        printf("%s: %d row%s passed, %d failed, %d skipped; %d case%s in %.1f s", shared->called,
               counts[CHECK_ROW_PASS], tool_plural(counts[CHECK_ROW_PASS]), counts[CHECK_ROW_FAIL],
               counts[CHECK_ROW_SKIP], cases, tool_plural(cases), seconds);
        if (waiting)
            printf("; %d row%s not checked", waiting, tool_plural(waiting));
        putchar('\n');
    }
    if (status != TOOL_EXIT_UNAVAILABLE && shared->phase != CHECK_DONE) {
        fflush(stdout);
        tool_complain("backend-check", tool_shown(shared->reason));
    }
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* Adds a number; infinity becomes the text "infinite", because JSON has no infinity. */
static void add_number(cJSON *object, const char *name, double value)
{
    if (isfinite(value))
        cJSON_AddNumberToObject(object, name, value);
    else
        cJSON_AddStringToObject(object, name, "infinite");
}

static cJSON *row_json(const check_options *options, const check_row *row)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "op", row->op);
    cJSON_AddStringToObject(object, "sig", row->sig);
    cJSON_AddNumberToObject(object, "device", row->device);
    cJSON_AddStringToObject(object, "status", json_states[row->state]);
    cJSON_AddNumberToObject(object, "cases", row->result.cases);
    cJSON_AddNumberToObject(object, "failures", row->result.failures);
    cJSON_AddNumberToObject(object, "refused", row->result.refused);
    if (row->result.limit) {
        cJSON *worst = cJSON_AddObjectToObject(object, "worst");
        cJSON_AddStringToObject(worst, "quantity", row->result.limit->quantity);
        add_number(worst, "error", row->result.error);
        add_number(worst, "limit", row->result.limit->limit);
        cJSON_AddStringToObject(worst, "unit", row->result.limit->unit);
    }
    if (row->state == CHECK_ROW_FAIL || row->state == CHECK_ROW_SKIP)
        cJSON_AddStringToObject(object, "reason", row->why);
    if (row->state == CHECK_ROW_FAIL) {
        char again[KIT_TEXT];
        rerun(options, row, again);
        cJSON_AddNumberToObject(object, "first_case", row->result.first);
        cJSON_AddStringToObject(object, "again", again);
    }
    return object;
}

static void print_json(cJSON *document)
{
    if (!tool_print_json(document))
        fprintf(stderr, "backend-check: out of memory\n");
    cJSON_Delete(document);
}

static void print_results(const check_options *options, const check_shared *shared, int status,
                          double seconds)
{
    cJSON *document = cJSON_CreateObject();
    int counts[4], cases;
    count_rows(shared, counts, &cases);
    cJSON_AddStringToObject(document, "backend", shared->called);
    cJSON_AddStringToObject(document, "version", shared->version);
    cJSON_AddStringToObject(document, "path", shared->path);
    cJSON_AddNumberToObject(document, "seed", (double)options->seed);
    cJSON_AddBoolToObject(document, "quick", options->large == 0);
    cJSON *rows = cJSON_AddArrayToObject(document, "rows");
    for (int32_t i = 0; i < shared->row_count; i++)
        cJSON_AddItemToArray(rows, row_json(options, &shared->rows[i]));
    cJSON_AddNumberToObject(document, "passed", counts[CHECK_ROW_PASS]);
    cJSON_AddNumberToObject(document, "failed", counts[CHECK_ROW_FAIL]);
    cJSON_AddNumberToObject(document, "skipped", counts[CHECK_ROW_SKIP]);
    cJSON_AddNumberToObject(document, "cases", cases);
    cJSON_AddNumberToObject(document, "seconds", seconds);
    cJSON_AddNumberToObject(document, "exit_status", status);
    if (shared->phase != CHECK_DONE)
        cJSON_AddStringToObject(document, "reason", shared->reason);
    print_json(document);
}

void check_report_end(const check_options *options, const check_shared *shared, int status,
                      double seconds)
{
    if (options->json)
        print_results(options, shared, status, seconds);
    else
        print_summary(shared, status, seconds);
}

/* ---- --list -------------------------------------------------------------------------------- */

typedef struct listed_op {
    uint32_t id;
    const char *name, *family, *shapes, *sigs, *split, *check, *summary;
} listed_op;

#define COLLET_OP(NAME, id, name, family, operands, rule, sigs, params, alias, split, check,       \
                  measure, summary)                                                                \
    {id, #name, #family, operands, sigs, split, #check, summary},
static const listed_op listed[] = {
#include <collet/ops.def>
};

static void list_text(void)
{
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++) {
        const listed_op *op = &listed[i];
        printf("%s  (%s, %s): %s\n    shapes  %s\n    sigs    %s\n", op->name, op->family,
               op->check, op->summary, op->shapes, op->sigs);
        if (op->split[0])
            printf("    split   %s\n", op->split);
        const kit_limit *l;
        for (size_t k = 0; (l = kit_limit_at(op->id, k)); k++)
            printf("    limit   %s%s%s: %.3g %s\n", l->quantity, l->dtype ? " " : "",
                   l->dtype ? collet_dtype_name(l->dtype) : "", l->limit, l->unit);
    }
}

static void list_json(void)
{
    cJSON *document = cJSON_CreateObject(), *ops = cJSON_AddArrayToObject(document, "ops");
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++) {
        cJSON *op = cJSON_CreateObject();
        cJSON_AddStringToObject(op, "name", listed[i].name);
        cJSON_AddStringToObject(op, "family", listed[i].family);
        cJSON_AddStringToObject(op, "summary", listed[i].summary);
        cJSON_AddStringToObject(op, "shapes", listed[i].shapes);
        cJSON_AddStringToObject(op, "sigs", listed[i].sigs);
        cJSON_AddStringToObject(op, "split", listed[i].split);
        cJSON_AddStringToObject(op, "check", listed[i].check);
        cJSON *limits = cJSON_AddArrayToObject(op, "limits");
        const kit_limit *l;
        for (size_t k = 0; (l = kit_limit_at(listed[i].id, k)); k++) {
            cJSON *limit = cJSON_CreateObject();
            cJSON_AddStringToObject(limit, "quantity", l->quantity);
            cJSON_AddStringToObject(limit, "dtype", collet_dtype_name(l->dtype));
            cJSON_AddNumberToObject(limit, "limit", l->limit);
            cJSON_AddStringToObject(limit, "unit", l->unit);
            cJSON_AddItemToArray(limits, limit);
        }
        cJSON_AddItemToArray(ops, op);
    }
    print_json(document);
}

void check_list(const check_options *options)
{
    if (options->json)
        list_json();
    else
        list_text();
}

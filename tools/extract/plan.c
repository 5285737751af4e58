/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_several_devices.c */
#include "plan.h"

#include "common/json_add.h"
#include "common/output.h"
#include "common/progress.h"
#include "common/shares.h"
#include "common/size.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES 64

/* The measurements of the devices; the names belong to the trajectory. */
typedef struct measured {
    collet_device_share shares[DEVICES];
    int64_t n;
} measured;

static int print_json(const collet_trajectory_plan *plan, const measured *m)
{
    cJSON *root = cJSON_CreateObject();
    int done = root && json_add_number(root, "batch_frames", (double)plan->batch_frames) &&
               json_add_number(root, "batches", (double)plan->batches) &&
               json_add_number(root, "host_bytes", (double)plan->host_bytes) &&
               json_add_number(root, "bytes", (double)plan->bytes);

    if (done)
        tool_shares_plan(m->shares, m->n, "frames", root);
    done = done && tool_print_json(root);
    cJSON_Delete(root);
    return done;
}

static int print_text(const collet_trajectory_plan *plan, const measured *m)
{
    char host[TOOL_SIZE_TEXT], device[TOOL_SIZE_TEXT];

    printf("%lld frame%s at a time, %lld such batches in memory, %s; %s on %s\n",
           (long long)plan->batch_frames, tool_plural(plan->batch_frames), (long long)plan->batches,
           tool_size_format(host, (double)plan->host_bytes),
           tool_size_format(device, (double)plan->bytes), m->n > 1 ? "each device" : "the device");
    tool_shares_plan(m->shares, m->n, "frames", NULL);
    return 1;
}

int extract_plan(const extract_options *options)
{
    collet_trajectory_plan plan = {.struct_size = sizeof plan};
    collet_trajectory_options settings = options->settings;
    collet_trajectory *trajectory = NULL;
    tool_progress progress;
    measured m = {.n = 0};
    collet_error err;

    tool_progress_begin(&progress, "collet-extract", "frames", stderr, options->quiet);
    settings.log = tool_log;
    settings.log_user = &progress;
    collet_status status = collet_trajectory_create(&trajectory, &settings, &err);
    if (status == COLLET_OK)
        status = collet_trajectory_plan_work(trajectory, &plan, &err);
    tool_progress_end(&progress);
    for (; status == COLLET_OK && m.n < DEVICES; m.n++) {
        m.shares[m.n].struct_size = sizeof *m.shares;
        if (collet_trajectory_share_at(trajectory, &m.shares[m.n], (size_t)m.n, NULL) != COLLET_OK)
            break;
    }
    int exit_status = status != COLLET_OK ? tool_exit_of(status) : TOOL_EXIT_FAILURE;
    if (status != COLLET_OK)
        extract_complain(err.text);
    else if (!(options->json ? print_json(&plan, &m) : print_text(&plan, &m)))
        extract_complain("out of memory for the plan");
    else if (tool_flush("collet-extract", NULL))
        exit_status = TOOL_EXIT_OK;
    collet_trajectory_destroy(trajectory);
    return exit_status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation number N fails while calibrations are written, read, compared, and used by a call and its
 * explanation: each failure is reported or changes nothing, and nothing leaks. */
#include <cjson/cJSON.h>

#include "common/failing_malloc.h"
#include "common/support.h"

#define MADE "{\"format\":1,\"made\":\"2026-11-27T15:40:00Z\","
#define SCALAR MADE "\"times\":{\"add f32\":[[1,1e-7],[1000000,1e-3]]}}"
#define REMOTE                                                                                     \
    MADE "\"calibrated\":\"f32/5:own=1\","                                                         \
         "\"transfer\":{\"to_device\":1e12,\"to_host\":1e12,\"latency\":1e-9},"                    \
         "\"times\":{\"add f32\":[[1,1e-9],[1000000,1e-5]]}}"

static char directory[] = "/tmp/collet-calibration-XXXXXX", setting[64];

static collet_status write_both(const collet_runtime *rt, collet_error *err)
{
    collet_status status = collet_calibration_write(rt, NULL, 0, "remote", REMOTE, err);
    return status == COLLET_OK ? collet_calibration_write(rt, NULL, 0, "cpu_scalar", SCALAR, err)
                               : status;
}

static collet_status explain_and_call(collet_context *cx)
{
    const collet_scalar one = {.dtype = COLLET_F32, .value.f32 = 1};
    const int64_t n = 4000;
    char text[4096];
    collet_array *a = NULL;
    collet_status status = collet_array_create(cx, &a, COLLET_F32, 1, &n);
    if (status == COLLET_OK)
        status = collet_op_fill(cx, a, &one);
    if (status == COLLET_OK)
        status = collet_explain(cx, COLLET_OP_ADD, text, sizeof text, &a,
                                (const collet_array *const[]){a, a}, NULL);
    if (status == COLLET_OK)
        status = collet_op_add(cx, a, a, a);
    collet_array_destroy(a);
    return status;
}

static collet_status whole_session(collet_error *err)
{
    const char *const settings[] = {setting, "log=off", "probe=on", "calibration=on", NULL};
    collet_runtime *rt = NULL;
    collet_context *cx = NULL;
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = REMOTE_PLUGIN ":" SCALAR_PLUGIN,
                                      .settings = settings};
    collet_status status = collet_runtime_create(&rt, &options, err);
    if (status == COLLET_OK)
        status = write_both(rt, err);
    if (status == COLLET_OK)
        status = collet_context_create(rt, &cx, err);
    if (status == COLLET_OK) {
        status = explain_and_call(cx);
        if (status != COLLET_OK)
            collet_fail(err, status, "%s", collet_last_error(cx));
    }
    collet_context_destroy(cx);
    collet_runtime_destroy(rt);
    return status;
}

TEST(each_allocation_fails)
{
    collet_error err;
    long n = 0, reported = 0;
    if (whole_session(&err) != COLLET_OK) /* leaves files for the sessions after it */
        fail_msg("%s", err.text);
    for (;; n++) {
        long before = allocation_outstanding;
        memset(&err, 0, sizeof err);
        allocation_failed = 0;
        allocation_countdown = n;
        collet_status status = whole_session(&err);
        allocation_countdown = -1;
        int unproven = status == COLLET_UNAVAILABLE; /* where the probe failed */
        if (allocation_outstanding != before)
            fail_msg("allocation %ld: %ld blocks are left (%s)", n, allocation_outstanding - before,
                     err.text);
        if (status != COLLET_OK && ((status != COLLET_NO_MEMORY && !unproven) || !err.text[0]))
            fail_msg("allocation %ld: %s: %s", n, collet_status_name(status), err.text);
        reported += status != COLLET_OK;
        if (!allocation_failed)
            break;
    }
    print_message("%ld allocations, %ld failures reported\n", n, reported);
    assert_true(n > 100 && reported > n / 2);
}

static int set_up(void **state)
{
    cJSON_Hooks hooks = {malloc, free}; /* cJSON allocates through the wrappers, too */
    cJSON_InitHooks(&hooks);
    return !mkdtemp(directory) || snprintf(setting, sizeof setting, "cache_dir=%s", directory) < 0;
}

static int tear_down(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command);
}

TEST_GROUP(set_up, tear_down)

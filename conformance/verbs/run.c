/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/conformance/verbs/defects.sh */
#include "verbs/verbs.h"

#include <stdlib.h>
#include <string.h>

static const kit_verb *const themes[] = {verbs_device,     verbs_order, verbs_wait,   verbs_queues,
                                         verbs_memory,     verbs_large, verbs_rows,   verbs_calls,
                                         verbs_conduct,    verbs_leaks, verbs_short,  verbs_failure,
                                         verbs_extensions, verbs_own,   verbs_timing, verbs_limits};

const kit_verb *kit_verb_at(size_t index)
{
    for (size_t i = 0; i < sizeof themes / sizeof *themes; i++)
        for (const kit_verb *v = themes[i]; v->name; v++)
            if (index-- == 0)
                return v;
    return NULL;
}

static void find_add(testbed *b)
{
    b->dtype = COLLET_F32;
    b->add = testbed_row(b, COLLET_OP_ADD, COLLET_SIG(COLLET_F32, COLLET_F32, COLLET_F32));
    if (b->add < 0) {
        b->dtype = COLLET_F64;
        b->add = testbed_row(b, COLLET_OP_ADD, COLLET_SIG(COLLET_F64, COLLET_F64, COLLET_F64));
    }
    b->size = b->dtype == COLLET_F32 ? 4 : 8;
}

uint32_t kit_target_lacks(kit_target *target, uint32_t device)
{
    collet_error err;
    collet_device *opened = NULL;
    collet_device_properties p = {.struct_size = sizeof p};
    if (target->plugin->device_open(target->plugin, &opened, &p, &target->host, device,
                                    target_device_name(target, device), &err) != COLLET_OK)
        return 0; /* for the checks to report */
    testbed b = {.plugin = target->plugin, .device = opened};
    find_add(&b);
    target->plugin->device_close(opened);
    return (b.add < 0 ? NEEDS_ADD : 0) | (p.memory == COLLET_MEMORY_OWN ? 0 : NEEDS_MEMORY) |
           (p.order == COLLET_ORDER_QUEUES ? 0 : NEEDS_QUEUES);
}

bool kit_verb_applies(const kit_verb *verb, uint32_t lacks)
{
    return !(verb->needs & lacks);
}

const char *kit_verb_name(const kit_verb *verb)
{
    return verb->name;
}

static void run(testbed *b, const kit_verb *verb)
{
    testbed_open(b);
    find_add(b);
    if (verb->needs & NEEDS_CLOSED)
        testbed_close(b);
    b->entered = true;
    verb->check(b);
    if (b->device)
        testbed_close(b);
    testbed_logged(b, "device_close");
}

bool kit_run_verb(const kit_session *session, const kit_verb *verb, kit_target *target,
                  uint32_t device, kit_result *result)
{
    kit_verdict verdict = {0};
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, serial = PTHREAD_MUTEX_INITIALIZER;
    testbed b = {.target = target,
                 .plugin = target->plugin,
                 .session = session,
                 .index = device,
                 .main = pthread_self(),
                 .verdict = &verdict,
                 .lock = &lock,
                 .serial = &serial};
    *result = (kit_result){.first = -1, .planned = 1};
    memset(target->settings, 0, sizeof target->settings);
    target->logged[0] = '\0';
    session->progress(session->user, 0, verb->name);
    if (setjmp(b.escape) == 0)
        run(&b, verb);
    else if (b.skipped && !b.entered)
        b.plugin->device_close(b.device);
    allocation_watch(NULL, NULL);
    allocation_fail(-1);
    thread_creation_fail(false);
    bool same = arguments_free(&b);
    if (!verdict.failed && !b.skipped && !same)
        kit_fail(&verdict, "memory of a call's arguments was written after the call returned");
    memcpy(result->text, verdict.text, sizeof result->text);
    result->cases = !b.skipped;
    result->failures = verdict.failed;
    return !verdict.failed && !(b.skipped && b.entered);
}

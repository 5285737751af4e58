/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_device.c, tests/core/test_select.c */
#include "backend.h"

int backend_state(const backend *b)
{
    int state = atomic_load(&b->state);
    return state == COLLET_BACKEND_USABLE && !b->device_count ? COLLET_BACKEND_UNAVAILABLE : state;
}

const char *backend_reason(const backend *b, int state)
{
    if (state != COLLET_BACKEND_UNAVAILABLE)
        return state == COLLET_BACKEND_UNPROVEN ? b->plugin->reason : "";
    return b->reason ? b->reason : b->plugin->reason;
}

collet_status backend_left_out(const backend *b, const char *code, const char *text,
                               collet_error *err)
{
    refusal why;
    refuse_with(&why, COLLET_FORMAT, code, "%s", text);
    log_message(&b->runtime->log, COLLET_LOG_WARNING, "%s: left out: %s", b->plugin->name, text);
    return loader_note(b->plugin, b->runtime->records, &why, err);
}

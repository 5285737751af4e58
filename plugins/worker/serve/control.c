/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of the plugin.
 * Tests: tests/worker/test_worker.c */
#include <unistd.h>

#include "serve.h"

/* Answers a request. A descriptor that a called function closes is set to -1 in `fds`; the caller closes the other
 * descriptors. */
static collet_status answer(server *s, const wire_call *m, size_t bytes, int fds[2],
                            wire_reply *reply, collet_error *err)
{
    collet_status status;
    switch (m->head.verb) {
    case WIRE_ALLOC:
        return serve_buffer_alloc(s, m->head.bytes, fds[0], &reply->id, err);
    case WIRE_QUEUE:
        status = serve_queue_create(s, fds[0], fds[1], &reply->id, err);
        fds[0] = fds[1] = -1;
        return status;
    case WIRE_DESTROY:
        serve_queue_destroy(s, m->head.id);
        return COLLET_OK;
    case WIRE_ACCEPTS:
        return serve_call_valid(s, m, bytes) ? serve_accepts(s, m, &reply->bytes, err)
                                             : collet_fail(err, COLLET_REFUSED, "no such call");
    case WIRE_TRIM:
        serve_enter(s);
        if (s->trim)
            s->trim->trim(s->device);
        serve_leave(s);
        return COLLET_OK;
    default:
        return collet_fail(err, COLLET_REFUSED, "the worker does not know the request %u",
                           m->head.verb);
    }
}

void serve_control(server *s)
{
    for (;;) {
        wire_call message;
        wire_reply reply = {.status = COLLET_OK};
        collet_error err = {COLLET_OK, ""};
        int fds[2] = {-1, -1}, fd_count = 2;
        long got = wire_receive(WIRE_CONTROL, &message, sizeof message, fds, &fd_count, 0);
        if (got < (long)sizeof message.head)
            break;
        if (message.head.verb == WIRE_FREE) {
            serve_buffer_free(s, message.head.id);
            continue;
        }
        reply.status = answer(s, &message, (size_t)got, fds, &reply, &err);
        for (int i = 0; i < fd_count; i++)
            if (fds[i] >= 0)
                close(fds[i]);
        wire_text(reply.text, err.text);
        if (wire_send(WIRE_CONTROL, &reply, sizeof reply, NULL, 0))
            break;
    }
    /* If the program has ended, it has not destroyed its queues, and they may still run commands. */
    if (!s->queues)
        s->plugin->device_close(s->device);
}

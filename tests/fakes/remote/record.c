/* SPDX-License-Identifier: Apache-2.0 */
/* collet.record/1: recorded tasks are copied into the queue. A trim makes recordings useless. */
#include <stdlib.h>
#include <string.h>

#include "remote.h"

#define COUNT(d, counter, by)                                                                      \
    do {                                                                                           \
        if ((d)->control)                                                                          \
            atomic_fetch_add(&(d)->control->counter, by);                                          \
    } while (0)

static collet_status begin(collet_device *d, collet_queue *q, collet_error *err)
{
    collet_recording *r = calloc(1, sizeof *r);
    if (!r)
        return d->host->fail(err, COLLET_REFUSED, "no memory for a recording");
    pthread_mutex_lock(&d->lock);
    r->trims = d->trims;
    pthread_mutex_unlock(&d->lock);
    r->queue = q;
    r->last = &r->first;
    *queue_recording(q) = r;
    COUNT(d, begun, 1);
    return COLLET_OK;
}

static void recording_free(collet_recording *r)
{
    while (r && r->first) {
        task *t = r->first;
        r->first = t->next;
        free(t);
    }
    free(r);
}

static void release(collet_device *d, collet_recording *r)
{
    if (r && r->copies)
        abort();
    if (r)
        COUNT(d, recordings, -1);
    recording_free(r);
}

static collet_status end(collet_device *d, collet_queue *q, collet_recording **recording,
                         collet_error *err)
{
    collet_recording *r = *queue_recording(q);
    *queue_recording(q) = NULL;
    (void)err;
    if (!recording) {
        recording_free(r);
        return COLLET_OK;
    }
    COUNT(d, recorded, 1);
    if (!*recording) {
        COUNT(d, recordings, 1);
        *recording = r;
        return COLLET_OK;
    }
    /* Copies of the replaced one may be in queues and count themselves in it. */
    collet_recording *kept = *recording;
    task *replaced = kept->first;
    kept->queue = q;
    kept->trims = r->trims;
    kept->first = r->first;
    r->first = replaced;
    recording_free(r);
    return COLLET_OK;
}

/* A copy that is a new kernel call. */
static collet_status copy(collet_device *d, collet_recording *r, const task *t, task **out,
                          collet_error *err)
{
    task *c = task_new(d, t->work);
    if (!c)
        return d->host->fail(err, COLLET_REFUSED, "no memory for a task");
    *c = *t;
    c->next = NULL;
    c->of = r;
    r->copies++;
    for (int i = 0; i < 4; i++)
        if (c->buffers[i])
            buffer_count(c->buffers[i], 1);
    *out = c;
    return task_number(d, c, err);
}

static collet_status replay(collet_device *d, collet_queue *q, collet_recording *r,
                            collet_error *err)
{
    collet_status status = COLLET_OK;
    pthread_mutex_lock(&d->lock);
    int usable = r->trims == d->trims;
    pthread_mutex_unlock(&d->lock);
    if (!usable || r->queue != q)
        return d->host->fail(err, COLLET_REFUSED, "what the recording needs was freed");
    for (const task *t = r->first; t && status == COLLET_OK; t = t->next) {
        task *c = NULL;
        status = copy(d, r, t, &c, err);
        if (status == COLLET_OK)
            queue_push(q, c);
        else if (c)
            task_free(c);
    }
    COUNT(d, replayed, 1);
    if (status == COLLET_REFUSED) /* some were enqueued */
        status = err->status = COLLET_FAILED;
    return status;
}

const collet_record_extension remote_record = {
    sizeof remote_record, 0, begin, end, replay, release};

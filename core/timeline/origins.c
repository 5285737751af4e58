/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_failure_spread.c, tests/core/test_failure_model.c */
#include "origins.h"

#include <string.h>

#include "block.h"

collet_status use_outcome(use u, int wait, collet_error *err)
{
    if (wait)
        use_reach(u);
    return queue_outcome(u.queue, u.ticket, err);
}

static int succeeded(use u)
{
    return atomic_load(&u.queue->completed) >= u.ticket && use_outcome(u, 0, NULL) == COLLET_OK;
}

/* One failed use is enough, so all other uses need not be kept. */
static void make_room(origins *o)
{
    if (use_outcome(o->uses[0], 1, NULL) != COLLET_OK) {
        o->count = 1;
        return;
    }
    o->count--;
    memmove(&o->uses[0], &o->uses[1], o->count * sizeof o->uses[0]);
}

void origins_add(origins *o, use u)
{
    if (!u.queue || succeeded(u))
        return;
    for (uint32_t i = 0; i < o->count; i++) {
        use *have = &o->uses[i];
        if (have->queue != u.queue)
            continue;
        if (use_outcome(*have, 0, NULL) == COLLET_OK &&
            (have->ticket < u.ticket || use_outcome(u, 0, NULL) != COLLET_OK))
            *have = u;
        return;
    }
    if (o->count == ORIGINS_MAX)
        make_room(o);
    o->uses[o->count++] = u;
}

void origins_add_all(origins *o, const origins *more)
{
    for (uint32_t i = 0; i < more->count; i++)
        origins_add(o, more->uses[i]);
}

void origins_enqueued(origins *o, const queue *q)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < o->count; i++)
        if (o->uses[i].queue != q || atomic_load(&q->completed) >= o->uses[i].ticket)
            o->uses[kept++] = o->uses[i];
    o->count = kept;
}

collet_status origins_outcome(const origins *o, int wait, collet_error *err)
{
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; i < o->count && status == COLLET_OK; i++)
        status = use_outcome(o->uses[i], wait, err);
    return status;
}

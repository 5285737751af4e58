/* SPDX-License-Identifier: Apache-2.0 */
/*
 * origins - work from which bytes derive and that is not known to have succeeded.
 *
 * At most one use for each queue, the last: work in progress fails with all earlier work of its
 * queue. A use that failed stays, so that the failure reaches what derives from it.
 */
#ifndef CORE_TIMELINE_ORIGINS_H
#define CORE_TIMELINE_ORIGINS_H

#include "use.h"

/* The failure of `u` (of nothing where u.queue is NULL): waits for it, or reports only what is
 * known. FAILED, DEVICE_LOST. */
collet_status use_outcome(use u, int wait, collet_error *err);

/* Where there is no room, waits for one of the uses. No lock of a queue may be held. */
void origins_add(origins *o, use u);
void origins_add_all(origins *o, const origins *more);

/* To be called once the work that derives from `o` was enqueued in `q`: removes the work of `q`
 * that is in progress, with which the new work fails. */
void origins_enqueued(origins *o, const queue *q);

/* The first failure among them, as use_outcome. */
collet_status origins_outcome(const origins *o, int wait, collet_error *err);

#endif

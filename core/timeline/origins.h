/* SPDX-License-Identifier: Apache-2.0 */
/*
 * origins - the work from which bytes derive, as long as this work is not known to have succeeded.
 *
 * A set has at most one use for each queue, the last use: work in progress fails with all earlier work of its queue. A
 * failed use stays, so that the failure reaches all bytes that derive from it.
 */
#pragma once

#include "use.h"

/* The failure of `u`; COLLET_OK if u.queue is NULL. Waits for the use, or reports only known failures. FAILED,
 * DEVICE_LOST. */
collet_status use_outcome(use u, int wait, collet_error *err);

/* If the set is full, waits for one of its uses. No lock of a queue may be held. */
void origins_add(origins *o, use u);
void origins_add_all(origins *o, const origins *more);

/* Call it once the work that derives from `o` has been enqueued in `q`: removes unfinished work of
 * `q` from the set, because the new work fails together with it. */
void origins_enqueued(origins *o, const queue *q);

/* The first failure of the uses in the set, found as in use_outcome. */
collet_status origins_outcome(const origins *o, int wait, collet_error *err);

/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that plugins define: their registration, and how they grow. */
#pragma once

#include "backend.h"

/* Registers the ops of the backend's table in b->own_ops. Ops that cannot be used are left out.
 * NO_MEMORY, INVALID. */
collet_status own_ops_register(backend *b, const collet_plugin *table, collet_error *err);
/* 1 if an op with that name of the open backend was left out. */
int own_op_left_out(const backend *b, const char *name);

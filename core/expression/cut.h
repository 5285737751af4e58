/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a compiled expression into programs. */
#pragma once

#include "compiled.h"

/* Divides the steps of a typed plan into pieces. NO_MEMORY. */
collet_status plan_cut(plan *p, const graph *g, collet_error *err);
/* The hash of a program's members. */
uint64_t plan_hash(const collet_program *p);

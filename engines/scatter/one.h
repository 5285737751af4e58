/* SPDX-License-Identifier: Apache-2.0 */
/* one.h - a scattering on one device. */
#pragma once

#include "scatter/state.h"

/* A scattering of one device, whose options were checked. */
collet_status scatter_open_one(collet_context *context, const collet_scatter_options *options,
                               int64_t devices, collet_scatter **out, collet_error *err);
void scatter_close_one(collet_scatter *s);
/* Computes a block of at most `max_count` energies, from s->next on, into s->out. */
collet_status scatter_compute(collet_scatter *s, int64_t max_count, int64_t *count);
/* Copies the patterns of a block from s->out to s->values. */
collet_status scatter_read(collet_scatter *s, int64_t count);
/* Makes an array of the pattern of energy s->next, which is in s->out. *finite: whether a pixel is finite. The caller
 * destroys *out, also after a failure. */
collet_status scatter_pattern_array(collet_scatter *s, collet_array **out, int *finite);
/* Returns the pattern of an energy. Its values must be in s->values. */
const collet_scatter_pattern *scatter_pattern(collet_scatter *s, int64_t energy);

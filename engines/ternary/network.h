/* SPDX-License-Identifier: Apache-2.0 */
/* network.h - networks within a call. */
#ifndef COLLET_ENGINES_TERNARY_NETWORK_H
#define COLLET_ENGINES_TERNARY_NETWORK_H

#include "ternary/weights.h"

/* Checks what a layer refers to: INVALID, DTYPE, SHAPE. `what` begins the text. */
collet_status ternary_check_layer(ternary_call *call, const char *what, uint32_t index,
                                  const collet_ternary_layer *layer);

/* As the public functions. */
collet_status ternary_network_create(ternary_call *call, collet_ternary_network **out,
                                     const collet_ternary_layer *layers, uint32_t count);
collet_status ternary_network_run(ternary_call *call, collet_ternary_network *network,
                                  collet_array *y, const collet_array *x);

/* The largest number of columns or rows of a layer. */
int64_t ternary_network_widest(const collet_ternary_network *network);

#endif

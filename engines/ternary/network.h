/* SPDX-License-Identifier: Apache-2.0 */
/* network.h - functions about networks that several files use. */
#ifndef ENGINES_TERNARY_NETWORK_H
#define ENGINES_TERNARY_NETWORK_H

#include "ternary/weights.h"

/* Checks weights and bias of a layer: INVALID, DTYPE, SHAPE. `what` begins the text. */
collet_status ternary_check_layer(ternary_call *call, const char *what, uint32_t index,
                                  const collet_ternary_layer *layer);

/* The largest number of rows or columns of all layers. */
int64_t ternary_network_widest(const collet_ternary_network *network);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* network.h - networks: what the library shares. */
#ifndef ENGINES_TERNARY_NETWORK_H
#define ENGINES_TERNARY_NETWORK_H

#include "ternary/weights.h"

/* Checks what a layer refers to: INVALID, DTYPE, SHAPE. `what` begins the text. */
collet_status ternary_check_layer(ternary_call *call, const char *what, uint32_t index,
                                  const collet_ternary_layer *layer);

/* The largest number of columns or rows of a layer. */
int64_t ternary_network_widest(const collet_ternary_network *network);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* network.h - networks within a call. */
#ifndef COLLET_ENGINES_TERNARY_NETWORK_H
#define COLLET_ENGINES_TERNARY_NETWORK_H

#include "ternary/weights.h"

/* As the public functions. */
collet_status ternary_network_create(ternary_call *call, collet_ternary_network **out,
                                     const collet_ternary_layer *layers, uint32_t count);
collet_status ternary_network_run(ternary_call *call, collet_ternary_network *network,
                                  collet_array *y, const collet_array *x);

/* The most numbers that go into or come out of a layer. */
int64_t ternary_network_widest(const collet_ternary_network *network);

#endif

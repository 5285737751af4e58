/* SPDX-License-Identifier: Apache-2.0 */
/* network.h - internal functions of networks. */
#pragma once

#include "devices/devices.h"
#include "ternary/weights.h"

/* Checks weights and bias of a layer: INVALID, DTYPE, SHAPE. `what` begins the text. */
collet_status ternary_check_layer(ternary_call *call, const char *what, uint32_t index,
                                  const collet_ternary_layer *layer);

/* Makes another network with the same layers, for a run at the same time. */
collet_status ternary_network_copy(ternary_call *call, collet_ternary_network **out,
                                   const collet_ternary_network *network);

/* Returns the shares of the devices in the last run or plan. */
devices_shares *ternary_network_shares(collet_ternary_network *network);

/* Bytes of the layers' arrays. */
uint64_t ternary_network_bytes(const collet_ternary_network *network);

/* Returns the largest number of rows or columns of all layers. */
int64_t ternary_network_widest(const collet_ternary_network *network);

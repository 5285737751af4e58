/* SPDX-License-Identifier: Apache-2.0 */
/* vtable - checks a plugin's table before libcore calls any of its slots. */
#pragma once

#include <collet/plugin.h>

#include "manifest.h"
#include "op/op.h"

/* COLLET_OK if the table may be used. Checks the major version, the size (at least the first release's), every slot
 * that all plugins need, and the sizes of the arrays. Each row needs an existing op, one of its signatures, a
 * params_size that fits and a `run`; no (op, sig) may occur twice. Own ops must be valid. The name and the set of
 * kernels must be the manifest's. A table of a newer minor version may have rows of ops that are
 * unknown here: the registry leaves them out. FORMAT, ABI, NO_MEMORY. Reads every string of the
 * table; calls nothing. */
collet_status vtable_verify(const collet_plugin *plugin, const manifest *m, refusal *why);

/* COLLET_OK if a layer's table has the rows and own ops of the table below, where both tables pass
 * vtable_verify. Otherwise FORMAT with the reason "layer-differs". */
collet_status vtable_verify_layer(const collet_plugin *over, const collet_plugin *below,
                                  refusal *why);

/* COLLET_OK if a device with these properties may be used: "device-properties", "device-slot":
 * FORMAT. */
collet_status vtable_check_device(const collet_plugin *plugin,
                                  const collet_device_properties *properties, refusal *why);

/* Row `index` < kernel_count, own op `index` < op_count, by the table's own element sizes. */
const collet_kernel_row *vtable_kernel(const collet_plugin *plugin, uint32_t index);
const collet_ops_definition *vtable_op(const collet_plugin *plugin, uint32_t index);

/* 0 if the row has an unknown flag or reserved bytes that are not 0. Such a row is left out. */
int vtable_row_usable(const collet_kernel_row *row);

/* Own op `index` as libcore sees it, with the id COLLET_OWN_OP(index). INVALID. */
collet_status vtable_parse_op(const collet_plugin *plugin, uint32_t index, op *out,
                              collet_error *err);

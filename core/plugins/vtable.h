/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vtable - checks the table that a plugin hands over before anything of it is called.
 */
#ifndef COLLET_CORE_VTABLE_H
#define COLLET_CORE_VTABLE_H

#include <collet/plugin.h>

#include "manifest.h"
#include "op/op.h"

/*
 * COLLET_OK when the table may be used: major version, at least the first release's size, every
 * slot that its flags require, sane sizes of its arrays, each row an op that exists with as many
 * valid dtypes as the op has operands and a `run`, no two rows of one (op, sig), own ops well
 * formed, and name and set of kernels the same as in the manifest.
 *
 * A table of a newer minor version may hold rows of ops that this core does not know; they pass and
 * the registry leaves them out. Rows and own ops are stepped by the table's own element sizes
 * (vtable_kernel, vtable_op).
 *
 * On failure *code is a stable word (loader.h) and err's text says what is wrong. FORMAT, ABI,
 * NO_MEMORY. Reads every string that the table points to; calls nothing.
 */
collet_status vtable_verify(const collet_plugin *plugin, const manifest *m, const char **code,
                            collet_error *err);

/* Row `index` < kernel_count, own op `index` < op_count of a table that was verified. */
const collet_kernel_row *vtable_kernel(const collet_plugin *plugin, uint32_t index);
const collet_op_definition *vtable_op(const collet_plugin *plugin, uint32_t index);

/* Own op `index` as libcore sees it, with the id COLLET_OP_OWN(index). INVALID. */
collet_status vtable_parse_op(const collet_plugin *plugin, uint32_t index, op *out,
                              collet_error *err);

/* Whether the table is long enough to hold a field: VTABLE_HAS(plugin, trim). */
#define VTABLE_HAS(plugin, field)                                                                  \
    ((plugin)->struct_size >= offsetof(collet_plugin, field) + sizeof((plugin)->field))

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_head.h - the initialisers of a collet_plugin that the plugins of this tree have in common:
 * PLUGIN_HEAD("name", rows), where `rows` is the array of the plugin's kernels. */
#pragma once

#include <collet/plugin.h>

#define PLUGIN_HEAD(NAME, rows)                                                                    \
    .abi = COLLET_ABI, .struct_size = sizeof(collet_plugin),                                       \
    .kernel_count = (uint32_t)(sizeof(rows) / sizeof *(rows)),                                     \
    .kernel_size = sizeof(collet_kernel_row), .name = (NAME), .version = COLLET_VERSION,           \
    .kernels = (rows)

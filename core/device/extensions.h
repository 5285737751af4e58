/* SPDX-License-Identifier: Apache-2.0 */
/* The extensions of a device: include/collet/extensions.h. */
#pragma once

#include <collet/extensions.h>

/* NULL: the device does not have the extension. */
typedef struct device_extensions {
    const collet_copy_extension *copy;
    const collet_explain_extension *explain;
    const collet_memory_extension *memory;
    const collet_native_extension *native;
    const collet_pinned_extension *pinned;
    const collet_timing_extension *timing;
    const collet_trim_extension *trim;
} device_extensions;

/* Asks an open device, called `name` in messages, for the extensions that libcore uses. Tables that
 * cannot be used are logged as errors and left out. */
void extensions_find(device_extensions *found, const collet_plugin *plugin, collet_device *device,
                     const char *name, const collet_host *host);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/extensions.h - what a device may offer beyond the slots of collet_plugin.
 *
 * An extension is a table of functions with a name, "collet.word/version" (an extension of a
 * vendor's: "vendor.word/version"). libcore asks for those that it knows, by
 * collet_plugin.extension, when it has opened a device; NULL means that the device has none, and
 * each comment below tells what libcore then does.
 *
 * Every table begins {struct_size, reserved}, is constant and lives until the device is closed.
 * Members are only appended; a change of those that are there is a new version, under a new name. A
 * table that is shorter than in the first release of its version, whose `reserved` is not 0, or
 * that has a NULL in it is not used, as if it were absent, and an error is logged. Functions that
 * return collet_status set err (never NULL) through host->fail on failure. Any thread may call any
 * of them, while others use the device.
 */
#ifndef COLLET_EXTENSIONS_H
#define COLLET_EXTENSIONS_H

#include <collet/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a device knows of its memory. Absent: collet_memory reports what libcore has allocated
 * there.
 *
 * stats       Fills *stats; struct_size is set by the caller and the rest is zero. FAILED,
 *             DEVICE_LOST.
 * reset_peak  `peak` becomes `current`.
 */
#define COLLET_EXTENSION_MEMORY "collet.memory/1"
typedef struct collet_memory_extension {
    uint32_t struct_size;
    uint32_t reserved; /* 0 */
    collet_status (*stats)(collet_device *device, collet_memory_stats *stats, collet_error *err);
    void (*reset_peak)(collet_device *device);
} collet_memory_extension;

/*
 * Frees what a device keeps for later calls. Absent: collet_trim skips the device.
 *
 * trim  Frees pooled memory, plans and compiled programs that are not in use; other threads may be
 *       using the device. May block.
 */
#define COLLET_EXTENSION_TRIM "collet.trim/1"
typedef struct collet_trim_extension {
    uint32_t struct_size;
    uint32_t reserved; /* 0 */
    void (*trim)(collet_device *device);
} collet_trim_extension;

#ifdef __cplusplus
}
#endif
#endif

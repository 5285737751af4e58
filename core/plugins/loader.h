/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader - finds plugin files, refuses unusable files with a recorded reason, opens the others.
 *
 * Four stages (DESIGN.md, section 4): policy and manifest run no code of the plugin; probe runs it
 * in a child process; open runs it in this process. Every step of every file is one record. A
 * refused file never makes a call fail.
 *
 * Codes of the records, by stage. The codes are stable, so scripts may compare them.
 *
 *   any       ok                        the step was passed
 *             no-memory                 out of memory
 *   cache     cache-unusable            the directory of the cache cannot be used (by the registry)
 *   search    not-found                 the path does not exist
 *             relative-path             only absolute paths are searched
 *             unreadable                the directory cannot be read
 *             duplicate-directory       searched before, under another name
 *             duplicate-file            the same file was found under another name
 *   policy    unreadable                the file cannot be opened (a dangling link, no permission)
 *             not-regular               a FIFO, a directory, a device
 *             world-writable            anyone may write to the file
 *             world-writable-directory  anyone may replace the file, or a directory above it
 *             group-writable            a group may write to the file; allowed are only root's group, the
 *                                       user's own group and the groups in trust_group
 *             group-writable-directory  such a group may replace the file, or a directory above it
 *             foreign-owner             owner of file or directory is not root, this user or the
 *                                       owner of libcore
 *             noexec                    the system maps no code of the file: its file system is
 *                                       mounted noexec, or a security module forbids it
 *             raised-privileges         (after the manifest) it depends on the caller's environment
 *             denied                    switched off by name in the configuration
 *   manifest  empty                     the file has no bytes
 *             not-elf                   not an ELF file
 *             truncated                 the file is shorter than its headers state
 *             wrong-class               32-bit in a 64-bit program, or other byte order
 *             wrong-machine             for another processor
 *             not-shared-object         an ELF file, but no shared object
 *             malformed-elf             invalid headers or notes
 *             no-manifest               a shared object, but no plugin
 *             manifest-repeated         more than one manifest
 *             manifest-too-large        more than 64 KiB
 *             manifest-syntax           not JSON, nested too deep, control characters
 *             manifest-trailing         text after the JSON value
 *             manifest-duplicate-key    a key twice in one object
 *             manifest-content          a member is missing, of the wrong type or out of range
 *             abi-too-new               needs a newer libcore
 *             abi-too-old               built for an older plugin interface
 *             sanitizer-mismatch        built with a sanitizer that this program does not use
 *   probe     crash-in-constructor      a signal ended the child while the file was being loaded
 *             crash-in-entry, crash-in-vtable, crash-in-capabilities
 *                                       ... in collet_plugin_entry, while its table was checked, in
 *                                       its capabilities
 *             hang-in-...               the time limit passed
 *             exit-in-...               the plugin ended the process
 *             unresolved-symbol         a symbol (or symbol version) that no library defines
 *             missing-entry             no collet_plugin_entry (of a layer: collet_layer_entry)
 *             entry-null                collet_plugin_entry returned NULL
 *             changes-floating-point    rounding, flush-to-zero or exception masks were changed
 *             vtable-...                the table breaks the contract: abi, short, slot, reserved,
 *                                       arrays, name, op, sig, params, run, repeated,
 *                                       own-op
 *             kernels-differ            manifest and table name different kernels
 *             capabilities-failed       capabilities returned an error
 *             capabilities-invalid      capabilities violate plugin.h
 *             undeclared-setting        the plugin reads a key that its manifest does not declare
 *             changed                   the file changed after its manifest was read
 *           passed, but unproven: the plugin is tried when it is first used
 *             missing-library           a library that it needs was not found
 *             load-failed               the dynamic linker failed for another reason
 *             probe-unavailable         collet-probe could not be started or reported nothing
 *             not-probed                probing is switched off
 *   register  duplicate-name an earlier file in the search path has the same name. Or a later file has it, and the
 *             probe could not load this file
 *   open      changed                   the file is not the one that was found
 *             op-left-out               another backend defines an op of that name differently
 *             signature-left-out        an own op has types that this libcore does not know
 *             row-left-out              some kernel rows have unknown flags
 *             layer-differs             a layer's rows or own ops are not the backend's
 *             device-open               a device did not open
 *             device-properties         device_open reported a property that is unknown
 *             device-slot               a slot that a device's properties require is NULL
 *             and the codes of `probe` whose fault can be detected without a child
 *
 * A plugin with an undefined symbol is refused; a plugin with a missing library is not. A plugin must name the
 * libraries that it needs. So a symbol that none of these libraries defines is missing in every program. But a
 * library may be found by the program's rpath, or may be loaded already.
 */
#pragma once

#include <collet/plugin.h>

#include "plugin.h"
#include "record.h"

/*
 * Lists the plugins and layers in the search path, in its order. Names are unique. If several plugins have one name,
 * the list has the first that its probe could load, else the first usable plugin, else the first. Shared objects
 * without a manifest are ordinary libraries: recorded, but not listed. The caller frees *plugins with
 * loader_plugins_free. NO_MEMORY. Any thread. Plugins are probed at the same time; blocks up to
 * twice timeout_ms for each 16 of them (probing.h). */
collet_status loader_scan(const loader_options *options, record_list *records,
                          loader_plugin **plugins, size_t *count, collet_error *err);
void loader_plugins_free(loader_plugin *plugins, size_t count);

/* Opens a usable plugin in this process; *vtable lives as long as the process (plugins are never
 * closed). `host` outlives every use of the table. Appends one record of stage "open". UNAVAILABLE
 * with the reason, ABI, NO_MEMORY. Any thread; runs the plugin's constructors. */
collet_status loader_open(const loader_plugin *plugin, const collet_host *host,
                          record_list *records, const collet_plugin **vtable, collet_error *err);

/* Opens a layer over the table of `backend`, or of another layer over it: *table becomes the layer's table. Otherwise
 * like loader_open. */
collet_status loader_open_layer(const loader_plugin *layer, const loader_plugin *backend,
                                const collet_host *host, record_list *records,
                                const collet_plugin **table, collet_error *err);

/* Appends a refusal of stage "open" of the plugin. NO_MEMORY. */
collet_status loader_note(const loader_plugin *plugin, record_list *records, const refusal *why,
                          collet_error *err);

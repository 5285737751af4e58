/* SPDX-License-Identifier: Apache-2.0 */
/* plugin - the options of the loader, and a plugin that was found. */
#ifndef CORE_PLUGINS_PLUGIN_H
#define CORE_PLUGINS_PLUGIN_H

#include <collet/plugin.h>

#include "file.h"
#include "manifest.h"

#define LOADER_TIMEOUT_MS 10000 /* when options->timeout_ms is 0 */

/* A plugin that was found. Strings except `capabilities` are never NULL. */
typedef struct loader_plugin {
    char *path;         /* absolute */
    char *name;         /* the manifest's, else the stem of the file's name */
    manifest manifest;  /* empty when it could not be read: version "", abi 0, no kernels */
    int usable;         /* 0: see `code` and `reason` */
    int unproven;       /* usable, but not probed successfully: see `code` and `reason` */
    char *code;         /* of the last step; "ok" */
    char *reason;       /* "" if proven, unless the probe succeeded only in safe mode */
    char *capabilities; /* JSON from the probe; NULL if unusable or unproven */
    int rank;           /* set and used by the registry */
    file_identity file; /* when the manifest was read */
} loader_plugin;

/* NULL, 0: the default. Pointers are valid during the call. */
typedef struct loader_options {
    const char *program_path;     /* of the runtime's options, or NULL */
    const char *environment_path; /* of COLLET_PLUGIN_PATH, or NULL */
    const char *deny;             /* backend names, comma-separated, or NULL */
    const char *trust_group;      /* groups, as of trust_open, or NULL */
    const char *cache_directory;  /* for reports of probes; created if missing; NULL: no cache */
    const char *probe_program;    /* NULL: collet/collet-probe in libcore's directory */
    const char *const *settings;  /* for host->config in the probe: "key=value", then NULL;
                                     the last of a key is in force */
    int probe;                    /* 0: trust the manifest, run nothing */
    int64_t timeout_ms;           /* of one probe */
    const collet_host *host;      /* never NULL */
    /* Called with all candidates when their manifests have been read (`usable`: accepted), before
     * any code of a plugin runs; a failure ends the scan. May be NULL. It may change what
     * `settings` points to. */
    collet_status (*examined)(void *user, const loader_plugin *const *found, size_t count,
                              collet_error *err);
    void *user; /* for `examined` */
} loader_options;

/* The groups of trust_open. */
static inline const char *loader_trusted(const loader_options *options)
{
    return options->trust_group ? options->trust_group : "";
}

#endif

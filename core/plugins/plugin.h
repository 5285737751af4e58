/* SPDX-License-Identifier: Apache-2.0 */
/* plugin - the options of the loader, and the plugins that it finds. */
#pragma once

#include <collet/plugin.h>

#include "file.h"
#include "manifest.h"

#define LOADER_TIMEOUT_MS 10000 /* when options->timeout_ms is 0 */

/* A plugin that was found. Strings except `capabilities` are never NULL. */
typedef struct loader_plugin {
    char *path;         /* absolute */
    char *name;         /* the manifest's name, else the stem of the file's name */
    manifest manifest;  /* empty when it could not be read: version "", abi 0, no kernels */
    int usable;         /* 0: `code` and `reason` say why not */
    int unproven;       /* usable, but not probed successfully: see `code` and `reason` */
    char *code;         /* code of the last step; "ok" if it was passed */
    char *reason;       /* "" if proven, unless the probe succeeded only in safe mode */
    char *capabilities; /* JSON from the probe; NULL if the plugin is unusable or unproven */
    int rank;           /* set and used by the registry */
    file_identity file; /* the file's identity when the manifest was read */
} loader_plugin;

/* NULL, 0: the default. Pointers are valid during the call. */
typedef struct loader_options {
    const char *program_path;     /* path from the runtime's options, or NULL */
    const char *environment_path; /* path from COLLET_PLUGIN_PATH, or NULL */
    const char *deny;             /* backend names, comma-separated, or NULL */
    const char *trust_group;      /* groups, as in trust_open, or NULL */
    const char *cache_directory;  /* for reports of probes; created if missing; NULL: no cache */
    const char *probe_program;    /* NULL: collet/collet-probe in libcore's directory */
    const char *const *settings;  /* for host->config in the probe: "key=value", then NULL;
    the last value of a key is used */
    int probe;                    /* 0: trust the manifest, do not probe */
    int64_t timeout_ms;           /* time limit of one probe */
    const collet_host *host;      /* never NULL */
    /* Called with all candidates when their manifests have been read (`usable`: accepted), before
     * any code of a plugin runs; a failure ends the scan. May be NULL. The function may change the strings to which
     * `settings` points. */
    collet_status (*examined)(void *user, const loader_plugin *const *found, size_t count,
                              collet_error *err);
    void *user; /* for `examined` */
} loader_options;

/* The groups for trust_open. */
static inline const char *loader_trusted(const loader_options *options)
{
    return options->trust_group ? options->trust_group : "";
}

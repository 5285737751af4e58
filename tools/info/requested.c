/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the backends and records that the command line requests; words for states.
 * Tests: tests/tools/test_info.c */
#include "info.h"

#include <string.h>

int32_t info_requests(const info_options *options, const collet_backend_info *backend)
{
    return !options->name || !strcmp(options->name, options->file ? backend->path : backend->name);
}

int32_t info_is_file(const char *path, const char *name)
{
    const char *file = strrchr(path, '/');
    size_t length = strlen(name);
    file = file ? file + 1 : path;
    return !strncmp(file, name, length) && !strcmp(file + length, ".so");
}

/* Accepts all records of files NAME.so, because a second plugin with the same name has records but no
 * backend. */
int32_t info_requests_record(const collet_backend_info *backend, const collet_plugin_record *record)
{
    if (!backend || !strcmp(record->path, backend->path))
        return 1;
    return info_is_file(record->path, backend->name);
}

const char *info_state_word(int32_t state)
{
    return state == COLLET_BACKEND_USABLE        ? "usable"
           : state == COLLET_BACKEND_UNAVAILABLE ? "unavailable"
                                                 : "unproven";
}

/* If a backend was probed and all its devices have names, nothing is missing. */
const char *info_state_text(const collet_backend_info *backend)
{
    if (backend->state == COLLET_BACKEND_UNAVAILABLE && backend->named_devices &&
        !backend->device_count && *backend->capabilities)
        return "by name";
    return backend->state == COLLET_BACKEND_UNPROVEN ? "not tried yet"
                                                     : info_state_word(backend->state);
}

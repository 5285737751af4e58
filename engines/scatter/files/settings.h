/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h - text files in libconfig's language. */
#ifndef ENGINES_SCATTER_FILES_SETTINGS_H
#define ENGINES_SCATTER_FILES_SETTINGS_H

#include "scatter/files/input.h"

#include <libconfig.h>

typedef struct scatter_settings {
    const char *path;
    config_t file;
    collet_error *err;
    int unlike; /* refused before its second line: probably another kind of file */
} scatter_settings;

/* Reads r->path into r->file, which config_destroy frees after COLLET_OK only. */
collet_status scatter_settings_open(scatter_settings *r);
int scatter_is_number(const config_setting_t *s); /* NULL is none */

#endif

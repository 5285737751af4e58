/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h - reads text files in the syntax of libconfig. */
#pragma once

#include "scatter/files/input.h"

#include <libconfig.h>

typedef struct scatter_settings {
    const char *path;
    config_t file;
    collet_error *err;
    int unlike; /* 1: the first line is malformed, so this is probably another kind of file */
} scatter_settings;

/* Reads r->path into r->file. After COLLET_OK the caller frees it by config_destroy. */
collet_status scatter_settings_open(scatter_settings *r);
int scatter_is_number(const config_setting_t *s); /* NULL is no number */

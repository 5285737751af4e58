/* SPDX-License-Identifier: Apache-2.0 */
#include "scatter/files/settings.h"
#include "scatter/files/store.h"

#include <stdio.h>
#include <string.h>

/* libconfig ends the process where an included file cannot be read. */
static collet_status check_text(const char *path, collet_error *err)
{
    char line[4096];
    collet_status status = scatter_check_regular(path, err);
    if (status != COLLET_OK)
        return status;
    FILE *f = fopen(path, "r");
    if (!f)
        return collet_fail(err, COLLET_IO, "%s: cannot be read", path);
    while (status == COLLET_OK && fgets(line, sizeof line, f))
        if (strstr(line, "@include"))
            status = collet_fail(err, COLLET_FORMAT, "%s: @include is not read", path);
    fclose(f);
    return status;
}

collet_status scatter_settings_open(scatter_settings *r)
{
    collet_status readable = check_text(r->path, r->err);
    if (readable != COLLET_OK)
        return readable;
    config_init(&r->file);
    config_set_options(&r->file, CONFIG_OPTION_AUTOCONVERT);
    if (config_read_file(&r->file, r->path) == CONFIG_TRUE)
        return COLLET_OK;
    const char *why = config_error_text(&r->file);
    collet_status status =
        config_error_type(&r->file) == CONFIG_ERR_FILE_IO
            ? collet_fail(r->err, COLLET_IO, "%s: cannot be read", r->path)
            : collet_fail(r->err, COLLET_FORMAT, "%s, line %d: %s%s", r->path,
                          config_error_line(&r->file), why,
                          strstr(why, "mismatched element") ? ": 5.0 and 5 are of different types"
                                                            : "");
    config_destroy(&r->file);
    return status;
}

int scatter_is_number(const config_setting_t *s)
{
    int type = s ? config_setting_type(s) : CONFIG_TYPE_NONE;
    return type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64 || type == CONFIG_TYPE_FLOAT;
}

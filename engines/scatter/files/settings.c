/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs.c, tests/tools/rsoxs/test_rsoxs_validate.c */
#include "scatter/files/settings.h"

#include "io/numerals.h"
#include "io/source.h"

#include <stdlib.h>
#include <string.h>

#define LARGEST (1 << 20) /* bytes; the constants of 500 energies take 100,000 */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* Reads the whole text of the file, which the caller frees. Texts with @include are refused,
 * because libconfig would read any file that they name, and would end the process if it cannot read the file. */
static collet_status read_text(scatter_settings *r, char **text)
{
    const char *path = r->path;
    collet_error *err = r->err;
    io_source source;
    collet_status status = io_source_open(&source, path, NULL, err);
    *text = NULL;
    if (status != COLLET_OK)
        return status;
    size_t size = (size_t)source.size;
    if (source.size > LARGEST)
        status =
            collet_fail(err, COLLET_FORMAT, "%s: the file has %zu bytes; at most %d are allowed",
                        path, size, LARGEST);
    else if (!(*text = malloc(size + 1)))
        status = collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to read it", path);
    else
        status = io_source_copy(&source, 0, size, *text, err);
    io_source_close(&source);
    if (status != COLLET_OK)
        return status;
    (*text)[size] = '\0';
    r->unlike = strlen(*text) < size;
    if (r->unlike)
        return collet_fail(err, COLLET_FORMAT, "%s: the file is not text in UTF-8: byte %zu is 0",
                           path, strlen(*text));
    return strstr(*text, "@include")
               ? collet_fail(
                     err, COLLET_FORMAT,
                     "%s: @include is not supported; write the settings into the file itself", path)
               : COLLET_OK;
}

static collet_status parse(scatter_settings *r, const char *text)
{
    config_init(&r->file);
    config_set_options(&r->file, CONFIG_OPTION_AUTOCONVERT);
    if (!strncmp(text, BYTE_ORDER_MARK, 3)) /* editors under Windows write a byte-order mark */
        text += 3;
    /* Sets the locale here, because libconfig sets the numeric locale but does not restore the thread's own locale
     * afterwards. */
    locale_t before = io_numerals_begin();
    int done = config_read_string(&r->file, text);
    io_numerals_end(before);
    if (done == CONFIG_TRUE)
        return COLLET_OK;
    const char *why = config_error_text(&r->file);
    collet_status status = collet_fail(
        r->err, COLLET_FORMAT, "%s, line %d: %s%s", r->path, config_error_line(&r->file), why,
        strstr(why, "mismatched element") ? ": 5.0 and 5 are of different types; write "
                                            "all numbers with a decimal point"
                                          : "");
    r->unlike = config_error_line(&r->file) <= 1;
    config_destroy(&r->file);
    return status;
}

collet_status scatter_settings_open(scatter_settings *r)
{
    char *text;
    collet_status status = read_text(r, &text);
    if (status == COLLET_OK)
        status = parse(r, text);
    free(text);
    return status;
}

int scatter_is_number(const config_setting_t *s)
{
    int type = s ? config_setting_type(s) : CONFIG_TYPE_NONE;
    return type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64 || type == CONFIG_TYPE_FLOAT;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs.c, tests/tools/rsoxs/test_rsoxs_validate.c */
#include "scatter/files/input.h"

#include "io/numerals.h"
#include "io/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void collet_scatter_input_destroy(collet_scatter_input *in)
{
    if (!in)
        return;
    for (size_t i = 0; i < in->n_warnings; i++)
        free(in->warnings[i]);
    free(in->path);
    free(in->materials);
    free(in->ranges);
    free(in->energies);
    free(in->constants);
    free(in->beams);
    free(in->warnings);
    free(in->directory);
    free(in);
}

const collet_scatter_options *
collet_scatter_input_options(const collet_scatter_input *input)
{
    return &input->options;
}

int64_t collet_scatter_input_beams(const collet_scatter_input *input,
                                   const double (**beams)[3])
{
    *beams = (const double(*)[3])input->beams;
    return input->n_beams;
}

const char *collet_scatter_input_directory(const collet_scatter_input *input)
{
    return input->directory;
}

const char *collet_scatter_input_warning_at(const collet_scatter_input *input, size_t index)
{
    return index < input->n_warnings ? input->warnings[index] : NULL;
}

collet_status scatter_warn(collet_scatter_input *in, collet_error *err, const char *format, ...)
{
    char text[400];
    char **more = realloc(in->warnings, (in->n_warnings + 1) * sizeof *more);
    va_list arguments;
    va_start(arguments, format);
    locale_t before = io_numerals_begin();
    vsnprintf(text, sizeof text, format, arguments);
    io_numerals_end(before);
    va_end(arguments);
    if (more)
        in->warnings = more;
    char *shown = more ? io_utf8_shown(text, "") : NULL;
    if (!shown)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory for a warning");
    more[in->n_warnings++] = shown;
    return COLLET_OK;
}

int scatter_goes_on(const collet_scatter_input *in, collet_status *status,
                    const collet_error *err)
{
    if (*status == COLLET_OK)
        return 1;
    if (!in->report || *status == COLLET_NO_MEMORY)
        return 0;
    in->report(in->report_user,
               &(collet_scatter_finding){.struct_size = sizeof(collet_scatter_finding),
                                         .text = err->text});
    *status = COLLET_OK;
    return 1;
}

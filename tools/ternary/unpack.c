/* SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include "session.h"

#include "common/output.h"

#include <stdio.h>

/* Which matrix of the file: that of the name, of --layer, or the only one. */
static collet_status choose(const ternary_options *options, const collet_ternary_file *file,
                            int64_t *index, collet_error *err)
{
    const char *name = options->arguments[0];
    collet_ternary_file_info info = {.struct_size = sizeof info};

    collet_ternary_file_describe(file, &info);
    if (info.kind != COLLET_TERNARY_FILE_T2 && options->layer > 0)
        return collet_fail(err, COLLET_INVALID, "%s: is one layer, --layer is for .t2 files", name);
    if (info.kind == COLLET_TERNARY_FILE_GGUF && *index < 0)
        return collet_fail(err, COLLET_INVALID,
                           "%s: which of its tensors? Name one as %s:TENSOR; 'collet-ternary info "
                           "%s' lists them",
                           name, name, name);
    if (info.kind == COLLET_TERNARY_FILE_T2 && info.count > 1 && options->layer < 0)
        return collet_fail(err, COLLET_INVALID, "%s: which of its %lld layers? Choose with --layer",
                           name, (long long)info.count);
    if (*index < 0)
        *index = options->layer < 0 ? 0 : options->layer;
    return COLLET_OK;
}

static void summarise(const ternary_options *options, const collet_ternary_file *file,
                      int64_t index)
{
    static const char *const words[] = {"codes", "values", "bytes"};
    collet_ternary_matrix m = {.struct_size = sizeof m};

    if (collet_ternary_file_matrix(file, index, &m, NULL) == COLLET_OK)
        printf("%s: %lld x %lld %s\n", tool_shown(options->output), (long long)m.rows,
               (long long)(options->bytes ? m.row_bytes : m.columns),
               words[ternary_unpacked(options)]);
}

collet_status ternary_unpack(const ternary_options *options, collet_error *err)
{
    collet_ternary_file *file = NULL;
    collet_ternary_output *output = NULL;
    ternary_session session = {0};
    int64_t index;

    collet_status status = collet_ternary_file_open(&file, &index, options->arguments[0], err);
    if (status == COLLET_OK)
        status = choose(options, file, &index, err);
    if (status == COLLET_OK)
        status = ternary_session_open(&session, options, "weights", err);
    if (status == COLLET_OK)
        status = collet_ternary_file_unpack(session.context, &output, options->output, file, index,
                                            ternary_unpacked(options), &session.monitor, err);
    tool_progress_end(&session.progress);
    if (status == COLLET_OK)
        status = collet_ternary_output_publish(output, err);
    if (status == COLLET_OK && !options->quiet)
        summarise(options, file, index);
    collet_ternary_output_free(output);
    collet_ternary_file_close(file);
    ternary_session_close(&session);
    return status;
}

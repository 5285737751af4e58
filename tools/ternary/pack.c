/* SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include "session.h"

#include "common/output.h"
#include "common/size.h"

#include <stdio.h>
#include <stdlib.h>

static collet_ternary_source source_of(const ternary_layer_options *requested)
{
    return (collet_ternary_source){.struct_size = sizeof(collet_ternary_source),
                                   .activations = requested->activations == COLLET_TERNARY_AS_STORED
                                                      ? COLLET_TERNARY_INT8
                                                      : requested->activations,
                                   .relu = (uint32_t)requested->relu,
                                   .threshold = requested->activations_threshold,
                                   .weights = requested->weights,
                                   .scale = requested->scale,
                                   .bias = requested->bias,
                                   .quantize = requested->quantized ? &requested->quantize : NULL};
}

static void summarise(const ternary_options *options, const collet_ternary_output *output)
{
    char size[TOOL_SIZE_TEXT];

    printf("%s: %lld weights in %u layer%s, %s as %s\n", tool_shown(options->output),
           (long long)collet_ternary_output_weights(output), options->n_layers,
           options->n_layers == 1 ? "" : "s",
           tool_size_format(size, (double)collet_ternary_output_bytes(output)),
           ternary_format_word(options->format));
}

collet_status ternary_pack(const ternary_options *options, collet_error *err)
{
    collet_ternary_source *layers = calloc(options->n_layers, sizeof *layers);
    collet_ternary_output *output = NULL;
    ternary_session session;

    if (!layers)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for %u layers", options->n_layers);
    for (uint32_t i = 0; i < options->n_layers; i++)
        layers[i] = source_of(&options->layers[i]);
    collet_status status = ternary_session_open(&session, options, "weights", err);
    if (status == COLLET_OK)
        status =
            collet_ternary_files_pack(session.context, &output, options->output, layers,
                                      options->n_layers, options->format, &session.monitor, err);
    tool_progress_end(&session.progress);
    if (status == COLLET_OK)
        status = collet_ternary_output_publish(output, err);
    if (status == COLLET_OK && !options->quiet)
        summarise(options, output);
    collet_ternary_output_free(output);
    ternary_session_close(&session);
    free(layers);
    return status;
}

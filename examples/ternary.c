/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantizes and packs a 2 x 4 matrix into ternary weights, runs it as a network of one layer, and
 * writes it to the .t2 file named on the command line, if there is one.
 */
#include <collet/ternary.h>
#include <stdio.h>

enum { OUTPUTS = 2, INPUTS = 4 };

static collet_status run(collet_context *cx, collet_ternary_network *network, collet_error *err)
{
    static const float x[INPUTS] = {1, 2, 3, 4};
    float y[OUTPUTS];
    collet_array *in = NULL, *out = NULL;
    collet_status status = collet_array_from(cx, &in, COLLET_F32, 1, (int64_t[]){INPUTS}, x);
    if (status == COLLET_OK)
        status = collet_array_create(cx, &out, COLLET_F32, 1, (int64_t[]){OUTPUTS});
    if (status == COLLET_OK)
        status = collet_ternary_network_run(cx, network, out, in, err);
    if (status == COLLET_OK)
        status = collet_array_read(cx, out, y, sizeof y);
    if (status == COLLET_OK)
        printf("y = %.4f %.4f\n", (double)y[0], (double)y[1]);
    collet_array_destroy(in);
    collet_array_destroy(out);
    return status;
}

static collet_status write_file(collet_context *cx, const collet_ternary_layer *layer,
                                const char *path, collet_error *err)
{
    collet_ternary_output *output = NULL;
    collet_status status =
        collet_ternary_layers_write(cx, &output, path, layer, NULL, 1, NULL, err);
    if (status == COLLET_OK)
        status = collet_ternary_output_publish(output, 1, err);
    collet_ternary_output_destroy(output);
    return status;
}

static collet_status pack_and_run(collet_context *cx, const char *path, collet_error *err)
{
    static const float numbers[OUTPUTS][INPUTS] = {{0.9f, -0.8f, 0.05f, 0.7f},
                                                   {-0.6f, 0.02f, 0.7f, 0.8f}};
    /* The scale of a row is the mean of its magnitudes; numbers beyond half the scale become 1 or
     * -1. */
    const collet_ternary_quantize_params params = {.struct_size = sizeof params,
                                                   .mode = COLLET_TERNARY_ABSMEAN};
    collet_array *matrix = NULL;
    collet_ternary_weights *weights = NULL;
    collet_ternary_network *network = NULL;
    collet_ternary_layer layer = {
        .struct_size = sizeof layer, .activations = COLLET_TERNARY_F32, .relu = 1};
    collet_status status =
        collet_array_from(cx, &matrix, COLLET_F32, 2, (int64_t[]){OUTPUTS, INPUTS}, numbers);
    if (status == COLLET_OK)
        status = collet_ternary_weights_quantize(cx, &weights, matrix, &params, NULL, err);
    layer.weights = weights;
    if (status == COLLET_OK)
        status = collet_ternary_network_create(cx, &network, &layer, 1, err);
    if (status == COLLET_OK)
        status = run(cx, network, err);
    if (status == COLLET_OK && path)
        status = write_file(cx, &layer, path, err);
    collet_ternary_network_destroy(network);
    collet_ternary_weights_destroy(weights);
    collet_array_destroy(matrix);
    return status;
}

int main(int argc, char **argv)
{
    collet_error err = {0};
    collet_runtime *runtime = NULL;
    collet_context *cx = NULL;
    collet_status status = collet_runtime_create(&runtime, NULL, &err);
    if (status == COLLET_OK)
        status = collet_context_create(runtime, &cx, &err);
    if (status == COLLET_OK)
        status = pack_and_run(cx, argc > 1 ? argv[1] : NULL, &err);
    if (status != COLLET_OK)
        fprintf(stderr, "ternary: %s\n", err.text[0] ? err.text : collet_last_error(cx));
    collet_context_destroy(cx);
    collet_runtime_destroy(runtime);
    return status != COLLET_OK;
}

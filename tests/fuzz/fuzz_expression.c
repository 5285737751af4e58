/* SPDX-License-Identifier: Apache-2.0 */
/* Parses any text as an expression, compiles it for some dtypes, and differentiates it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/evaluate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compile(collet_expression *e, collet_dtype dtype)
{
    static collet_array_spec ins[COLLET_EXPRESSION_INPUTS], outs[COLLET_EXPRESSION_OUTPUTS];
    collet_error err;
    for (uint32_t i = 0; i < collet_expression_input_count(e); i++)
        ins[i] = (collet_array_spec){.dtype = dtype, .ndim = 1, .shape = {3}};
    (void)infer_in_order(e, outs, ins, &err);
    for (uint32_t i = 0; i < collet_expression_input_count(e); i += 2)
        ins[i] = (collet_array_spec){.dtype = COLLET_F64, .ndim = COLLET_ABSENT};
    (void)infer_in_order(e, outs, ins, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    collet_expression *e, *gradient;
    collet_error err;
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (collet_expression_parse(&e, text, &err) == COLLET_OK) {
        compile(e, COLLET_F32);
        compile(e, size % 2 ? COLLET_U8 : COLLET_C128);
        if (collet_expression_input_count(e) &&
            collet_expression_gradient(e, &gradient, 0, 0, &err) == COLLET_OK) {
            compile(gradient, COLLET_F64);
            collet_expression_destroy(gradient);
        }
        collet_expression_destroy(e);
    }
    free(text);
    return 0;
}

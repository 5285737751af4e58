/* SPDX-License-Identifier: Apache-2.0 */
/* ternary_refusals.h - every function refuses a matrix that cannot be read, with the same status and reason. */
#ifndef TESTS_ENGINES_TERNARY_REFUSALS_H
#define TESTS_ENGINES_TERNARY_REFUSALS_H

#include "directory.h"
#include "engines/ternary_engine.h"

/* `reason` NULL: the matrix must be readable. Returns the matrix's description. */
static inline collet_ternary_matrix assert_refused(const char *path, const char *tensor,
                                                   collet_status status, const char *reason)
{
    const collet_ternary_quantize_params absmean = {.struct_size = sizeof absmean,
                                                    .mode = COLLET_TERNARY_ABSMEAN};
    collet_ternary_matrix m = {.struct_size = sizeof m};
    collet_ternary_counts counts = {.struct_size = sizeof counts};
    collet_ternary_weights *w = NULL;
    collet_ternary_output *output = NULL;
    collet_ternary_file *file = NULL;
    char name[600], out[300];
    int64_t index = -1;

    snprintf(name, sizeof name, "%s:%s", path, tensor);
    snprintf(out, sizeof out, "%s.t2", path);
    const collet_ternary_source source = {.struct_size = sizeof source, .weights = name};
    assert_done(collet_ternary_file_open(&file, &index, name, &failure));
    assert_true(index >= 0);
    assert_done(collet_ternary_file_matrix_at(file, &m, (size_t)index, &failure));
    assert_int_equal(m.fault == NULL, reason == NULL);
    assert_int_equal(m.content == COLLET_TERNARY_OTHER, reason != NULL);
    for (int i = 0; reason && i < 5; i++) {
        failure.text[0] = '\0';
        assert_outcome(
            i < 2 ? collet_ternary_file_load(cx, file, &w, NULL, (size_t)index, i ? &absmean : NULL,
                                             NULL, &failure)
            : i == 2 ? collet_ternary_file_count(cx, file, &counts, (size_t)index, NULL, &failure)
            : i == 3 ? collet_ternary_file_unpack(cx, file, &output, out, (size_t)index,
                                                  COLLET_TERNARY_WRITE_CODES, NULL, &failure)
                     : collet_ternary_files_pack(cx, &output, out, &source, 1, COLLET_TERNARY_T2,
                                                 NULL, &failure),
            status, m.fault);
        assert_failure_has(name);
        assert_failure_has(reason);
        assert_null(w);
        assert_null(output);
    }
    collet_ternary_file_destroy(file);
    return m;
}

/* Loads a matrix, which must have these codes and, if `scale` is not NULL, these scales. */
static inline void assert_loads(const char *path, const char *tensor,
                                const collet_ternary_quantize_params *quantize, int64_t rows,
                                int64_t columns, const int8_t *codes, const float *scale)
{
    collet_ternary_weights *w = NULL, *expected = NULL;
    collet_ternary_file *file = NULL;
    char name[600];
    int64_t index = -1;

    snprintf(name, sizeof name, "%s:%s", path, tensor);
    assert_done(collet_ternary_file_open(&file, &index, name, &failure));
    assert_done(
        collet_ternary_file_load(cx, file, &w, NULL, (size_t)index, quantize, NULL, &failure));
    collet_array *array = array_of(cx, COLLET_I8, 2, SHAPE(rows, columns), codes);
    assert_done(collet_ternary_weights_from_codes(cx, &expected, array, NULL, &failure));
    assert_int_equal(collet_ternary_weights_columns(w), columns);
    assert_same(collet_ternary_weights_bytes(expected), collet_ternary_weights_bytes(w));
    if (scale)
        assert_bytes(cx, collet_ternary_weights_scale(w), scale);
    else
        assert_null(collet_ternary_weights_scale(w));
    collet_array_destroy(array);
    collet_ternary_weights_destroy(expected);
    collet_ternary_weights_destroy(w);
    collet_ternary_file_destroy(file);
}

#endif

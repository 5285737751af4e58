/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_explain.c */
#include "explain.h"

#include <string.h>

#include "cpu_openmp/providers/blas.h"
#include "cpu_openmp/providers/onednn.h"

void explain_library(text *out, const blas *b, const onednn *o)
{
    char version[32];
    if (o) {
        onednn_version(o, version, sizeof version);
        text_add(out, "oneDNN %s (%s)", version, onednn_isa(o));
    } else {
        const char *config = blas_config(b), *first = strchr(config, ' ');
        const char *end = first ? strchr(first + 1, ' ') : NULL; /* after "OpenBLAS 0.3.21" */
        text_add(out, "%.*s (%s)", (int)(end ? (size_t)(end - config) : strlen(config)), config,
                 blas_core(b));
    }
}

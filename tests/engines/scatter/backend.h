/* SPDX-License-Identifier: Apache-2.0 */
/* backend.h - tests of the engine on the backend that the first argument names. Include in one file only. */
#ifndef TESTS_ENGINES_SCATTER_BACKEND_H
#define TESTS_ENGINES_SCATTER_BACKEND_H

#include "common/fixture.h"

#define PLUGINS                                                                                    \
    COLLET_TEST_PLUGINS "/opencl.so:" OPENMP_PLUGIN ":" SCALAR_PLUGIN /* files that exist */
#define SKIPPED 77                                                    /* ctest's SKIP_RETURN_CODE */

static const char *backend = "cpu_openmp";

static int set_up(void **state)
{
    open_shared(PLUGINS, NULL, backend);
    return 0;
}

/* Takes the backend from the arguments of main. Returns 0 if this machine cannot use it. */
static int take_backend(int argc, char **argv)
{
    if (argc < 2)
        return 1;
    backend = argv[1];
    collet_runtime *found = runtime_with(PLUGINS, NULL);
    collet_context *context = context_of(found);
    collet_status status = collet_set_backend(context, backend);
    collet_context_destroy(context);
    collet_runtime_destroy(found);
    return status != COLLET_UNAVAILABLE;
}

#endif

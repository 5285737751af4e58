/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open MPI 4 and 5. Handles are pointers; predefined handles point to objects that the library exports.
 * Source: mpi.h of Open MPI 4.1.4 and 5.0.
 * Tests: tests/engines/test_mpi_headers.c, tests/engines/mpi_launchers.sh */
#include "library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define HANDLE void *
#define THREAD_FUNNELED 1
#define TYPE_SHARED 0
#define STATUS_IGNORE NULL

#include "calls.inc"

static const char *constants_bind(void *handle, calls *c)
{
    const struct {
        const char *name;
        void **value;
    } objects[] = {
        {"ompi_mpi_comm_world", &c->world},    {"ompi_mpi_int64_t", &c->int64},
        {"ompi_mpi_op_max", &c->max},          {"ompi_mpi_op_sum", &c->sum},
        {"ompi_mpi_info_null", &c->info_null}, {"ompi_mpi_errors_return", &c->errors_return},
    };

    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        *objects[i].value = dlsym(handle, objects[i].name);
        if (*objects[i].value == NULL)
            return objects[i].name;
    }
    return NULL;
}

static const char *const files[] = {"libmpi.so.40", NULL};
const mpi_family mpi_ompi = FAMILY("Open MPI", files);

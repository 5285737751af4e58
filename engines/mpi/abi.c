/* SPDX-License-Identifier: Apache-2.0 */
/* The standard binary interface of MPI 5 (MPI 5.0, chapter 20): handles are pointers; the values of predefined
 * handles are small numbers.
 * Source: mpi_abi.h of MPICH 5.0.
 * Tests: tests/engines/test_mpi_headers.c, tests/engines/mpi_launchers.sh */
#include "library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define HANDLE void *
#define THREAD_FUNNELED 1024
#define TYPE_SHARED 221
#define STATUS_IGNORE NULL

#include "calls.inc"

static const char *constants_bind(void *handle, calls *c)
{
    (void)handle;
    c->world = (void *)0x101;
    c->int64 = (void *)0x258;
    c->max = (void *)0x23;
    c->sum = (void *)0x21;
    c->info_null = (void *)0x130;
    c->errors_return = (void *)0x143;
    return NULL;
}

static const char *const files[] = {"libmpi_abi.so.1", "libmpi_abi.so.0", NULL};
const mpi_family mpi_abi = FAMILY("the interface of MPI 5", files);

/* SPDX-License-Identifier: Apache-2.0 */
/* MPICH 3.1 to 5, Intel MPI, MVAPICH, Cray MPICH: the common binary interface of MPICH
 * (www.mpich.org/abi), whose handles are numbers. Debian's MPICH is libmpich.so.12.
 * Source: mpi.h of MPICH 4.0.2 and 5.0.
 * Tests: tests/engines/test_mpi_headers.c, tests/engines/mpi_launchers.sh */
#include "library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define HANDLE int
#define THREAD_FUNNELED 1
#define TYPE_SHARED 1
#define STATUS_IGNORE ((void *)1)

#include "calls.inc"

static const char *constants_bind(void *handle, calls *c)
{
    (void)handle;
    c->world = 0x44000000;
    c->int64 = 0x4c00083a;
    c->max = 0x58000001;
    c->sum = 0x58000003;
    c->info_null = 0x1c000000;
    c->errors_return = 0x54000001;
    return NULL;
}

static const char *const files[] = {"libmpi.so.12", "libmpich.so.12", NULL};
const mpi_family mpi_mpich = FAMILY("MPICH", files);

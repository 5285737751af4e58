/* SPDX-License-Identifier: Apache-2.0 */
/* directory.h - a temporary directory for the files of a test program. Include it in one file per
 * program. */
#ifndef TESTS_ENGINES_DIRECTORY_H
#define TESTS_ENGINES_DIRECTORY_H

#include "io_files.h"

static char *directory;

/* ---- Set-up and tear-down with the signatures of cmocka ------------------------------------ */

static inline int make_directory(void **state)
{
    directory = io_make_directory();
    return 0;
}

static inline int remove_directory(void **state)
{
    io_remove_directory(directory);
    return 0;
}

#endif

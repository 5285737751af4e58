/* SPDX-License-Identifier: Apache-2.0 */
/* directory.h - the directory that a program's tests work in. One includer a program. */
#ifndef DIRECTORY_H
#define DIRECTORY_H

#include "io_files.h"

static char *directory;

/* ---- As cmocka calls them ------------------------------------------------------------------ */

static inline int make_directory(void **state)
{
    (void)state;
    directory = io_make_directory();
    return 0;
}

static inline int remove_directory(void **state)
{
    (void)state;
    io_remove_directory(directory);
    return 0;
}

#endif

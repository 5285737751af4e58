/* SPDX-License-Identifier: Apache-2.0 */
/* forms.h - the file formats ("forms") of results in one file, chosen by the ending of its name. */
#pragma once

#include "table.h"

typedef struct trajectory_form {
    const char *suffix; /* ".csv" */
    int32_t timed;      /* 1: a table, which begins with the time */
    int32_t described;  /* 1: the file has the meta data, so there is no separate meta file */
    int32_t spool;      /* IO_SPOOL_OUTPUT or IO_SPOOL_NAMED */
    /* Fails if this build does not have the form. NULL: every build has it. */
    collet_status (*check)(const char *path, collet_error *err);
    /* Writes the table to `file`, in constant memory. NULL: io_results writes the file (.npz). */
    collet_status (*write)(const trajectory_table *table, io_spool *file, collet_error *err);
} trajectory_form;

/* Returns the form of a file by its name; NULL if the name has another ending. */
const trajectory_form *trajectory_form_of(const char *path);

/* SPDX-License-Identifier: Apache-2.0 */
/* forms.h - the forms of one file of results, by the ending of its name. */
#ifndef ENGINES_TRAJECTORY_WRITING_FORMS_H
#define ENGINES_TRAJECTORY_WRITING_FORMS_H

#include "table.h"

typedef struct trajectory_form {
    const char *suffix; /* ".csv" */
    int32_t timed;      /* 1: a table, which begins with the time */
    int32_t described;  /* 1: it has the meta data, so that there is no meta file */
    int32_t spool;      /* IO_SPOOL_OUTPUT or IO_SPOOL_NAMED */
    /* Whether this build has the form; NULL: every build. */
    collet_status (*check)(const char *path, collet_error *err);
    /* Writes the table to `file`, in constant memory. NULL: the results write themselves. */
    collet_status (*write)(const trajectory_table *table, io_spool *file, collet_error *err);
} trajectory_form;

/* NULL: the name has no such ending. */
const trajectory_form *trajectory_form_of(const char *path);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* work.h - the file in DIR.shards, beside the directory DIR of the patterns. It has the common settings of all shards
 * of a run, so that collet-merge knows which patterns must exist. */
#pragma once

#include "films.h"
#include "options.h"

#define RSOXS_WORK_FILE "collet-rsoxs.work"

typedef struct rsoxs_work {
    rsoxs_options options; /* for rsoxs_scan, without the directory of the patterns */
    const char *started;   /* the directory in which a shard was started, or "" */
    char *text;            /* the text of the file; all names point into it */
    size_t size;
} rsoxs_work;

/* Writes the file, unless it already exists with the same content. Fails with INVALID if another shard has other
 * options, energies or films and options->force is 0. The number of shards may differ. */
collet_status rsoxs_work_note(const rsoxs_films *films, const rsoxs_options *options,
                              collet_error *err);

/* Reads the file of the directory DIR.shards. IO, FORMAT, NO_MEMORY. The caller closes the work,
 * also after an error. */
collet_status rsoxs_work_read(rsoxs_work *work, const char *shards, collet_error *err);
void rsoxs_work_close(rsoxs_work *work);

/* SPDX-License-Identifier: Apache-2.0 */
/* films.h - the morphologies of a run, their directories, and their division among shards. */
#ifndef TOOLS_RSOXS_FILMS_H
#define TOOLS_RSOXS_FILMS_H

#include "options.h"

#include <sys/stat.h>

/* One morphology. */
typedef struct rsoxs_film {
    char *path;
    const char *name;   /* the end of the path, without .h5; not terminated there */
    int length;         /* of the name */
    char *directory;    /* of its patterns */
    int64_t first, end; /* the energies of this process, of `n_energies`; first == end: none */
} rsoxs_film;

typedef struct rsoxs_films {
    rsoxs_film *films; /* in the order of their names, not of the arguments */
    int64_t count;
    double *energies; /* n_energies, requested for each film */
    int64_t n_energies;
    char *directory; /* of the patterns, or of their directories if there are several films */
    struct rsoxs_inode *inodes;
} rsoxs_films;

/*
 * Reads the list of --films and the configuration; names the directories: -o DIR, else the
 * configuration's, for one film; DIR/NAME for several. Sets first and end: shard I of N does whole
 * films where there are at least N, else energies. INVALID, for instance for two films of the same
 * name.
 */
collet_status rsoxs_films_open(rsoxs_films *films, const rsoxs_options *options, collet_error *err);
void rsoxs_films_close(rsoxs_films *films);
/* Whether --energies, if it is given, has the energy. */
int rsoxs_films_chosen(const rsoxs_options *options, double energy);
/* The shard of n_shards, from 1, that does an energy of a film. */
int64_t rsoxs_films_shard(const rsoxs_films *films, int64_t n_shards, int64_t film, int64_t energy);
/* The path of the film of this process that is this file; NULL: none. */
const char *rsoxs_films_find(const rsoxs_films *films, const struct stat *file);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* films.h - the morphologies of a run, their directories, and their division among shards. */
#pragma once

#include "options.h"

#include <sys/stat.h>

/* One morphology. */
typedef struct rsoxs_film {
    char *path;
    const char *name;   /* the end of `path`; the name ends before ".h5" */
    int length;         /* the length of the name */
    char *directory;    /* the directory of the film's patterns */
    int64_t first, end; /* this process's range among the `n_energies`; first == end: none */
} rsoxs_film;

typedef struct rsoxs_films {
    rsoxs_film *films; /* sorted by name, not in the order of the arguments */
    int64_t count;
    double *energies; /* the n_energies energies that are requested for each film */
    int64_t n_energies;
    char *directory; /* the directory of the patterns; with several films, of the films' directories */
    struct rsoxs_inode *inodes;
} rsoxs_films;

/* Reads the list of --films and the configuration, and names the directories: -o DIR (by default the
 * configuration's directory) for one film, DIR/NAME for several films. Sets first and end: shard I of N
 * computes whole films if there are at least N films, otherwise energies of films. Fails with INVALID, for instance
 * if two films have the same name. */
collet_status rsoxs_films_open(rsoxs_films *films, const rsoxs_options *options, collet_error *err);
void rsoxs_films_close(rsoxs_films *films);
/* 1 if --energies contains the energy, or is not given. */
int rsoxs_films_chosen(const rsoxs_options *options, double energy);
/* Returns the number (from 1) of the shard, among n_shards, that computes an energy of a film. */
int64_t rsoxs_films_shard(const rsoxs_films *films, int64_t n_shards, int64_t film, int64_t energy);
/* Returns the path of the film of this process that is the same file as `file`; NULL if there is none. */
const char *rsoxs_films_find(const rsoxs_films *films, const struct stat *file);

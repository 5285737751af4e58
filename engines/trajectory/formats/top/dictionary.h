/* SPDX-License-Identifier: Apache-2.0 */
/* dictionary.h - numbers by name: macros, atom types and molecule types of a .top file. */
#ifndef ENGINES_TRAJECTORY_FORMATS_TOP_DICTIONARY_H
#define ENGINES_TRAJECTORY_FORMATS_TOP_DICTIONARY_H

#include "trajectory/formats/text.h"

typedef struct trajectory_dictionary_entry {
    char *name;
    int64_t value;
} trajectory_dictionary_entry;

/* Zeros are an empty dictionary. */
typedef struct trajectory_dictionary {
    trajectory_dictionary_entry *entries; /* n, in the order in which names were added */
    int64_t n;
    int64_t capacity;
    int64_t *slots; /* index of an entry, or -1; by the hash of the name */
    size_t n_slots; /* a power of 2, at least 2 n; 0: none yet */
} trajectory_dictionary;

/* The number of a name; -1: none. */
int64_t trajectory_dictionary_find(const trajectory_dictionary *dictionary, trajectory_word name);

/* Sets the number of a name, which replaces the one before; returns 0 if there is no memory. */
int trajectory_dictionary_set(trajectory_dictionary *dictionary, trajectory_word name,
                              int64_t value);

/* Frees the names. */
void trajectory_dictionary_clear(trajectory_dictionary *dictionary);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* dictionary.h - maps names to numbers: macros, atom types and molecule types of a .top file. */
#pragma once

#include "trajectory/formats/text.h"

typedef struct trajectory_dictionary_entry {
    char *name;
    int64_t value;
} trajectory_dictionary_entry;

/* A zeroed struct is an empty dictionary. */
typedef struct trajectory_dictionary {
    trajectory_dictionary_entry *entries; /* n, in the order in which names were added */
    int64_t n;
    int64_t capacity;
    int64_t *slots; /* hash table: index of an entry, or -1 */
    size_t n_slots; /* a power of 2, at least 2 n; 0: not allocated yet */
} trajectory_dictionary;

/* Returns the number of a name; -1 if the name is absent. */
int64_t trajectory_dictionary_find(const trajectory_dictionary *dictionary, trajectory_word name);

/* Sets the number of a name, and replaces an earlier number; returns 0 if out of memory. */
int trajectory_dictionary_set(trajectory_dictionary *dictionary, trajectory_word name,
                              int64_t value);

/* Frees the names. */
void trajectory_dictionary_clear(trajectory_dictionary *dictionary);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preprocessor.h - the lines of a .top or .itp file and of the files that it includes.
 *
 * Supports #include, #define, #undef, #ifdef, #ifndef, #else and #endif like gmx grompp without options, so only the
 * files define macros. Text after ';' is a comment; a '\' at the end of a line continues the line. The name of a
 * macro is replaced by the macro's text.
 */
#pragma once

#include "trajectory/formats/text.h"

/* Maps names to numbers: macros, atom types and molecule types of a .top file. */

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

#define TRAJECTORY_TOP_DEPTH 32      /* nesting depth of files that include each other */
#define TRAJECTORY_TOP_CONDITIONS 64 /* nesting depth of #ifdef inside #ifdef */
#define TRAJECTORY_TOP_LINE 65536    /* bytes of a line with its continuations and macros */

typedef struct trajectory_top_file {
    io_source own; /* the open file, if it is an included file */
    io_source *source;
    io_lines lines;
    int n_conditions; /* number of open conditions where the file begins */
} trajectory_top_file;

typedef struct trajectory_top_condition {
    int64_t line; /* line of the #ifdef */
    int active;   /* 1: the lines that follow are used */
    int was_else; /* 1: #else was read */
} trajectory_top_condition;

/* Initialise with zeros, then call trajectory_top_open. */
typedef struct trajectory_top_lines {
    trajectory_top_file *files[TRAJECTORY_TOP_DEPTH];
    int depth;
    int64_t n_included; /* number of #include so far */
    trajectory_top_condition conditions[TRAJECTORY_TOP_CONDITIONS];
    int n_conditions;
    int n_inactive;               /* number of inactive conditions */
    trajectory_dictionary macros; /* index in `texts` of the macro's text; -1: not defined */
    char **texts;
    int64_t n_texts;
    int64_t texts_capacity;
    char *raw; /* `raw` and `line` have TRAJECTORY_TOP_LINE bytes each */
    char *line;
} trajectory_top_lines;

/* Begins to read `source`, which must stay open until trajectory_top_close. COLLET_NO_MEMORY. */
collet_status trajectory_top_open(trajectory_top_lines *top, io_source *source, collet_error *err);

/* Returns the next line that is neither empty nor in an inactive condition, without its comment and surrounding
 * blanks. The line is valid until the next call; *text is NULL after the last line. COLLET_FORMAT with "path:line:" of
 * the file that has the line; COLLET_NO_MEMORY, COLLET_IO, COLLET_CANCELLED. */
collet_status trajectory_top_next(trajectory_top_lines *top, const char **text, size_t *length,
                                  collet_error *err);

/* Returns the position of the last line, for trajectory_text_fail. */
const io_lines *trajectory_top_where(const trajectory_top_lines *top);

/* Closes the included files and frees everything. */
void trajectory_top_close(trajectory_top_lines *top);

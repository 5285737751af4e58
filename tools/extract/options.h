/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of collet-extract. */
#ifndef COLLET_EXTRACT_OPTIONS_H
#define COLLET_EXTRACT_OPTIONS_H

#include <stdint.h>

/* Exit statuses; 128 + signal when one stopped the work. */
#define EXTRACT_EXIT_OK 0
#define EXTRACT_EXIT_FAILURE 1
#define EXTRACT_EXIT_USAGE 2
#define EXTRACT_EXIT_TRUNCATED 3

/* Constant strings are those of argv; NULL = not given. */
typedef struct extract_options {
    char **command; /* argv as it was typed; NULL when memory was short */
    const char *topology;
    const char *trajectory;
    const char *output;    /* -o */
    const char *directory; /* -d */
    char *path;            /* what is written: one of these, or the trajectory's name with .npz */
    char *keys;            /* of all --keys, separated by ',' */
    const char *backend;
    const char *selection; /* "all" when not given */
    const char *masses;
    const char *reference;
    double axis[3];
    int64_t start; /* frames start, start + step, ... below stop */
    int64_t stop;  /* -1: the end of the file */
    int64_t step;
    int64_t batch;   /* frames; 0 = auto */
    int64_t threads; /* 0 = libcore's choice */
    int force;       /* an existing output may be replaced: --force, or it was named */
    int quiet;
    int json;
} extract_options;

/* Reads the command line. A wrong one ends the program with EXTRACT_EXIT_USAGE and a message;
 * --help and --version end it with 0. */
void extract_options_parse(int argc, char **argv, extract_options *options);
void extract_options_free(extract_options *options);

#endif

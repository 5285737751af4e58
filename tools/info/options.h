/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of backend-info, and its exit status. */
#ifndef INFO_OPTIONS_H
#define INFO_OPTIONS_H

#include <stdint.h>

enum {
    INFO_EXIT_OK = 0,
    INFO_EXIT_FAILURE = 1,     /* NAME is unknown, or nothing could be listed */
    INFO_EXIT_USAGE = 2,       /* wrong command line */
    INFO_EXIT_UNAVAILABLE = 3, /* NAME was found and cannot be used */
};

typedef struct info_options {
    const char *name; /* one backend, or NULL for all */
    int32_t device;   /* one of its devices, or -1 for all */
    int32_t json, why, env;
} info_options;

/* Exits with INFO_EXIT_USAGE, or with 0 after --help and --version. */
void info_options_parse(int argc, char **argv, info_options *options);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of collet-ternary. */
#ifndef TERNARY_OPTIONS_H
#define TERNARY_OPTIONS_H

#include <stdint.h>

/* Exit statuses; 128 + signal when one stopped the work. */
#define TERNARY_EXIT_OK 0
#define TERNARY_EXIT_FAILURE 1
#define TERNARY_EXIT_USAGE 2

enum { TERNARY_PACK, TERNARY_UNPACK, TERNARY_INFO, TERNARY_RUN, TERNARY_BENCH, TERNARY_COMMANDS };

/* How floating weights become codes; NONE: as nothing was said. */
enum { TERNARY_QUANTIZE_NONE, TERNARY_QUANTIZE_THRESHOLD, TERNARY_QUANTIZE_ABSMEAN };

#define TERNARY_THRESHOLD 0.3f /* where nothing was said */
#define TERNARY_ACTIVATIONS_UNSAID UINT32_MAX

/* One layer of `pack`: an argument and the options behind it. */
typedef struct ternary_layer_options {
    const char *weights;
    const char *bias, *scale; /* NULL: none */
    int relu;
    int quantize; /* TERNARY_QUANTIZE_* */
    float threshold;
    uint32_t activations; /* COLLET_TERNARY_*, or UNSAID */
    float activations_threshold;
} ternary_layer_options;

/* Strings are those of argv; NULL = not given. */
typedef struct ternary_options {
    int command;
    const char *arguments[2]; /* of the other commands than pack */
    int n_arguments;
    ternary_layer_options *layers; /* of pack, n_layers; freed by ternary_options_free */
    uint32_t n_layers;
    ternary_layer_options defaults; /* what stands before the first argument */
    const char *output, *labels, *backend;
    uint32_t format; /* COLLET_TERNARY_*; T2 where not given */
    int64_t layer;   /* -1: not given */
    int64_t threads; /* 0: libcore's choice */
    double seconds;  /* of each measurement */
    int values, bytes, json, quiet;
} ternary_options;

/* Reads the command line. What it cannot make sense of ends the program with TERNARY_EXIT_USAGE and
 * a message, --help and --version end it with 0. */
void ternary_options_parse(int argc, char **argv, ternary_options *options);
void ternary_options_free(ternary_options *options);

/* "t2" of COLLET_TERNARY_T2, "int8" of COLLET_TERNARY_INT8. */
const char *ternary_format_name(uint32_t format);
const char *ternary_activations_name(uint32_t activations);

#endif

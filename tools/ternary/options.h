/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of collet-ternary. */
#ifndef TERNARY_OPTIONS_H
#define TERNARY_OPTIONS_H

#include <collet/ternary.h>

#include <stdint.h>

/* Exit statuses; 128 + signal when one stopped the work. */
#define TERNARY_EXIT_OK 0
#define TERNARY_EXIT_FAILURE 1
#define TERNARY_EXIT_USAGE 2

enum { TERNARY_PACK, TERNARY_UNPACK, TERNARY_INFO, TERNARY_RUN, TERNARY_BENCH, TERNARY_COMMANDS };

/* One layer of `pack`: an argument and the options after it. */
typedef struct ternary_layer_options {
    const char *weights;
    const char *bias, *scale; /* NULL: none */
    int relu;
    int quantized; /* `quantize` was chosen */
    collet_ternary_quantize_params quantize;
    uint32_t activations; /* COLLET_TERNARY_*, or COLLET_TERNARY_AS_STORED: not given */
    float activations_threshold;
} ternary_layer_options;

/* Strings are those of argv; NULL = not given. */
typedef struct ternary_options {
    int command;
    const char *arguments[2]; /* of the other commands than pack */
    int n_arguments;
    ternary_layer_options *layers; /* of pack, n_layers; freed by ternary_options_free */
    uint32_t n_layers;
    ternary_layer_options defaults; /* the options before the first argument */
    const char *output, *labels, *backend;
    uint32_t format; /* COLLET_TERNARY_*; T2 where not given */
    int64_t layer;   /* -1: not given */
    int64_t threads; /* 0: libcore's choice */
    double seconds;  /* of each measurement */
    int values, bytes, json, quiet;
} ternary_options;

/* Reads the command line. A wrong one ends the program with TERNARY_EXIT_USAGE and a message;
 * --help and --version end it with 0. */
void ternary_options_parse(int argc, char **argv, ternary_options *options);
void ternary_options_free(ternary_options *options);

/* COLLET_TERNARY_WRITE_* */
uint32_t ternary_unpacked(const ternary_options *options);

/* "t2" of COLLET_TERNARY_T2, "int8" of COLLET_TERNARY_INT8: as the command line has them. */
const char *ternary_format_word(uint32_t format);
const char *ternary_activations_word(uint32_t activations);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the options that the commands of collet-ternary have in common. */
#pragma once

#include "common/command.h"

#include <collet/ternary.h>

#include <stdint.h>

/* Strings belong to argv; NULL if the option was not given. */
typedef struct ternary_options {
    const char *output, *backend;
    int64_t threads; /* 0: libcore's choice */
    int json, quiet, force;
} ternary_options;

/* Keys of the rows below; a command's own keys begin at TERNARY_KEY_OWN. */
enum {
    TERNARY_KEY_BACKEND = 256,
    TERNARY_KEY_THREADS,
    TERNARY_KEY_JSON,
    TERNARY_KEY_FORCE,
    TERNARY_KEY_ACTIVATIONS,
    TERNARY_KEY_OWN,
};

/* Rows for the options of a command; every command has TERNARY_OPTIONS. */
/* clang-format off */
#define TERNARY_OPTIONS                                                                            \
    {"backend", TERNARY_KEY_BACKEND, "NAME", 0,                                                    \
     "Backend to compute with, or a list (default: auto)", 7},                                     \
    {"threads", TERNARY_KEY_THREADS, "N", 0, "CPU threads to compute with", 7},                    \
    {"quiet", 'q', NULL, 0, "No progress line and no summary", 7}
#define TERNARY_OPTION_OUTPUT                                                                      \
    {"output", 'o', "FILE", 0, "Write this file", 1},                                              \
    {"force", TERNARY_KEY_FORCE, NULL, 0, "Replace an existing file", 1}
#define TERNARY_OPTION_JSON {"json", TERNARY_KEY_JSON, NULL, 0, "Print JSON", 7}
#define TERNARY_OPTION_ACTIVATIONS                                                                 \
    {"activations", TERNARY_KEY_ACTIVATIONS, "KIND", 0,                                            \
     "How a layer quantizes its input: int8 (default), int4, ternary, ternary:T with a threshold, or "   \
     "f32 (not at all)", 3}
/* clang-format on */

#define TERNARY_WEIGHTS_ARE                                                                        \
    "WEIGHTS is an .npy file with rows of f2, f4, f8 numbers or of i1 codes, a tensor of a "       \
    "GGUF file, as FILE.gguf:TENSOR: TQ2_0, TQ1_0, Q2_0, F16, BF16, F32, F64 or I8, or a tensor "  \
    "of a safetensors file, as FILE.safetensors:TENSOR: packed weights of BitNet (config.json "    \
    "must be in the file's folder), F16, BF16, F32, F64 or I8."

/* 1 if the matrices of a file of this kind, COLLET_TERNARY_FILE_*, are tensors with names. */
static inline int ternary_has_tensors(uint32_t kind)
{
    return kind == COLLET_TERNARY_FILE_GGUF || kind == COLLET_TERNARY_FILE_SAFETENSORS;
}

/* Reads the command line of a command with the parser of its argp and `input`. Arguments and options are
 * read in their order. Then installs the handlers of signals. `options` points into
 * `input`; ternary_parse_option fills it. */
void ternary_parse(const tool_command *command, int argc, char **argv, void *input,
                   const ternary_options *options);

/* Reads one of the rows above, except activations. Returns ARGP_ERR_UNKNOWN for another key. */
error_t ternary_parse_option(int key, char *text, struct argp_state *state,
                             ternary_options *options);

/* Takes an argument into `arguments` at ARGP_KEY_ARG; more than `maximum` arguments end the program.
 * ternary_check_arguments is called at ARGP_KEY_END: fewer than `minimum` arguments end the program, with a
 * message that contains `names`. */
void ternary_take_argument(struct argp_state *state, const char *text, const char **arguments,
                           unsigned maximum);
void ternary_check_arguments(struct argp_state *state, unsigned minimum, const char *names);

/* Fails if the output would replace the file `input`. */
void ternary_check_input(struct argp_state *state, const ternary_options *options, const char *input);

/* These functions end the program if the text is not a value of the expected kind. */
void ternary_parse_activations(struct argp_state *state, const char *text, uint32_t *kind,
                               float *threshold);
float ternary_parse_threshold(struct argp_state *state, const char *name, const char *text);
uint32_t ternary_parse_format(struct argp_state *state, const char *text);

/* Return the word of the command line: "t2" for COLLET_TERNARY_T2, "int8" for COLLET_TERNARY_INT8. */
const char *ternary_format_word(uint32_t format);
const char *ternary_activations_word(uint32_t activations);

/* SPDX-License-Identifier: Apache-2.0 */
/* info.h - the command line of backend-info, and its output as text or as JSON. */
#pragma once

#include "common/exit.h"

#include <cjson/cJSON.h>
#include <collet/collet.h>

/* ---- Command line (options.c) -------------------------------------------------------------- */

#define INFO_DEFAULTS_MAX 8

typedef struct info_options {
    const char *name;       /* one backend, or NULL for all */
    int32_t device;         /* one of its devices, or -1 for all */
    const char *named;      /* a device of `name` that has a name instead of a number, or NULL */
    uint32_t named_kernels; /* the number of ops that the device `named` has, once it is open */
    int32_t file;           /* `name` is the path of a plugin */
    int32_t json, why, env, doctor;
    int32_t gpu;                                 /* a GPU is required */
    const char *output;                          /* file for the JSON report, or NULL */
    int32_t force;                               /* `output` may exist */
    const char *defaults[INFO_DEFAULTS_MAX + 1]; /* "key=value"; NULL ends the list */
    const char *called;                          /* the command that messages name */
    char *argument[2];                           /* the arguments as typed */
    const char *explain, *shape, *dtype; /* the arguments of --explain, or NULL */
} info_options;

/* Reads the command line. Exits with 2 if it is wrong, and with 0 after --help and --version. */
void info_options_parse(int argc, char **argv, info_options *options);

/* ---- What is requested (options.c) ----------------------------------------------------------- */

/* 1 if the command line requests the backend. */
int32_t info_requests(const info_options *options, const collet_backend_info *backend);
/* 1 if the path ends in NAME.so. */
int32_t info_is_file(const char *path, const char *name);
/* 1 if the record is about the requested backend's file; 1 for every record if `backend` is NULL. */
int32_t info_requests_record(const collet_backend_info *backend,
                             const collet_plugin_record *record);

/* ---- Report ------------------------------------------------------------------------------ */

/* Returns "usable", "unavailable" or "unproven". */
const char *info_state_word(int32_t state);
/* Returns the word that people read: "not tried yet" instead of "unproven"; "by name" for a backend
 * whose devices all have names. */
const char *info_state_text(const collet_backend_info *backend);

/* Prints a line for each backend, and missing requirements with the commands that install them (listing.c).
 * Opens the backend that the setting `backend` names. Returns 0 if no backend is selected. */
int32_t info_list_backends(collet_runtime *runtime, const info_options *options);
/* Returns 1 if a backend is selected; otherwise prints an error message and returns 0 (listing.c). */
int32_t info_has_selected(collet_runtime *runtime);
/* Prints the details of one backend, with the devices that `options` requests (listing.c). */
void info_print_backend(const collet_backend_info *backend, const info_options *options);

/* Prints the calibration that each backend uses (tables.c). */
void info_list_calibrations(const collet_runtime *runtime);
/* Prints the steps of the search, grouped by file (tables.c). */
void info_list_records(const collet_runtime *runtime, const collet_backend_info *only);
/* Prints the steps of the search for one file (tables.c). */
void info_list_file(const collet_runtime *runtime, const char *path);
/* Prints the settings (tables.c). */
void info_list_settings(const collet_runtime *runtime);
/* Prints the searched directories and the refused files, each on its own line (tables.c). */
void info_list_directories(const collet_runtime *runtime);

/* Returns the whole report as one JSON object; NULL if out of memory. */
cJSON *info_json(const collet_runtime *runtime, const info_options *options,
                 const collet_backend_info *only);

/* Prints missing requirements, and returns the exit status (doctor.c). */
int info_doctor(collet_runtime *runtime, const info_options *options);
/* Prints missing requirements as a short list (doctor.c). */
void info_list_missing(collet_runtime *runtime, const info_options *options);

/* Explains which device and implementation would run the call of --explain, and why; returns the exit status
 * (explain.c). */
int info_explain(collet_runtime *runtime, const info_options *options);

/* Prints `text`, escaped, from column `indent` of the current line on, and ends the line (wrap.c).
 * Further lines begin in the same column, or further left on a narrow terminal. If standard output is
 * not a terminal, the text stays on one line. */
void wrap_print(const char *text, int indent);

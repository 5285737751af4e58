/* SPDX-License-Identifier: Apache-2.0 */
/* info.h - backend-info: its command line and what it prints, as text or as JSON. */
#ifndef TOOLS_INFO_INFO_H
#define TOOLS_INFO_INFO_H

#include "common/exit.h"

#include <cjson/cJSON.h>
#include <collet/collet.h>

/* ---- Command line (options.c) -------------------------------------------------------------- */

#define INFO_DEFAULTS_MAX 8

typedef struct info_options {
    const char *name;       /* one backend, or NULL for all */
    int32_t device;         /* one of its devices, or -1 for all */
    const char *named;      /* a device of it that has a name instead of a number, or NULL */
    uint32_t named_kernels; /* the ops that this one has, once it is open */
    int32_t file;           /* `name` is the path of its plugin */
    int32_t json, why, env, doctor;
    int32_t gpu;                                 /* one is required */
    const char *output;                          /* file for the JSON report, or NULL */
    int32_t force;                               /* it may exist */
    const char *defaults[INFO_DEFAULTS_MAX + 1]; /* "key=value", then NULL */
    const char *called;                          /* the command that texts name */
    char *argument[2];                           /* as typed */
    const char *explain, *shape, *dtype; /* the op of --explain, or NULL; as for backend-bench */
} info_options;

/* Exits with 2, or with 0 after --help and --version. */
void info_options_parse(int argc, char **argv, info_options *options);

/* ---- What is requested (requested.c) --------------------------------------------------------- */

/* 1 when the command line requests the backend. */
int32_t info_requests(const info_options *options, const collet_backend_info *backend);
/* 1 when the path ends in a file NAME.so. */
int32_t info_is_file(const char *path, const char *name);
/* 1 when the record is of the requested backend's file; `backend` NULL: all are requested. */
int32_t info_requests_record(const collet_backend_info *backend,
                             const collet_plugin_record *record);

/* ---- Report ------------------------------------------------------------------------------ */

/* "usable", "unavailable", "unproven". */
const char *info_state_word(int32_t state);
/* For people: "not tried yet" for "unproven", and "by name". */
const char *info_state_text(const collet_backend_info *backend);

/* A line for each backend, and what is missing with the command that installs it (listing.c). Opens
 * what the setting `backend` names. 0: none is selected. */
int32_t info_list_backends(collet_runtime *runtime, const info_options *options);
/* 1 if a backend is selected; else prints an error message (listing.c). */
int32_t info_has_selected(collet_runtime *runtime);
/* The details of one backend, with the devices that `options` has (listing.c). */
void info_print_backend(const collet_backend_info *backend, const info_options *options);

/* The calibration that each backend uses (tables.c). */
void info_list_calibrations(const collet_runtime *runtime);
/* The steps of the search, grouped by file (tables.c). */
void info_list_records(const collet_runtime *runtime, const collet_backend_info *only);
/* The steps for one file (tables.c). */
void info_list_file(const collet_runtime *runtime, const char *path);
/* The settings (tables.c). */
void info_list_settings(const collet_runtime *runtime);
/* The directories that were searched, and the files that were refused, one a line (tables.c). */
void info_list_directories(const collet_runtime *runtime);

/* The whole report as one JSON object; NULL when out of memory. */
cJSON *info_json(const collet_runtime *runtime, const info_options *options,
                 const collet_backend_info *only);

/* Prints what is missing (doctor.c); an exit status. */
int info_doctor(collet_runtime *runtime, const info_options *options);
/* The same as a short list (doctor.c). */
void info_list_missing(collet_runtime *runtime, const info_options *options);

/* Prints what would run the call of --explain, and why (explain.c); an exit status. */
int info_explain(collet_runtime *runtime, const info_options *options);

/* Prints `text`, escaped, which begins in column `indent` of the current line, and ends the line
 * (wrap.c). Further lines begin in that column too, or further left on a narrow terminal. Nothing
 * is broken when standard output is no terminal. */
void wrap_print(const char *text, int indent);

#endif

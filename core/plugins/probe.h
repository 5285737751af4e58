/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe - tries a plugin in a child process. If the plugin crashes, hangs or exits, this becomes the reason for
 * refusing it, and the program continues.
 *
 * The child is the program collet-probe, started as
 *     collet-probe FILE THREADS TIMEOUT_MS [KEY=VALUE ...]
 * in a process group of its own, with /dev/null as standard input and output, messages on
 * descriptor 2 and the report on descriptor 3. The child closes all other descriptors before it opens the plugin. The
 * report is a letter before each step (letters: open.h and PROBE_CAPABILITIES), then one JSON object {"code": "...",
 * "reason": "...", "unproven": bool, "capabilities": "..."} and a newline. The plugin runs in a child of
 * collet-probe. When that child ends, at SIGTERM, and when the program dies, collet-probe kills all processes that
 * the plugin has started, in other groups and sessions too. These processes may write at most as much memory as the
 * machine has (RLIMIT_DATA).
 */
#pragma once

#include <collet/plugin.h>

#define PROBE_DESCRIPTOR 3
#define PROBE_CAPABILITIES 'c'
#define PROBE_MAX_REPORT ((size_t)1 << 21)
#define PROBE_MAX_AT_ONCE 16

/* Valid during the call. */
typedef struct probe_request {
    const char *program;         /* collet-probe's path */
    const char *path;            /* the plugin's absolute path */
    const char *const *settings; /* "key=value", NULL-terminated; or NULL */
    int32_t threads;             /* the value that host->threads returns in the probe */
    int64_t timeout_ms;          /* > 0 */
} probe_request;

/* Strings belong to the report; `capabilities` is NULL unless `code` is "ok". */
typedef struct probe_report {
    char *code;
    char *reason;
    char *capabilities;
    int32_t unproven;    /* neither proven nor refused */
    double milliseconds; /* duration of the probe */
} probe_report;

/* Runs `count` probes at the same time, at most PROBE_MAX_AT_ONCE. Every outcome of a probe is a
 * report; only NO_MEMORY fails. The caller clears every report with probe_report_clear, also after
 * a failure. Any thread; blocks up to the longest timeout_ms and a little more. A child is reaped
 * by its pid, or abandoned if it cannot be ended within that time. */
collet_status probe_run(const probe_request *requests, probe_report *reports, size_t count,
                        collet_error *err);

/* 1 for the codes of a child that ended before its report: "crash-in-", "hang-in-", "exit-in-". */
int probe_died(const char *code);

/* 1 if the address space of this process and its probes is limited. Libraries that cannot map
 * enough memory then hang in every probe. */
int probe_memory_is_limited(void);
void probe_report_clear(probe_report *report);

/* Copies each part to a new string; capabilities may be NULL. NO_MEMORY leaves *report empty. */
collet_status probe_report_set(probe_report *report, const char *code, const char *reason,
                               const char *capabilities, int unproven, collet_error *err);

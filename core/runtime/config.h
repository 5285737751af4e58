/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of a runtime: one table of all that environment variables or the configuration file
 * can set. Program > environment > file > default. Read once, when the runtime is created, then
 * constant: any thread.
 */
#ifndef COLLET_CORE_CONFIG_H
#define COLLET_CORE_CONFIG_H

#include <collet/collet.h>

#include "log.h"

/* X(NAME, key, environment variable, type, default, help) */
#define CONFIG_LIST(X)                                                                             \
    X(BACKEND, "backend", "COLLET_BACKEND", "string", "auto",                                      \
      "backend to use: auto, a name, or names in order of preference with optional :device")       \
    X(FALLBACK, "fallback", "COLLET_FALLBACK", "boolean", "auto",                                  \
      "may another backend run a refused call: on, off, or auto (only under auto and for lists)")  \
    X(NUM_THREADS, "num_threads", "COLLET_NUM_THREADS", "integer", "0",                            \
      "maximum number of CPU threads; 0 = as many as affinity and cgroup quota allow")             \
    X(TIMEOUT, "timeout", "COLLET_TIMEOUT", "integer", "0",                                        \
      "seconds that a wait for a device may take; then the device is lost; 0 = no limit")          \
    X(ISA, "isa", "COLLET_ISA", "string", "auto",                                                  \
      "highest instruction set level for CPU kernels: x86-64-v2, x86-64-v3, x86-64-v4, auto")      \
    X(LOG, "log", "COLLET_LOG", "string", "warning",                                               \
      "log level: error, warning, info, debug, off")                                               \
    X(PLUGIN_PATH, "plugin_path", "COLLET_PLUGIN_PATH", "path list", "",                           \
      "directories or plugin files to search instead of the default ones; with a leading + "       \
      "before them")                                                                               \
    X(PLUGIN_DENY, "plugin_deny", "COLLET_PLUGIN_DENY", "list", "",                                \
      "names of backends that are not loaded, separated by commas")                                \
    X(PROBE, "probe", "COLLET_PROBE", "boolean", "on",                                             \
      "probe plugins in a child process before they are loaded; off: trust the manifest")          \
    X(PROBE_TIMEOUT, "probe_timeout_ms", "COLLET_PROBE_TIMEOUT_MS", "integer", "10000",            \
      "time limit of a probe in milliseconds")                                                     \
    X(CACHE, "cache", "COLLET_CACHE", "boolean", "on", "cache the results of probes")              \
    X(CACHE_DIR, "cache_dir", "COLLET_CACHE_DIR", "path", "$XDG_CACHE_HOME/collet",                \
      "directory of the cache")                                                                    \
    X(CONFIG, "config", "COLLET_CONFIG", "path", "$XDG_CONFIG_HOME/collet/collet.conf",            \
      "the configuration file: key = value lines, # comments")

#define CONFIG_KEY(NAME, key, environment, type, fallback, help) CONFIG_##NAME,
typedef enum config_key { CONFIG_LIST(CONFIG_KEY) CONFIG_KEY_COUNT } config_key;
#undef CONFIG_KEY

typedef struct config config;

/*
 * Reads `options` (may be NULL), environment (through secure_getenv) and configuration file. A
 * named file that cannot be read is IO; a malformed line, an unknown key without a dot or a value
 * of the wrong type is FORMAT or INVALID, with file and line. Keys with a dot belong to backends
 * and are not checked.
 */
collet_status config_create(config **out, const collet_runtime_options *options, collet_error *err);
void config_destroy(config *config);

/* Warns about environment variables that begin with COLLET_ and are not settings. */
void config_check_environment(const message_log *log);

/* Never NULL; "" if not set. Valid as long as the config. */
const char *config_text(const config *config, config_key key);
int64_t config_integer(const config *config, config_key key);
int config_boolean(const config *config, config_key key);
/* By name, including keys of backends; NULL if unknown or not set. */
const char *config_find(const config *config, const char *key);

/* The settings that a probe gets for host->config: "key=value" of isa, num_threads and keys with a
 * dot, NULL-terminated; the last of a key is in force. Valid as long as the config. */
const char *const *config_plugin_settings(const config *config);

/* 1 if the value is from the program. */
int config_from_program(const config *config, config_key key);

size_t config_count(void);
void config_setting(const config *config, size_t index, collet_setting *setting);

#endif

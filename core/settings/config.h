/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of a runtime: one table of all settings, their environment variables and their keys in the
 * configuration file. Priority: program > environment > file > default. Read when the runtime is created, then
 * constant: any thread. */
#pragma once

#include <collet/collet.h>

#include "plugins/plugin.h"
#include "util/log.h"

/* Levels of COLLET_ISA on this architecture. */
#if defined(__x86_64__)
#define CONFIG_ISA_LEVELS "x86-64-v2 x86-64-v3 x86-64-v4 v2 v3 v4"
#elif defined(__aarch64__)
#define CONFIG_ISA_LEVELS "armv8"
#else
#define CONFIG_ISA_LEVELS "baseline"
#endif

/* X(NAME, key, environment variable, type, values, default, help): util/setting.h */
#define CONFIG_LIST(X)                                                                             \
    X(BACKEND, "backend", "COLLET_BACKEND", "string", "", "auto",                                  \
      "backend to use: auto, a name, or names in order of preference with optional :device")       \
    X(FALLBACK, "fallback", "COLLET_FALLBACK", "boolean", "auto", "auto",                          \
      "whether another backend may run a call that the chosen backend cannot run: on (any usable), off (none), "   \
      "auto (any under auto, the others of a list, none for a single name)")                       \
    X(NUM_THREADS, "num_threads", "COLLET_NUM_THREADS", "integer", "", "0",                        \
      "maximum number of CPU threads; 0 = as many as affinity and cgroup quota allow")             \
    X(TIMEOUT, "timeout", "COLLET_TIMEOUT", "integer", "", "0",                                    \
      "seconds that a wait for a device may take; then the device is lost; 0 = no limit")          \
    X(ISA, "isa", "COLLET_ISA", "choice", "auto " CONFIG_ISA_LEVELS, "auto",                       \
      "highest instruction set level for CPU kernels")                                             \
    X(LOG, "log", "COLLET_LOG", "choice", "error warning info debug off", "warning",               \
      "the least important messages that are logged")                                              \
    X(PLUGIN_PATH, "plugin_path", "COLLET_PLUGIN_PATH", "path list", "", "",                       \
      "directories or plugin files to search instead of the default ones; with a leading + "       \
      "before them")                                                                               \
    X(PLUGIN_DENY, "plugin_deny", "COLLET_PLUGIN_DENY", "list", "", "",                            \
      "names of backends and layers that are not loaded, separated by commas")                     \
    X(TRUST_GROUP, "trust_group", "COLLET_TRUST_GROUP", "list", "", "",                            \
      "groups (names or numbers, separated by commas) that may write to plugins, to the "          \
      "configuration file and to the directories on the way to them")                              \
    X(LAYERS, "layers", "COLLET_LAYERS", "list", "", "",                                           \
      "layers between libcore and the backends, separated by commas, the outermost first; "        \
      "programs checks the program's calls")                                                       \
    X(PROBE, "probe", "COLLET_PROBE", "boolean", "", "on",                                         \
      "internal: probe plugins in a child process before they are loaded; off: trust the "         \
      "manifest")                                                                                  \
    X(PROBE_TIMEOUT, "probe_timeout", "COLLET_PROBE_TIMEOUT", "integer", "", "10",                 \
      "seconds that a probe, or the start of a worker, may take; 0 = no limit")                    \
    X(MEASURE, "measure", "COLLET_MEASURE", "boolean", "", "on",                                   \
      "probes measure which of several libraries is the fastest; off: the default one is used")    \
    X(CACHE, "cache", "COLLET_CACHE", "boolean", "", "on",                                         \
      "keep the results of probes and compiled kernels")                                           \
    X(CACHE_DIR, "cache_dir", "COLLET_CACHE_DIR", "path", "", "$XDG_CACHE_HOME/collet",            \
      "directory of the cache")                                                                    \
    X(CALIBRATION, "calibration", "COLLET_CALIBRATION", "boolean", "", "on",                       \
      "use what backend-bench calibrate has measured on this machine")                             \
    X(TRACE, "trace", "COLLET_TRACE", "path", "", "",                                              \
      "file to which calls, kernels, transfers and waits are written, for Perfetto")               \
    X(CONFIG, "config", "COLLET_CONFIG", "path", "", "$XDG_CONFIG_HOME/collet/collet.conf",        \
      "the configuration file: key = value lines, # comments")

#define CONFIG_KEY(NAME, ...) CONFIG_##NAME,
typedef enum config_key { CONFIG_LIST(CONFIG_KEY) CONFIG_KEY_COUNT } config_key;
#undef CONFIG_KEY

typedef struct config config;

/* Reads `options`, environment (through secure_getenv) and configuration file. IO: a
 * named file cannot be read. FORMAT or INVALID, with file and line: a malformed line, an unknown key without a dot,
 * a value of the wrong type. Keys with a dot belong to backends: config_check_plugins. */
collet_status config_create(config **out, const collet_runtime_options *options, collet_error *err);
void config_destroy(config *config);

/* Checks the keys of backends by the manifests of the plugins that were found, before any code of
 * these runs. INVALID, with file and line, for a key that the backend's manifest does not declare
 * and for a value of the wrong type; a warning for a key of a backend that was not found. Keys of a
 * backend whose manifest was not accepted are not checked. */
collet_status config_check_plugins(config *config, const loader_plugin *const *found, size_t count,
                                   const message_log *log, collet_error *err);

/* Warns about environment variables that begin with COLLET_ and are not settings. */
void config_check_environment(const message_log *log);

/* Never NULL; "" if not set. Valid as long as the config. */
const char *config_text(const config *config, config_key key);
int64_t config_integer(const config *config, config_key key);
int config_boolean(const config *config, config_key key);
/* The directory of the cache; "": nothing is cached. */
static inline const char *config_cache_directory(const config *c)
{
    return config_boolean(c, CONFIG_CACHE) ? config_text(c, CONFIG_CACHE_DIR) : "";
}
/* The value by name, including keys of backends; NULL if unknown or not set. Sets *source (may be
 * NULL) to one of the sources of collet_setting. */
const char *config_find(const config *config, const char *key, const char **source);

/* The settings that a probe gets for host->config: "key=value" of isa, num_threads and keys with a
 * dot, NULL-terminated; the last value of a key is used. Valid as long as the config. */
const char *const *config_plugin_settings(const config *config);

/* 1 if the value is from the program. */
int config_from_program(const config *config, config_key key);

size_t config_count(void);
const setting *config_setting(size_t index);

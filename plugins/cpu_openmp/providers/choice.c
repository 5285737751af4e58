/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/fault/test_libraries.c */
#include "choice.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas.h"
#include "onednn.h"
#include "cpu_openmp/runtime/processor.h"

#define OWN "own" /* the core type or ISA that the library selects itself */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Capabilities are requested twice per runtime, and there may be several runtimes; the check runs once. */
static int checked;
static pthread_mutex_t checking = PTHREAD_MUTEX_INITIALIZER;

static const char *setting(const collet_host *host, const char *library, const char *more)
{
    char key[64];
    (void)snprintf(key, sizeof key, "cpu_openmp.%s%s", library, more);
    return host->config(host, key);
}

/* Returns 1 and sets the reason if "openblas" or "onednn" must not be opened: it is switched off, safe mode is on, or
 * the probe found wrong results. Else returns 0. */
static int is_refused(const collet_host *host, const char *library, char *reason, uint64_t capacity)
{
    const char *name = setting(host, library, ""), *wrong = setting(host, library, "_refused");
    const char *safe = host->config(host, "cpu_openmp.safe_mode");
    reason[0] = '\0';
    if (name && strcmp(name, "off") == 0)
        (void)snprintf(reason, (size_t)capacity, "switched off by the setting cpu_openmp.%s",
                       library);
    else if (safe && strcmp(safe, "off") != 0)
        (void)snprintf(reason, (size_t)capacity, "not used in safe mode: %s", safe);
    else if (wrong)
        (void)snprintf(reason, (size_t)capacity, "%s", wrong);
    return reason[0] != '\0';
}

static library_settings settings_of(const collet_host *host, const char *library,
                                    const char *target)
{
    library_settings s = {.name = ""};
    const char *name = setting(host, library, "");
    (void)snprintf(s.name, sizeof s.name, "%s", name ? name : "");
    if (!is_refused(host, library, s.refused, sizeof s.refused))
        (void)snprintf(s.target, sizeof s.target, "%s", target);
    return s;
}

/* Whether the library may be opened. If so, logs its name. */
static int may_open(const collet_host *host, const char *library)
{
    char refused[LIBRARY_REASON];
    const char *name = setting(host, library, "");
    if (is_refused(host, library, refused, sizeof refused))
        return 0;
    host->log(host, COLLET_LOG_DEBUG, "trying %s", name ? name : library);
    return 1;
}

void choice_add(text *choices, const char *word, const char *value)
{
    text_add(choices, "%s\"%s\": ", choices->used ? ", " : "", word);
    text_quote(choices, value);
}

/* Adds {"library": null, "reason": "..."}, and the choice "<library>_refused". */
static void add_refusal(text *json, text *choices, const char *library, const char *reason)
{
    char word[64];
    (void)snprintf(word, sizeof word, "%s_refused", library);
    text_add(json, "{\"library\": null, \"reason\": ");
    text_quote(json, reason);
    text_add(json, "}");
    choice_add(choices, word, reason);
}

/* Logs that the probe refused a library: a warning if a setting therefore has no effect, else only a debug message,
 * because backend-info reports the refusal too. `usual`: the default of the setting cpu_openmp.<library>; `more`: the
 * suffix that gives the key of the library's second setting ("_core", "_isa"). */
static void warn_of_refusal(const collet_host *host, const char *library, const char *usual,
                            const char *more)
{
    const char *name = setting(host, library, ""), *wrong = setting(host, library, "_refused");
    const char *safe = host->config(host, "cpu_openmp.safe_mode");
    int named = name && strcmp(name, usual) != 0;
    if (!wrong || (safe && strcmp(safe, "off") != 0) || (name && strcmp(name, "off") == 0))
        return;
    if (!named && !setting(host, library, more)) {
        host->log(host, COLLET_LOG_DEBUG, "%s is not used: %s", library, wrong);
        return;
    }
    host->log(host, COLLET_LOG_WARNING, "the setting cpu_openmp.%s%s has no effect: %s", library,
              named ? "" : more, wrong);
}

/* ---- OpenBLAS -------------------------------------------------------------------------------- */

/*
 * Core types of OpenBLAS and the features that they need; the last core type that the processor supports is set.
 * A processor that supports none of them is so old that every OpenBLAS has kernels for it.
 *
 * Rates of f32 and f64 products in GF/s, measured with 0.3.21 (Debian 12) on two threads of an AMD EPYC (family 26,
 * model 2): Cooperlake 467 and 195, SkylakeX 446 to 484 and 188 to 200, Haswell 251 and 124, Zen
 * 250 and 123, Nehalem 87 and 48. Zen 4 was also fastest with the core type Cooperlake. Emerald Rapids is newer
 * than the library, so there the library itself selects Prescott: f32 products then have 33 GF/s instead of 330.
 */
static const struct core {
    const char *name;
    uint32_t with, without;
} cores[] = {
    {"Nehalem", PROCESSOR_V2 | PROCESSOR_CAPPED, PROCESSOR_V3},
    {"Haswell", PROCESSOR_V3, 0},
    {"Zen", PROCESSOR_V3 | PROCESSOR_AMD, 0},
    {"SkylakeX", PROCESSOR_V4, 0},
    {"Cooperlake", PROCESSOR_V4 | PROCESSOR_BF16, 0},
};

/* Compares names of letters and digits, and ignores case. strcasecmp would depend on the locale. */
static int same_core(const char *a, const char *b)
{
    size_t i = 0;
    while (a[i] && (a[i] | 0x20) == (b[i] | 0x20))
        i++;
    return !a[i] && !b[i];
}

static const char *core_setting(const collet_host *host)
{
    return host->config(host, "cpu_openmp.openblas_core");
}

/* Whether the environment variable, which the library itself reads, has a value. */
static int has_variable(const char *name)
{
    const char *value = getenv(name);
    return value && value[0];
}

/* The core type to set; "": the library selects it. */
static const char *core_type(const collet_host *host, const isa_level *level)
{
    const char *set = core_setting(host), *name = "";
    uint32_t features = processor_features(level);
    if (set)
        return strcmp(set, OWN) == 0 ? "" : set;
    for (size_t i = 0; i < COUNT(cores) && !has_variable(BLAS_CORE_VARIABLE); i++)
        if ((features & cores[i].with) == cores[i].with && !(features & cores[i].without))
            name = cores[i].name;
    return name;
}

static void choose_openblas(const collet_host *host, const isa_level *level)
{
    char found[32];
    library_settings s = settings_of(host, "openblas", core_type(host, level));
    if (s.target[0] && blas_is_loaded(s.name, found, sizeof found) && !same_core(found, s.target))
        host->log(host, COLLET_LOG_INFO, /* a warning would appear in every program with NumPy */
                  "the program has already loaded %s, and it runs as %s; the core %s would be faster: set "
                  BLAS_CORE_VARIABLE "=%s before the program starts",
                  s.name, found, s.target, s.target);
    blas_settle(&s);
}

static void warn_of_core(const collet_host *host)
{
    const char *set = core_setting(host), *found = setting(host, "openblas", "_runs_as");
    if (set && found && strcmp(set, OWN) != 0 && !same_core(set, found))
        host->log(host, COLLET_LOG_WARNING,
                  "the setting cpu_openmp.openblas_core has no effect: OpenBLAS does not have the "
                  "core type %s and runs as %s",
                  set, found);
}

static void check_openblas(const collet_host *host)
{
    blas *b = may_open(host, "openblas") ? blas_open(NULL) : NULL;
    const char *wrong = b ? blas_check(b, host->threads(host)) : NULL;
    if (wrong)
        blas_refuse(wrong);
}

static const char *chosen_by(const collet_host *host)
{
    if (core_setting(host))
        return "the setting cpu_openmp.openblas_core";
    return has_variable(BLAS_CORE_VARIABLE) ? "the environment variable " BLAS_CORE_VARIABLE
                                            : "the processor's features";
}

static void describe_openblas(const collet_host *host, text *json, text *choices)
{
    char path[512];
    const char *reason;
    blas *b = blas_open(&reason);
    if (!b) {
        add_refusal(json, choices, "openblas", reason);
        return;
    }
    blas_path(b, path, sizeof path);
    text_add(json, "{\"library\": ");
    text_quote(json, blas_config(b));
    text_add(json, ", \"path\": ");
    text_quote(json, path);
    text_add(json, ", \"core\": ");
    text_quote(json, blas_core(b));
    text_add(json, ", \"chosen_by\": ");
    text_quote(json, chosen_by(host));
    text_add(json, "}");
    choice_add(choices, "openblas_runs_as", blas_core(b));
}

/* ---- oneDNN ---------------------------------------------------------------------------------- */

/*
 * Limits of the instruction set: the first limit that the processor supports is set. A virtual machine may
 * report AMX without supporting it: oneDNN 2.6 crashed in a virtual machine on Emerald Rapids.
 */
static const struct limit {
    const char *isa;
    uint32_t with;
} limits[] = {
    {"AVX512_CORE_BF16", PROCESSOR_AMX | PROCESSOR_VIRTUAL},
    {"AVX512_CORE", PROCESSOR_V4 | PROCESSOR_CAPPED},
    {"AVX2", PROCESSOR_V3 | PROCESSOR_CAPPED},
    {"SSE41", PROCESSOR_V2 | PROCESSOR_CAPPED},
};

static const char *const words[ONEDNN_TYPES] = {"f32", "bf16", "i8"};

static uint32_t right_types; /* ONEDNN_TYPE_*, once checked */

/* "": no limit. */
static const char *isa_limit(const collet_host *host, const isa_level *level)
{
    const char *set = host->config(host, "cpu_openmp.onednn_isa");
    uint32_t features = processor_features(level);
    if (set)
        return strcmp(set, OWN) == 0 ? "" : set;
    if (has_variable(ONEDNN_ISA_VARIABLE) || has_variable(ONEDNN_ISA_VARIABLE_2))
        return "";
    for (size_t i = 0; i < COUNT(limits); i++)
        if ((features & limits[i].with) == limits[i].with)
            return limits[i].isa;
    return "";
}

static void choose_onednn(const collet_host *host, const isa_level *level)
{
    library_settings s = settings_of(host, "onednn", isa_limit(host, level));
    onednn_settle(&s);
}

static void check_onednn(const collet_host *host)
{
    onednn *o = may_open(host, "onednn") ? onednn_open(NULL) : NULL;
    const char *wrong = o ? onednn_check(o, &right_types) : NULL;
    if (wrong)
        onednn_refuse(wrong);
}

static void add_types(text *t, uint32_t types)
{
    const char *separator = "";
    for (int i = 0; i < ONEDNN_TYPES; i++) {
        if (types & 1u << i) {
            text_add(t, "%s%s", separator, words[i]);
            separator = " ";
        }
    }
}

static void describe_onednn(text *json, text *choices)
{
    char list[32] = "", version[32], path[512];
    text types = {.at = list, .capacity = sizeof list};
    const char *reason;
    onednn *o = onednn_open(&reason);
    if (!o) {
        add_refusal(json, choices, "onednn", reason);
        return;
    }
    add_types(&types, right_types);
    onednn_version(o, version, sizeof version);
    onednn_path(o, path, sizeof path);
    text_add(json, "{\"library\": \"oneDNN %s\", \"path\": ", version);
    text_quote(json, path);
    text_add(json, ", \"isa\": \"%s\", \"right_for\": \"%s\"}", onednn_isa(o), list);
}

/* ---- Both ------------------------------------------------------------------------------------ */

void choice_describe(const collet_host *host, const isa_level *level, text *json, text *choices,
                     uint32_t *types)
{
    choice_settle(host, level);
    (void)pthread_mutex_lock(&checking);
    if (!checked) {
        check_openblas(host);
        check_onednn(host);
        checked = 1;
    }
    (void)pthread_mutex_unlock(&checking);
    *types = right_types;
    text_add(json, "\"blas\": ");
    describe_openblas(host, json, choices);
    text_add(json, ", \"onednn\": ");
    describe_onednn(json, choices);
}

void choice_settle(const collet_host *host, const isa_level *level)
{
    warn_of_refusal(host, "openblas", BLAS_NAME, "_core");
    warn_of_refusal(host, "onednn", "", "_isa");
    warn_of_core(host);
    choose_openblas(host, level);
    choose_onednn(host, level);
}

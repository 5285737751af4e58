/* SPDX-License-Identifier: Apache-2.0 */
#include "choice_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "blas.h"
#include "cpu_openmp/runtime/processor.h"

/*
 * Core types of OpenBLAS and the features that they need; the last that fits is set. Where none
 * fits, the processor is so old that every OpenBLAS supports it.
 *
 * Measured with 0.3.21 (Debian 12), f32 and f64 GF/s on two threads of an AMD EPYC (family 26,
 * model 2): Cooperlake 467 and 195, SkylakeX 446 to 484 and 188 to 200, Haswell 251 and 124, Zen
 * 250 and 123, Nehalem 87 and 48. Zen 4 was fastest as a Cooperlake too. For Emerald
 * Rapids, which is newer than the library, it selects Prescott itself: f32 33 instead of 330.
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

#define CORES (sizeof cores / sizeof cores[0])

static double gflops[2]; /* f32, f64; 0: not checked */

/* ---- Settings -------------------------------------------------------------------------------- */

static const char *core_setting(const collet_host *host)
{
    return host->config(host, "cpu_openmp.openblas_core");
}

/* "": the library's own pick. */
static const char *core_type(const collet_host *host, const isa_level *level)
{
    const char *set = core_setting(host), *name = "";
    uint32_t features = processor_features(level);
    if (set)
        return strcmp(set, CHOICE_OWN) == 0 ? "" : set;
    for (size_t i = 0; i < CORES && !getenv(BLAS_CORE_VARIABLE); i++)
        if ((features & cores[i].with) == cores[i].with && !(features & cores[i].without))
            name = cores[i].name;
    return name;
}

void choice_openblas_settle(const collet_host *host, const isa_level *level)
{
    char found[32];
    library_settings s = {.name = BLAS_NAME};
    const char *name = host->config(host, "cpu_openmp.openblas");
    if (name && name[0])
        (void)snprintf(s.name, sizeof s.name, "%s", name);
    if (!choice_refused(host, "openblas", s.refused, sizeof s.refused))
        (void)snprintf(s.target, sizeof s.target, "%s", core_type(host, level));
    if (s.target[0] && blas_is_loaded(s.name, found, sizeof found) &&
        strcasecmp(found, s.target) != 0)
        host->log(host, COLLET_LOG_WARNING,
                  "the program has loaded %s before, which runs as %s; the core %s would be "
                  "faster: set " BLAS_CORE_VARIABLE "=%s before the program starts",
                  s.name, found, s.target, s.target);
    blas_settle(&s);
}

/* ---- The check ------------------------------------------------------------------------------- */

void choice_openblas_check(const collet_host *host)
{
    blas *b = choice_may_open(host, "openblas", BLAS_NAME) ? blas_open(NULL) : NULL;
    const char *wrong = b ? blas_check(b, host->threads(host), gflops) : NULL;
    if (wrong)
        blas_refuse(wrong);
}

/* ---- The capabilities ------------------------------------------------------------------------ */

static const char *chosen_by(const collet_host *host)
{
    if (core_setting(host))
        return "the setting cpu_openmp.openblas_core";
    return getenv(BLAS_CORE_VARIABLE) ? "the environment variable " BLAS_CORE_VARIABLE
                                      : "the processor's features";
}

void choice_openblas_describe(const collet_host *host, text *json, text *choices)
{
    char path[512];
    const char *reason;
    blas *b = blas_open(&reason);
    if (!b) {
        choice_add_refusal(json, choices, "openblas", reason);
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
    text_add(json, ", \"f32_gflops\": %.1f, \"f64_gflops\": %.1f}", gflops[0], gflops[1]);
}

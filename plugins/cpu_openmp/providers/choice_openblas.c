/* SPDX-License-Identifier: Apache-2.0 */
#include "choice_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas.h"
#include "blas_trial.h"
#include "cpu_openmp/runtime/processor.h"

/* A core must be that much faster before it replaces the library's own pick: more than two trials
 * of one core differ by. */
#define BETTER 1.05

/* Cores of OpenBLAS and what they run. The last that fits is the choice where nothing is tried. */
static const struct core {
    const char *name;
    uint32_t with, without;
    int only_tried;
} cores[] = {
    {"Nehalem", PROCESSOR_V2 | PROCESSOR_CAPPED, PROCESSOR_V3, 0},
    {"Haswell", PROCESSOR_V3, 0, 0},
    {"Zen", PROCESSOR_V3 | PROCESSOR_AMD, 0, 0},
    {"SkylakeX", PROCESSOR_V4, 0, 0},
    {"Cooperlake", PROCESSOR_V4 | PROCESSOR_BF16, 0, 1},
    {"SapphireRapids", PROCESSOR_V4 | PROCESSOR_BF16 | PROCESSOR_AMX, 0, 1},
};

#define CORES ((int)(sizeof cores / sizeof cores[0]))

typedef struct candidate {
    char core[32]; /* "": the library's own pick */
    blas_trial_result result;
} candidate;

static struct findings {
    int count;
    int chosen;             /* index of a candidate; -1: none is right */
    blas_settings settings; /* to open it with */
    candidate tried[CORES + 1];
} findings;

/* ---- Settings -------------------------------------------------------------------------------- */

static int suits(const struct core *c, uint32_t features)
{
    return (features & c->with) == c->with && !(features & c->without);
}

/* The newest core that the processor surely runs; "" when the library knows such old ones itself,
 * or the environment says which. */
static const char *untried_core(uint32_t features)
{
    const char *name = "";
    for (int i = 0; i < CORES && !getenv(BLAS_CORE_VARIABLE); i++)
        if (suits(&cores[i], features) && !cores[i].only_tried)
            name = cores[i].name;
    return name;
}

/* Everything but the core; 0 when the library is not to be opened. */
static int library_setting(const collet_host *host, blas_settings *s)
{
    const char *name = host->config(host, "cpu_openmp.openblas");
    const char *refused = host->config(host, "cpu_openmp.openblas_refused");
    *s = (blas_settings){.name = BLAS_NAME};
    if (name && name[0] && strcmp(name, "off") != 0)
        (void)snprintf(s->name, sizeof s->name, "%s", name);
    if (name && strcmp(name, "off") == 0)
        (void)snprintf(s->refused, sizeof s->refused,
                       "switched off by the setting cpu_openmp.openblas");
    else if (refused)
        (void)snprintf(s->refused, sizeof s->refused, "%s", refused);
    return !s->refused[0];
}

static void set_core(blas_settings *s, const char *name)
{
    (void)snprintf(s->core, sizeof s->core, "%s", strcmp(name, CHOICE_OWN) == 0 ? "" : name);
}

void choice_openblas_settle(const collet_host *host, const isa_level *level)
{
    blas_settings s;
    char found[32];
    const char *core = host->config(host, "cpu_openmp.openblas_core");
    if (library_setting(host, &s))
        set_core(&s, core ? core : untried_core(processor_features(level)));
    if (!s.refused[0] && s.core[0] && blas_is_loaded(s.name, found, sizeof found) &&
        strcasecmp(found, s.core) != 0)
        host->log(host, COLLET_LOG_WARNING,
                  "the program has loaded %s before, which runs as %s; the core %s would be "
                  "faster: set " BLAS_CORE_VARIABLE "=%s before the program starts",
                  s.name, found, s.core, s.core);
    blas_settle(&s);
}

/* ---- Trials ---------------------------------------------------------------------------------- */

static int candidates(const collet_host *host, const isa_level *level, candidate *list)
{
    uint32_t features = processor_features(level);
    const char *set = host->config(host, "cpu_openmp.openblas_core");
    int count = 0;
    if (set || getenv(BLAS_CORE_VARIABLE)) {
        (void)snprintf(list[0].core, sizeof list[0].core, "%s",
                       set && strcmp(set, CHOICE_OWN) != 0 ? set : "");
        return 1;
    }
    /* Under a cap on the instruction set the library's own pick may be above it. */
    if (!(features & PROCESSOR_CAPPED))
        count++;
    for (int i = 0; i < CORES; i++)
        if (suits(&cores[i], features))
            (void)snprintf(list[count++].core, sizeof list[0].core, "%s", cores[i].name);
    return count;
}

/* Whether an earlier candidate turned out to be this core. */
static int is_known(const candidate *list, int index)
{
    for (int i = 0; i < index; i++)
        if (strcasecmp(list[i].result.core, list[index].core) == 0)
            return 1;
    return 0;
}

static void try_once(const collet_host *host, const blas_settings *settings, candidate *c,
                     collet_error *why)
{
    blas_trial_case what = {.settings = *settings, .threads = host->threads(host)};
    (void)snprintf(what.settings.core, sizeof what.settings.core, "%s", c->core);
    if (choice_try(host, blas_trial, &what, &c->result, sizeof c->result, why) != COLLET_OK) {
        c->result = (blas_trial_result){.fine = 0};
        (void)snprintf(c->result.why, sizeof c->result.why, "%.*s", BLAS_REASON - 1, why->text);
    } else if (c->result.fine && c->core[0] && strcasecmp(c->core, c->result.core) != 0) {
        c->result.fine = 0;
        (void)snprintf(c->result.why, sizeof c->result.why, "this OpenBLAS runs as %s instead",
                       c->result.core);
    }
}

/* Of two trials the faster one counts; of a second one that there was no time for, the first. */
static void try_again(const collet_host *host, const blas_settings *settings, candidate *c)
{
    collet_error why = {COLLET_OK, ""};
    blas_trial_result before = c->result;
    try_once(host, settings, c, &why);
    if (choice_was_short(&why))
        c->result = before;
    for (int i = 0; i < 2; i++)
        c->result.gflops[i] = fmax(c->result.gflops[i], before.gflops[i]);
}

/* All of them, and then all that were right again: who disturbs one trial hardly disturbs the
 * other, which comes after those of the rest. */
static void try_all(const collet_host *host, struct findings *f)
{
    collet_error why = {COLLET_OK, ""};
    for (int i = 0; i < f->count; i++)
        if (!is_known(f->tried, i))
            try_once(host, &f->settings, &f->tried[i], &why);
    for (int i = 0; i < f->count; i++)
        if (f->tried[i].result.fine)
            try_again(host, &f->settings, &f->tried[i]);
}

/* Both types count alike. */
static double merit(const candidate *c)
{
    return c->result.fine ? c->result.gflops[0] * c->result.gflops[1] : 0.0;
}

static int choose(const candidate *list, int count)
{
    int best = -1;
    for (int i = 0; i < count; i++) {
        double margin = best == 0 && !list[0].core[0] ? BETTER * BETTER : 1.0;
        if (list[i].result.fine && (best < 0 || merit(&list[i]) > margin * merit(&list[best])))
            best = i;
    }
    return best;
}

void choice_openblas_find(const collet_host *host, const isa_level *level)
{
    struct findings *f = &findings;
    f->chosen = -1;
    if (!library_setting(host, &f->settings))
        return;
    f->count = candidates(host, level, f->tried);
    try_all(host, f);
    f->chosen = choose(f->tried, f->count);
    if (f->chosen >= 0)
        set_core(&f->settings, f->tried[f->chosen].core);
    else
        (void)snprintf(f->settings.refused, BLAS_REASON, "%.200s", f->tried[0].result.why);
}

double choice_openblas_gflops(void)
{
    return findings.chosen >= 0 ? findings.tried[findings.chosen].result.gflops[0] : 0.0;
}

/* ---- The capabilities ------------------------------------------------------------------------ */

static void add_library(text *json, const blas_trial_result *r)
{
    text_add(json, "{\"library\": ");
    text_quote(json, r->config);
    text_add(json, ", \"path\": ");
    text_quote(json, r->path);
    text_add(json, ", \"core\": ");
    text_quote(json, r->core);
}

static void add_refusal(text *json, const char *reason)
{
    text_add(json, "{\"library\": null, \"reason\": ");
    text_quote(json, reason);
}

static void add_tried(text *json, const struct findings *f)
{
    const char *separator = "";
    text_add(json, ", \"tried\": [");
    for (int i = 0; i < f->count; i++) {
        const candidate *c = &f->tried[i];
        if (!c->result.fine && !c->result.why[0])
            continue; /* it was another's core */
        text_add(json, "%s{\"core\": ", separator);
        text_quote(json, c->core[0] ? c->core : c->result.core[0] ? c->result.core : CHOICE_OWN);
        text_add(json, ", \"own_pick\": %s", c->core[0] ? "false" : "true");
        if (c->result.fine)
            text_add(json, ", \"f32_gflops\": %.1f, \"f64_gflops\": %.1f}", c->result.gflops[0],
                     c->result.gflops[1]);
        else
            text_add(json, ", \"failed\": "), text_quote(json, c->result.why), text_add(json, "}");
        separator = ", ";
    }
    text_add(json, "]");
}

/* Whose word it was. */
static const char *how(const collet_host *host, const struct findings *f)
{
    if (host->config(host, "cpu_openmp.openblas_core"))
        return "the setting cpu_openmp.openblas_core";
    if (getenv(BLAS_CORE_VARIABLE))
        return "the environment variable " BLAS_CORE_VARIABLE;
    return f->tried[f->chosen].core[0] ? "the fastest of those tried"
                                       : "the library's own pick: no other is faster";
}

void choice_openblas_found(const collet_host *host, text *json, text *choices)
{
    const struct findings *f = &findings;
    if (f->chosen >= 0) {
        add_library(json, &f->tried[f->chosen].result);
        text_add(json, ", \"chosen_by\": ");
        text_quote(json, how(host, f));
        choice_add(choices, "openblas_core", f->settings.core[0] ? f->settings.core : CHOICE_OWN);
    } else {
        add_refusal(json, f->settings.refused);
        choice_add(choices, "openblas_refused", f->settings.refused);
    }
    add_tried(json, f);
    text_add(json, "}");
}

void choice_openblas_opened(text *json)
{
    blas_trial_result r = {.fine = 0};
    const char *reason;
    blas *b = blas_open(&reason);
    if (b) {
        blas_describe(b, &r);
        add_library(json, &r);
        text_add(json, ", \"chosen_by\": \"the processor's features: nothing was tried\"}");
    } else {
        add_refusal(json, reason);
        text_add(json, "}");
    }
}

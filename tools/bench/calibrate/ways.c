/* SPDX-License-Identifier: Apache-2.0 */
/* The ways in which a backend computes products and decompositions: its own kernels, or a library's. A
 * backend that has the settings NAME.ways and NAME.calibrated gets their rates as the text "calibrated":
 * items "KEY/SIDE:WAY=RATE,WAY=RATE", rates in 10^9 operations a second.
 * Tests: tests/tools/test_bench_calibrate.c */
#include "ways.h"

#include "arrays.h"
#include "common/json_add.h"
#include "common/sampler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUDGET 15e-3 /* seconds for each call */
#define ROUNDS 3
#define WAYS 3
#define ITEM 128

enum { OWN, OPENBLAS, ONEDNN };
static const char *const ways[WAYS] = {"own", "openblas", "onednn"};
static const char *const dtypes[CALIBRATE_DTYPES] = {"f32", "f64"};

/* A form of products, and shapes MxKxN of it. */
#define SHAPES 6
static const struct form {
    const char *form;
    const char *shapes[SHAPES];
} forms[] = {
    {"", {"256x256x256", "64x64x64", "1000x1000x1000", "128x128x128", "500x500x500", "32x32x32"}},
    {"-page", {"128x256x1024", "1024x1024x1024"}},
    {"-thin-inner", {"320x16x320", "1000x16x1000"}},
    {"-thin-rows", {"16x320x320", "16x1000x1000"}},
    {"-thin-columns", {"320x320x16", "1000x1000x16"}},
};

/* Decompositions of square matrices. */
#define RIGHT_SIDES 4 /* of solve */
static const char *const decompositions[] = {"lu", "solve", "qr", "svd", "eigh", "cholesky"};
static const int sides[] = {32, 128, 64, 16, 96, 24, 48};

typedef struct way {
    collet_runtime *runtime;
    collet_context *context; /* NULL: the machine does not have this way */
} way;

typedef struct study {
    calibration_run *run;
    const char *backend;
    way ways[WAYS];
    double end;
    FILE *text;
    int32_t items;
} study;

/* ---- Runtimes ---------------------------------------------------------------------------- */

/* Members of the capabilities with "library": blas is OpenBLAS, onednn is oneDNN. */
static int32_t has_way(const collet_backend_info *b, int w)
{
    cJSON *capabilities = cJSON_Parse(b->capabilities);
    const cJSON *member =
        cJSON_GetObjectItemCaseSensitive(capabilities, w == OPENBLAS ? "blas" : "onednn");
    int32_t found = w == OWN || cJSON_HasObjectItem(member, "library");
    cJSON_Delete(capabilities);
    return found;
}

static void open_way(study *s, const collet_backend_info *b, int w)
{
    char setting[COLLET_MAX_NAME + 32], threads[32];
    const bench_options *o = s->run->session->options;
    snprintf(setting, sizeof setting, "%s.ways=%s", b->name, ways[w]);
    snprintf(threads, sizeof threads, "num_threads=%lld", (long long)o->threads);
    const char *settings[] = {setting, "calibration=off", o->threads ? threads : NULL, NULL};
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = b->path,
                                      .backend = b->name,
                                      .settings = settings,
                                      .defaults = o->defaults};
    way *of = &s->ways[w];
    if (collet_runtime_create(&of->runtime, &options, NULL) != COLLET_OK ||
        collet_context_create(of->runtime, &of->context, NULL) != COLLET_OK)
        of->context = NULL;
    else
        collet_set_fallback(of->context, 0);
}

static void close_ways(study *s)
{
    for (int w = 0; w < WAYS; w++) {
        collet_context_destroy(s->ways[w].context);
        collet_runtime_destroy(s->ways[w].runtime);
    }
}

/* ---- One call ---------------------------------------------------------------------------- */

/* Seconds of a call on each way, the fastest median of its rounds; NaN: not measured. */
static void time_ways(study *s, const bench_layout *l, const int32_t *wanted, double *seconds)
{
    bench_arrays arrays[WAYS] = {{{NULL}}};
    bench_calls calls[WAYS];
    tool_sampler samplers[WAYS] = {{.body = NULL}};
    for (int w = 0; w < WAYS; w++) {
        seconds[w] = NAN;
        if (!s->ways[w].context || !wanted[w] ||
            calibrate_arrays(&arrays[w], s->ways[w].context, l) != COLLET_OK)
            continue;
        calls[w] = (bench_calls){s->ways[w].context, l->op.id, arrays[w].arrays,
                                 (const collet_array *const *)(arrays[w].arrays + l->op.n_out),
                                 l->op.params_size ? &l->params : NULL};
        if (tool_sampler_create(&samplers[w], bench_calls_run, &calls[w]) == COLLET_OK)
            seconds[w] = INFINITY;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int w = 0; w < WAYS; w++)
            if (!isnan(seconds[w]) &&
                calibrate_turn(&samplers[w], BUDGET / ROUNDS, &seconds[w]) != COLLET_OK)
                seconds[w] = NAN;
    for (int w = 0; w < WAYS; w++) {
        tool_sampler_clear(&samplers[w]);
        bench_arrays_free(&arrays[w]);
    }
}

/* Adds an item, if there are two ways to compare. */
static void add_item(study *s, const char *key, double side, const bench_layout *l,
                     const double *seconds)
{
    int count = 0;
    for (int w = 0; w < WAYS; w++)
        count += !isnan(seconds[w]);
    if (count < 2)
        return;
    fprintf(s->text, "%s%s/%.0f", s->items++ ? " " : "", key, side);
    for (int w = 0; w < WAYS; w++)
        if (!isnan(seconds[w]))
            fprintf(s->text, "%c%s=%.3f", w == OWN ? ':' : ',', ways[w],
                    1e-9 * l->flops / seconds[w]);
}

static void study_call(study *s, const char *op, const char *shape, const char *key,
                       const char *dtype, int32_t product)
{
    bench_session *session = s->run->session;
    bench_options options = *session->options;
    bench_case row;
    bench_layout l;
    collet_error err;
    double seconds[WAYS];
    int32_t wanted[WAYS] = {1, 1, product && !strcmp(dtype, "f32")};
    options.shape = shape;
    options.axis = NULL;
    if (tool_now() > s->end || bench_case_find(session->runtime, op, &row, &err) != COLLET_OK ||
        bench_layout_make(&l, session->runtime, &row, &options, dtype, &err) != COLLET_OK)
        return;
    bench_session_show(session, "calibrate: ways of %s, %s %s %s", s->backend, op, dtype, shape);
    time_ways(s, &l, wanted, seconds);
    double side = (double)l.shape.extents[0];
    if (product)
        side = cbrt(side * (double)l.shape.extents[1] * (double)l.shape.extents[2]);
    add_item(s, key, side, &l, seconds);
}

/* Every key gets some sides before any gets all, in case the time is over. */
static void study_products(study *s)
{
    char key[32];
    for (size_t k = 0; k < SHAPES; k++)
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
            for (int d = 0; d < CALIBRATE_DTYPES && forms[f].shapes[k]; d++) {
                snprintf(key, sizeof key, "%s%s", dtypes[d], forms[f].form);
                study_call(s, "matmul", forms[f].shapes[k], key, dtypes[d], 1);
            }
}

static void study_decompositions(study *s)
{
    char key[32], shape[32];
    for (size_t k = 0; k < sizeof sides / sizeof *sides; k++)
        for (size_t i = 0; i < sizeof decompositions / sizeof *decompositions; i++)
            for (int d = 0; d < CALIBRATE_DTYPES; d++) {
                const char *op = decompositions[i];
                snprintf(key, sizeof key, "%s-%s", op, dtypes[d]);
                snprintf(shape, sizeof shape, "%dx%d", sides[k],
                         strcmp(op, "solve") ? sides[k] : RIGHT_SIDES);
                study_call(s, op, shape, key, dtypes[d], 0);
            }
}

/* ---- All --------------------------------------------------------------------------------- */

static int32_t has_setting(const collet_runtime *runtime, const char *backend, const char *word)
{
    char key[COLLET_MAX_NAME + 16];
    collet_setting s = {.struct_size = sizeof s};
    snprintf(key, sizeof key, "%s.%s", backend, word);
    for (size_t i = 0; collet_setting_at(runtime, &s, i, NULL) == COLLET_OK; i++)
        if (!strcmp(s.key, key))
            return 1;
    return 0;
}

/* What was not measured in the time is kept. */
static int32_t add_text(calibrated *c, const char *text)
{
    const char *old =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(c->before, "calibrated"));
    return json_add_text(c->now, "calibrated", *text || !old ? text : old);
}

int32_t calibrate_ways(calibration_run *run, double end)
{
    int32_t fine = 1;
    for (int32_t i = 0; i < run->count && fine; i++) {
        study s = {.run = run, .backend = run->backends[i].name, .end = end};
        collet_backend_info b;
        char *text = NULL;
        size_t size = 0;
        if (!has_setting(run->session->runtime, s.backend, "ways") ||
            !has_setting(run->session->runtime, s.backend, "calibrated") ||
            !bench_session_backend(run->session, s.backend, &b))
            continue;
        if (!(s.text = open_memstream(&text, &size)))
            return 0;
        for (int w = 0; w < WAYS; w++)
            if (has_way(&b, w))
                open_way(&s, &b, w);
        study_products(&s);
        study_decompositions(&s);
        close_ways(&s);
        fine = !fclose(s.text) && add_text(&run->backends[i], text);
        free(text);
    }
    return fine;
}

/* ---- Changes ----------------------------------------------------------------------------- */

/* An item of the texts: "KEY/SIDE:WAY=RATE,...". */
typedef struct item {
    const char *at;
    int key, side; /* lengths */
    int fastest;   /* index of the way; -1: malformed */
} item;

/* Reads the next item; 0 at the end. */
static int32_t next_item(const char **text, item *out)
{
    double best = 0;
    const char *at = *text ? *text + strspn(*text, " ") : "", *end = at + strcspn(at, " ");
    *out = (item){.at = at, .fastest = -1, .key = (int)strcspn(at, "/")};
    if (!*at)
        return 0;
    *text = end;
    out->side = (int)strcspn(at, ":") - out->key - 1;
    for (at += strcspn(at, ":"); at < end; at += 1 + strcspn(at + 1, ",: ")) {
        const char *equals = strchr(at, '=');
        double rate = equals && equals < end ? strtod(equals + 1, NULL) : 0;
        for (int w = 0; w < WAYS; w++)
            if (rate > best && !strncmp(at + 1, ways[w], strlen(ways[w]))) {
                best = rate;
                out->fastest = w;
            }
    }
    return 1;
}

/* Finds the first item of the key, and of the side unless that is NULL. */
static int32_t find_item(const char *text, const item *like, int32_t any_side, item *out)
{
    while (next_item(&text, out))
        if (out->key == like->key && !strncmp(out->at, like->at, (size_t)like->key) &&
            (any_side || (out->side == like->side &&
                          !strncmp(out->at, like->at, (size_t)(like->key + 1 + like->side)))))
            return 1;
    return 0;
}

/* "cpu_openmp, f32: openblas at 256 (before own), onednn at 64": the sides where another way is the fastest
 * than before, or that were not measured before. Returns their number. */
static int32_t tell_key(const char *backend, const char *now, const char *old, const item *first,
                        cJSON *list, int32_t *fine)
{
    int32_t changed = 0;
    item next, before;
    for (const char *at = now; next_item(&at, &next);) {
        if (next.key != first->key || strncmp(next.at, first->at, (size_t)first->key) != 0)
            continue;
        int was = find_item(old, &next, 0, &before) ? before.fastest : -1;
        if (next.fastest < 0 || was == next.fastest)
            continue;
        const char *side = next.at + next.key + 1, *way_before = was < 0 ? "" : ways[was];
        if (!list) {
            if (!changed)
                printf("%s, %.*s:", backend, first->key, first->at);
            printf("%s %s at %.*s%s%s%s", changed ? "," : "", ways[next.fastest], next.side, side,
                   was < 0 ? "" : " (before ", way_before, was < 0 ? "" : ")");
        } else {
            char call[ITEM];
            snprintf(call, sizeof call, "%.*s", next.key + 1 + next.side, next.at);
            cJSON *row = json_append_object(list);
            *fine = *fine && row && json_add_text(row, "op", call) &&
                    json_add_text(row, "before", way_before) &&
                    json_add_text(row, "now", ways[next.fastest]);
        }
        changed++;
    }
    if (changed && !list)
        putchar('\n');
    return changed;
}

int32_t calibrate_ways_changes(const calibration_run *run, cJSON *report)
{
    cJSON *list = report ? cJSON_GetObjectItemCaseSensitive(report, "changes") : NULL;
    int32_t fine = 1, items = 0, changed = 0;
    for (int32_t b = 0; b < run->count; b++) {
        const calibrated *c = &run->backends[b];
        const char *now = cJSON_GetStringValue(cJSON_GetObjectItem(c->now, "calibrated"));
        const char *old = cJSON_GetStringValue(cJSON_GetObjectItem(c->before, "calibrated"));
        item next, first;
        for (const char *at = now; next_item(&at, &next); items++)
            if (find_item(now, &next, 1, &first) && first.at == next.at)
                changed += tell_key(c->name, now, old, &next, list, &fine);
    }
    if (!report && items)
        printf("%d of %d products and decompositions have another fastest way than before, or had "
               "none.\n",
               (int)changed, (int)items);
    return fine;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The ways in which a backend computes products, decompositions and transforms: its own kernels, or a
 * library's. Only backends that have the settings NAME.ways (its values are the names of the ways) and NAME.calibrated
 * are measured. Their documents get the text "calibrated": items "KEY/SIDE:WAY=RATE,WAY=RATE", rates in 10^9
 * operations a second. A way that has no kernel for a call, or whose library is missing, computes the call by the code
 * of another way; collet_explain shows this, and the way is then left out.
 * Tests: tests/tools/test_bench_calibrate.c */
#include "ways.h"

#include "arrays.h"
#include "common/json_add.h"
#include "bench/base/sampler.h"
#include "rates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUDGET 15e-3 /* seconds for each call */
#define ROUNDS 3
#define SLOW_START 5.0 /* seconds */
#define WAYS CHOICE_WAYS
#define CHOICES 16 /* room for more */
#define EXPLAINED 4096

static const char *const dtypes[CALIBRATE_DTYPES] = {"f32", "f64"};

enum { HOST = 1, DEVICE = 2, BOTH = 3 }; /* backends without (HOST) and with (DEVICE) own memory */

/* A form of products, and shapes MxKxN that have this form. */
#define SHAPES 6
static const struct form {
    const char *form;
    const char *shapes[SHAPES];
    int on;
} forms[] = {
    {"",
     {"240x240x240", "64x64x64", "1000x1000x1000", "128x128x128", "500x500x500", "32x32x32"},
     BOTH},
    {"-page", {"128x256x1024", "1024x1024x1024"}, HOST},
    {"-thin-inner", {"320x16x320", "1000x16x1000"}, BOTH},
    {"-thin-rows", {"16x320x320", "16x1000x1000"}, BOTH},
    {"-thin-columns", {"320x320x16", "1000x1000x16"}, BOTH},
    {"-thin-inner-page", {"512x16x1024"}, HOST},
    {"-thin-rows-page", {"16x512x1024"}, HOST},
    {"-thin-columns-page", {"512x1024x16"}, HOST},
    {"-batch", {"64x64x64x64", "256x32x32x32", "16x256x256x256"}, DEVICE},
};

/* Products of other types. */
static const char *const other_dtypes[] = {"c64", "c128", "bf16", "i8"};
static const char *const other_shapes[] = {"256x256x256", "64x64x64", "500x500x500"};

/* Decompositions of square matrices. */
#define RIGHT_SIDES 4 /* number of right-hand sides of solve */
#define MATRICES 100  /* number of matrices in one call */
static const char *const decompositions[] = {"lu", "solve", "qr", "svd", "eigh", "cholesky"};
static const int sides[] = {32, 128, 64, 16, 96, 24, 48};
static const int batch_sides[] = {32, 16, 64};

/* Transforms; `axis`: the transformed axes, in the form of --axis. */
static const struct transform {
    const char *shape, *axis, *form;
} transforms[] = {
    {"65536", NULL, ""},         {"256x4096", "1", "-batch"}, {"1048576", NULL, ""},
    {"4096x256", "1", "-batch"}, {"4096", NULL, ""},          {"16x65536", "1", "-batch"},
};
static const char *const transform_dtypes[] = {"c64", "f32", "c128", "f64"};

typedef struct way {
    char name[CHOICE_NAME];
    collet_runtime *runtime;
    collet_context *context; /* NULL: the backend cannot be opened with this way */
    int32_t slow;            /* 1: left out, because it compiles for too long */
} way;

typedef struct study {
    calibration_run *run;
    calibrated *of;
    const char *backend;
    way ways[WAYS];
    way usual; /* the backend's choice without measurements */
    int on;    /* HOST or DEVICE */
    double end;
    FILE *text;
    int32_t items, fine; /* fine = 0: out of memory */
} study;

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Runtimes ---------------------------------------------------------------------------- */

static void open_way(study *s, const collet_backend_info *b, way *of)
{
    char setting[COLLET_MAX_NAME + 64], threads[32];
    const bench_options *o = s->run->session->options;
    snprintf(setting, sizeof setting, "%s.ways=%s", b->name, of->name);
    snprintf(threads, sizeof threads, "num_threads=%lld", (long long)o->threads);
    const char *settings[5] = {setting, "calibration=off"};
    int count = 2;
    if (of == &s->usual)
        settings[count++] = "measure=off";
    if (o->threads)
        settings[count] = threads;
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = b->path,
                                      .backend = b->name,
                                      .settings = settings,
                                      .defaults = o->defaults};
    if (collet_runtime_create(&of->runtime, &options, NULL) != COLLET_OK ||
        collet_context_create(of->runtime, &of->context, NULL) != COLLET_OK)
        of->context = NULL;
    else
        collet_set_fallback(of->context, 0);
}

/* Opens a runtime for each way, with the setting that chooses it, and a runtime for the default. `words` lists the
 * ways. */
static void open_ways(study *s, const collet_backend_info *b, const char *words)
{
    for (int w = 0; w < WAYS && *words; w++) {
        size_t length = strcspn(words, " ");
        snprintf(s->ways[w].name, sizeof s->ways[w].name, "%.*s", (int)length, words);
        open_way(s, b, &s->ways[w]);
        words += length + strspn(words + length, " ");
    }
    open_way(s, b, &s->usual);
}

static void close_way(const way *w)
{
    collet_context_destroy(w->context);
    collet_runtime_destroy(w->runtime);
}

static void close_ways(study *s)
{
    for (int w = 0; w < WAYS; w++)
        close_way(&s->ways[w]);
    close_way(&s->usual);
}

/* ---- One call ---------------------------------------------------------------------------- */

static bench_calls calls_of(collet_context *context, const bench_layout *l,
                            const bench_arrays *arrays)
{
    return (bench_calls){context, l->op.id, arrays->arrays,
                         (const collet_array *const *)(arrays->arrays + l->op.n_out),
                         l->op.params_size ? &l->params : NULL};
}

/* Sets `code` to the code that would compute the call: the text of collet_explain after "How:", without the reason; ""
 * if unknown. Returns 1 if the setting NAME.ways chooses the code. */
static int32_t explain(const bench_calls *c, char code[EXPLAINED])
{
    char text[EXPLAINED];
    code[0] = '\0';
    if (collet_explain(c->context, c->op, text, sizeof text, c->outs, c->ins, c->params) !=
        COLLET_OK)
        return 0;
    const char *how = strstr(text, "  How: ");
    if (how)
        snprintf(code, EXPLAINED, "%.*s", (int)strcspn(how, ";\n"), how);
    return how && strstr(how, ".ways");
}

/* 1 if the code with which way w computes the call differs from the code of all ways before it. */
static int32_t is_another(char code[WAYS][EXPLAINED], int w)
{
    for (int other = 0; other < w; other++)
        if (!strcmp(code[w], code[other]))
            return 0;
    return code[w][0] != '\0';
}

/* Prepares the call for each way, and sets wanted[w] to 1 if no way before w uses the same code for it.
 * Returns the number of wanted ways. */
static int32_t make_calls(study *s, const bench_layout *l, bench_arrays *arrays, bench_calls *calls,
                          char code[WAYS][EXPLAINED], int32_t *wanted)
{
    int32_t count = 0;
    for (int w = 0; w < WAYS; w++) {
        wanted[w] = 0;
        if (!s->ways[w].context || s->ways[w].slow ||
            calibrate_arrays_create(&arrays[w], s->ways[w].context, l) != COLLET_OK)
            continue;
        calls[w] = calls_of(s->ways[w].context, l, &arrays[w]);
        explain(&calls[w], code[w]);
        wanted[w] = is_another(code, w);
        count += wanted[w];
    }
    return count;
}

/* Makes the first call, which may compile kernels. If a library compiles for seconds (it would in each
 * process), the way is left out from then on. */
static int32_t begin_calls(study *s, int w, const bench_layout *l, const bench_arrays *arrays,
                           bench_calls *calls, tool_sampler *sampler)
{
    double begin = tool_now();
    if (calibrate_arrays_fill(arrays, calls->context, l) != COLLET_OK ||
        bench_calls_run(calls, 1) != COLLET_OK)
        return 0;
    double seconds = tool_now() - begin;
    s->ways[w].slow = w > 0 && seconds > SLOW_START;
    if (s->ways[w].slow)
        fprintf(
            stderr,
            "backend-bench: calibrate: %s.ways=%s is left out from here on: the first call took "
            "%.0f s\n",
            s->backend, s->ways[w].name, seconds);
    return !s->ways[w].slow && tool_sampler_create(sampler, bench_calls_run, calls) == COLLET_OK;
}

/* Sets seconds[w] to the time of a call by way w: the fastest of the medians of its rounds; NaN: not measured. */
static void time_ways(study *s, const bench_layout *l, char code[WAYS][EXPLAINED], double *seconds)
{
    bench_arrays arrays[WAYS] = {{{NULL}}};
    bench_calls calls[WAYS];
    tool_sampler samplers[WAYS] = {{.body = NULL}};
    int32_t wanted[WAYS], count = make_calls(s, l, arrays, calls, code, wanted);
    for (int w = 0; w < WAYS; w++)
        seconds[w] =
            count > 1 && wanted[w] && begin_calls(s, w, l, &arrays[w], &calls[w], &samplers[w])
                ? INFINITY
                : NAN;
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

/* Returns the side of a call as plugins/shared/host/util/ways.h defines it. */
static double side_of(const bench_layout *l)
{
    const int64_t *extents = l->shape.extents;
    const bench_operand *a = &l->operands[l->op.n_out];
    int32_t count = l->shape.count;
    double side = 1;
    if (!strcmp(l->op.name, "matmul"))
        return cbrt((double)extents[count - 3] * (double)extents[count - 2] *
                    (double)extents[count - 1]);
    if (strcmp(l->op.name, "fft") != 0)
        return fmin((double)a->shape[a->ndim - 2], (double)a->shape[a->ndim - 1]);
    for (int32_t i = 0; i < count; i++)
        side *= l->axes >> i & 1 ? (double)extents[i] : 1;
    return side;
}

/* Returns the way whose code a context uses for the call; -1: none of the ways. *set becomes 1 if the
 * setting NAME.ways chooses this way. */
static int32_t way_in(collet_context *context, const bench_layout *l, char code[WAYS][EXPLAINED],
                      int32_t *set)
{
    char own[EXPLAINED] = "";
    bench_arrays arrays;
    int32_t found = -1;
    if (context && calibrate_arrays_create(&arrays, context, l) == COLLET_OK) {
        bench_calls calls = calls_of(context, l, &arrays);
        *set = explain(&calls, own);
    }
    if (context)
        bench_arrays_free(&arrays);
    for (int32_t w = WAYS - 1; w >= 0 && *own; w--)
        found = strcmp(own, code[w]) ? found : w;
    return found;
}

/* Adds a choice: the way that has computed the call until now, and the way that will compute it. 0 when out
 * of memory. */
static int32_t add_choice(study *s, const choice *measured, const bench_layout *l,
                          char code[WAYS][EXPLAINED])
{
    calibrated *of = s->of;
    collet_context *context = s->run->session->context;
    int32_t set = 0, ignored;
    if (of->choice_count % CHOICES == 0) {
        choice *more =
            realloc(of->choices, (size_t)(of->choice_count + CHOICES) * sizeof *of->choices);
        if (!more)
            return 0;
        of->choices = more;
    }
    choice *c = &of->choices[of->choice_count++];
    *c = *measured;
    c->before =
        collet_set_backend(context, s->backend) == COLLET_OK ? way_in(context, l, code, &set) : -1;
    c->now = set ? c->before : choice_by(c->rates, way_in(s->usual.context, l, code, &ignored));
    return 1;
}

/* Adds an item to the text of rates, and a choice, if at least two ways were measured. */
static void add_item(study *s, const char *key, const bench_layout *l, char code[WAYS][EXPLAINED],
                     const double *seconds)
{
    choice c = {.side = side_of(l)};
    int count = 0;
    for (int w = 0; w < WAYS; w++)
        count += !isnan(seconds[w]);
    if (count < 2)
        return;
    snprintf(c.key, sizeof c.key, "%s", key);
    fprintf(s->text, "%s%s/%.0f", s->items++ ? " " : "", key, c.side);
    for (int w = 0, first = 1; w < WAYS; w++) {
        memcpy(c.names[w], s->ways[w].name, sizeof c.names[w]);
        c.rates[w] = 1e-9 * l->flops / seconds[w];
        if (isnan(seconds[w]))
            continue;
        fprintf(s->text, "%c%s=%.3f", first ? ':' : ',', c.names[w], c.rates[w]);
        first = 0;
    }
    s->fine = s->fine && add_choice(s, &c, l, code);
}

static void study_call(study *s, const char *op, const char *shape, const char *axis,
                       const char *key, const char *dtype)
{
    bench_session *session = s->run->session;
    bench_options options = *session->options;
    bench_case row;
    bench_layout l;
    collet_error err;
    double seconds[WAYS];
    char code[WAYS][EXPLAINED] = {""};
    options.shape = shape;
    options.axis = axis;
    const char *real = !strcmp(dtype, "c64") ? "f32" : !strcmp(dtype, "c128") ? "f64" : dtype;
    if (tool_now() > s->end || !calibrate_has_op(s->run, op) ||
        !calibrate_has_dtype(s->run, real) ||
        bench_case_find(session->runtime, op, &row, &err) != COLLET_OK ||
        bench_layout_make(&l, session->runtime, &row, &options, dtype, &err) != COLLET_OK)
        return;
    bench_session_show(session, "calibrate: ways of %s, %s %s %s", s->backend, op, dtype, shape);
    time_ways(s, &l, code, seconds);
    add_item(s, key, &l, code, seconds);
}

/* Measures products: first one size of every form, then the next size, because the time may not suffice for all. */
static void study_products(study *s)
{
    char key[32];
    for (size_t k = 0; k < SHAPES; k++) {
        for (size_t f = 0; f < COUNT(forms); f++)
            for (int d = 0; d < CALIBRATE_DTYPES && (forms[f].on & s->on); d++) {
                if (!forms[f].shapes[k])
                    continue;
                snprintf(key, sizeof key, "%s%s", dtypes[d], forms[f].form);
                study_call(s, "matmul", forms[f].shapes[k], NULL, key, dtypes[d]);
            }
        for (size_t d = 0; d < COUNT(other_dtypes) && k < COUNT(other_shapes); d++)
            study_call(s, "matmul", other_shapes[k], NULL, other_dtypes[d], other_dtypes[d]);
    }
}

/* Measures decompositions of n x n matrices. `batch` and `form` are "", or "100x" and "-batch". */
static void study_matrices(study *s, int n, const char *batch, const char *form)
{
    char key[32], shape[32];
    for (size_t i = 0; i < COUNT(decompositions); i++)
        for (int d = 0; d < CALIBRATE_DTYPES; d++) {
            const char *op = decompositions[i];
            snprintf(key, sizeof key, "%s-%s%s", op, dtypes[d], form);
            if (!strcmp(op, "eigh") || !strcmp(op, "cholesky"))
                snprintf(shape, sizeof shape, "%s%d", batch, n);
            else
                snprintf(shape, sizeof shape, "%s%dx%d", batch, n,
                         strcmp(op, "solve") ? n : RIGHT_SIDES);
            study_call(s, op, shape, NULL, key, dtypes[d]);
        }
}

static void study_decompositions(study *s)
{
    char batch[16];
    snprintf(batch, sizeof batch, "%dx", MATRICES);
    for (size_t k = 0; k < COUNT(sides); k++) {
        study_matrices(s, sides[k], "", "");
        if (s->on == DEVICE && k < COUNT(batch_sides))
            study_matrices(s, batch_sides[k], batch, "-batch");
    }
}

static void study_transforms(study *s)
{
    char key[32];
    for (size_t k = 0; k < COUNT(transforms); k++)
        for (size_t d = 0; d < COUNT(transform_dtypes); d++) {
            const struct transform *t = &transforms[k];
            snprintf(key, sizeof key, "fft-%s%s", transform_dtypes[d], t->form);
            study_call(s, "fft", t->shape, t->axis, key, transform_dtypes[d]);
        }
}

/* ---- All --------------------------------------------------------------------------------- */

/* Returns the words of the backend's setting; NULL: it has none. */
static const char *words_of(const collet_runtime *runtime, const char *backend, const char *word)
{
    char key[COLLET_MAX_NAME + 16];
    collet_setting s = {.struct_size = sizeof s};
    snprintf(key, sizeof key, "%s.%s", backend, word);
    for (size_t i = 0; collet_setting_at(runtime, &s, i, NULL) == COLLET_OK; i++)
        if (!strcmp(s.key, key))
            return s.values;
    return NULL;
}

static int32_t study_backend(calibration_run *run, calibrated *c, const char *words, double seconds)
{
    study s = {.run = run, .of = c, .backend = c->name, .fine = 1};
    collet_backend_info b;
    char *text = NULL, *all;
    size_t size = 0;
    if (!bench_session_backend(run->session, s.backend, &b))
        return 1;
    if (!(s.text = open_memstream(&text, &size)))
        return 0;
    s.on = c->own_memory ? DEVICE : HOST;
    open_ways(&s, &b, words);
    s.end = tool_now() + seconds; /* counts from here: opening the ways may take a second */
    study_products(&s);
    study_decompositions(&s);
    study_transforms(&s);
    close_ways(&s);
    int32_t fine = !fclose(s.text) && s.fine;
    all = fine ? rates_merged(text, rates_of(c->before)) : NULL;
    fine = all && json_add_text(c->now, "calibrated", all);
    free(all);
    free(text);
    return fine;
}

int32_t calibrate_ways(calibration_run *run, double end)
{
    int32_t fine = 1, left = 0;
    const char *words[BENCH_LIST_MAX];
    for (int32_t i = 0; i < run->count; i++) {
        const char *name = run->backends[i].name;
        words[i] = words_of(run->session->runtime, name, "calibrated")
                       ? words_of(run->session->runtime, name, "ways")
                       : NULL;
        left += words[i] != NULL;
    }
    /* Each backend gets an equal part of the time. */
    for (int32_t i = 0; i < run->count && fine; i++) {
        if (words[i])
            fine = study_backend(run, &run->backends[i], words[i], (end - tool_now()) / left--);
    }
    return fine;
}

int32_t calibrate_ways_changes(const calibration_run *run, cJSON *report)
{
    cJSON *list = report ? cJSON_GetObjectItemCaseSensitive(report, "changes") : NULL;
    int32_t items = 0, changed = 0;
    char key[COLLET_MAX_NAME + 16];
    for (int32_t b = 0; b < run->count; b++) {
        const calibrated *c = &run->backends[b];
        int32_t changes = choices_tell(c->name, c->choices, c->choice_count, list);
        if (changes < 0)
            return 0;
        items += c->choice_count;
        changed += changes;
        snprintf(key, sizeof key, "%s.ways", c->name);
        if (!report && c->choice_count && *bench_setting(run->session->runtime, key))
            printf("The setting %s takes precedence over these measurements.\n", key);
    }
    if (!report && items)
        printf(
            "%d of %d measured products, decompositions and transforms now have a different "
            "implementation.\n",
            (int)changed, (int)items);
    return 1;
}

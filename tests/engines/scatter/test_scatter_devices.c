/* SPDX-License-Identifier: Apache-2.0 */
/* Several devices share the energies of one scattering simulation. */
#include <pthread.h>

#include "common/support.h"
#include "morphologies.h"

OWNS(collet_scatter, collet_scatter_destroy)

#define PLUGINS REMOTE_PLUGIN ":" OPENMP_PLUGIN ":" SCALAR_PLUGIN
#define OPENCL_AND_PLUGINS COLLET_TEST_PLUGINS "/opencl.so:" PLUGINS
#define MANY (ADDRESS_SANITIZER ? 11 : 23) /* energies */
#define CONTEXTS 3

static const int64_t shape[] = {6, 12, 16};

/* A morphology and options of MANY energies. */
typedef struct sample {
    morphology m;
    collet_scatter_options o;
    double energies[MANY];
    collet_scatter_constants constants[MANY * MATERIALS];
} sample;

static void make_sample(sample *s)
{
    collet_scatter_constants first[ENERGIES * MATERIALS];
    make_random(&s->m, shape, 2, 0, 1);
    s->o = options_of(&s->m, shape, first);
    for (int64_t e = 0; e < MANY; e++) {
        s->energies[e] = 270.0 + 3 * (double)(e * 7 % MANY);
        for (int64_t m = 0; m < 2; m++) {
            s->constants[2 * e + m] = first[(e + m) % (ENERGIES * 2)];
            s->constants[2 * e + m].delta_parallel += 1e-5 * (double)e;
        }
    }
    s->o.n_energies = MANY;
    s->o.energies = s->energies;
    s->o.constants = s->constants;
    s->o.window = 1; /* needs `mul`, which the fake devices compute */
}

/* A context for each choice of backends; the first is the caller's. */
typedef struct team {
    collet_runtime *rt;
    collet_context *context[CONTEXTS];
    int64_t count;
} team;

static team team_with(const char *plugins, const char *const *choices, int64_t count,
                      const char *const *settings)
{
    team t = {.rt = runtime_with(plugins, settings), .count = count};
    for (int64_t i = 0; i < count; i++) {
        t.context[i] = context_of(t.rt);
        assert_ok(t.context[i], collet_set_backend(t.context[i], choices[i]));
    }
    return t;
}

static team team_of(const char *const *choices, int64_t count, const char *const *settings)
{
    return team_with(PLUGINS, choices, count, settings);
}

static void close_team(team *t)
{
    for (int64_t i = 0; i < t->count; i++)
        collet_context_destroy(t->context[i]);
    collet_runtime_destroy(t->rt);
}

static collet_devices devices_of(const team *t, int64_t count)
{
    return (collet_devices){
        .struct_size = sizeof(collet_devices), .n_contexts = count, .contexts = t->context};
}

static double *patterns_of_team(const team *t, collet_scatter_options o)
{
    const collet_devices devices = devices_of(t, t->count);
    o.devices = t->count > 1 ? &devices : NULL;
    return patterns_of(t->context[0], &o);
}

static void assert_equal(const double *a, const double *b, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0 && !(isnan(a[i]) && isnan(b[i])))
            fail_msg("number %d is %.17g and %.17g", (int)i, a[i], b[i]);
}

/* A limit of memory, in bytes, with which MANY energies need several passes. */
static uint64_t little_memory(const team *t, collet_scatter_options o)
{
    int64_t passes;
    uint64_t bytes = least_memory(t->context[0], o, &passes);
    assert_true(passes > 1);
    return bytes;
}

TEST(whatever_the_split_patterns_are_the_same)
{
    static const char *const choices[][CONTEXTS] = {
        {"cpu_openmp", "cpu_openmp", "cpu_openmp"},
        {"remote:0,cpu_openmp", "remote:1,cpu_openmp", "remote:1,cpu_openmp"}};
    for (size_t i = 0; i < 2; i++)
        for (int way = 0; way < 7; way++) {
            sample s;
            make_sample(&s);
            s.o.grid = way < 4 ? COLLET_SCATTER_CYRSOXS : COLLET_SCATTER_EXACT;
            s.o.method = way == 3 || way == 6 ? COLLET_SCATTER_DIRECT : COLLET_SCATTER_FAST;
            s.o.dtype = way == 1 || i == 1 ? COLLET_F32 : COLLET_F64; /* remote has f32 alone */
            team one = team_of(choices[i], 1, NULL), all = team_of(choices[i], CONTEXTS, NULL);
            s.o.memory = way == 2 || way == 5 ? little_memory(&one, s.o) : 0;
            FREED(double) *expected = patterns_of_team(&one, s.o),
                          *found = patterns_of_team(&all, s.o);
            assert_equal(found, expected, MANY * shape[1] * shape[2]);
            close_team(&one);
            close_team(&all);
            free_morphology(&s.m);
        }
}

/* opencl and cpu_openmp work together. Their results agree up to rounding in the precision of the simulation. */
TEST(devices_may_be_of_several_kinds)
{
    static const char *const choices[] = {"cpu_openmp", "opencl,cpu_openmp"};
    sample s;
    make_sample(&s);
    team all = team_with(OPENCL_AND_PLUGINS, choices, 1, NULL);
    collet_context *context = context_of(all.rt);
    if (collet_set_backend(context, "opencl") != COLLET_OK) {
        collet_context_destroy(context);
        close_team(&all);
        free_morphology(&s.m);
        skip();
    }
    FREED(double) *expected = patterns_of_team(&all, s.o);
    all.context[all.count++] = context;
    FREED(double) *found = patterns_of_team(&all, s.o);
    for (int64_t e = 0; e < MANY; e++)
        assert_true(difference(found + e * shape[1] * shape[2], expected + e * shape[1] * shape[2],
                               shape[1] * shape[2]) < 1e-12);
    close_team(&all);
    free_morphology(&s.m);
}

/* What the callbacks of the program observed, and when they must fail or cancel. */
typedef struct program {
    const morphology *m;
    pthread_t thread;
    int outside;              /* 1: no engine function runs, so no callback may be called */
    int64_t reads, fail_read; /* the number of the read that fails */
    int64_t steps, cancel;    /* the number of the step that cancels */
    double fraction;
} program;

static void assert_called_inside(const program *p)
{
    assert_true(pthread_equal(p->thread, pthread_self()));
    assert_false(p->outside);
}

static collet_status read_layers(void *user, void *const *arrays, int64_t material, int64_t first,
                                 int64_t count, collet_error *err)
{
    program *p = user;
    const collet_scatter_material *m = &p->m->material[material];
    const void *from[] = {m->volume, m->alignment, m->theta, m->psi};
    size_t plane = (size_t)(shape[1] * shape[2]) * sizeof(double);
    assert_called_inside(p);
    if (++p->reads == p->fail_read) {
        err->status = COLLET_IO;
        snprintf(err->text, sizeof err->text, "the disk is gone");
        return COLLET_IO;
    }
    for (int i = 0; i < 4 && from[i]; i++)
        memcpy(arrays[i], (const char *)from[i] + plane * (size_t)first, plane * (size_t)count);
    return COLLET_OK;
}

static int32_t count_step(void *user, const collet_progress *progress)
{
    program *p = user;
    assert_called_inside(p);
    assert_true(progress->fraction >= p->fraction && progress->fraction <= 1.0);
    p->fraction = progress->fraction;
    return ++p->steps == p->cancel;
}

static collet_scatter_material without_arrays(const collet_scatter_material *m)
{
    return (collet_scatter_material){.struct_size = sizeof *m,
                                     .dtype = m->dtype,
                                     .kind = m->alignment ? COLLET_SCATTER_EULER
                                                             : COLLET_SCATTER_ISOTROPIC};
}

/* Computes all patterns with `count` contexts. If a callback cancels, requests the remaining patterns again. */
static double *patterns_with_callbacks(const team *t, int64_t count, collet_scatter_options o,
                                       program *p)
{
    int64_t pixels = shape[1] * shape[2], at = 0, cancelled = 0;
    double *all = malloc((size_t)(MANY * pixels) * sizeof *all);
    const collet_scatter_pattern *pattern;
    collet_scatter *s;
    collet_error err;
    collet_status status;
    o.progress = count_step;
    o.layers = read_layers;
    o.layers_user = o.progress_user = p;
    const collet_devices devices = devices_of(t, count);
    o.devices = count > 1 ? &devices : NULL;
    assert_int_equal(collet_scatter_create(t->context[0], &s, &o, &err), COLLET_OK);
    p->outside = 1;
    do {
        p->outside = 0;
        status = collet_scatter_next(s, &pattern, &err);
        p->outside = 1;
        cancelled += status == COLLET_CANCELLED;
        if (status != COLLET_OK || !pattern)
            continue;
        assert_int_equal(pattern->index, at);
        memcpy(all + at++ * pixels, pattern->values, (size_t)pixels * sizeof *all);
    } while (status == COLLET_CANCELLED || (status == COLLET_OK && pattern));
    assert_int_equal(status, COLLET_OK);
    assert_int_equal(at, MANY);
    assert_int_equal(cancelled, p->cancel > 0 && p->steps >= p->cancel); /* some are skipped */
    collet_scatter_destroy(s);
    return all;
}

/* The engine reads layers through a callback, is cancelled at a step and continues. The patterns are
 * the same, in one pass and in several. */
TEST(callbacks_are_called_by_next)
{
    static const char *const choices[] = {"remote:0,cpu_openmp", "remote:1,cpu_openmp"};
    collet_scatter_material materials[MATERIALS];
    sample s;
    make_sample(&s);
    team t = team_of(choices, 2, NULL);
    uint64_t little = little_memory(&t, s.o) + (1 << 14); /* for the layers */
    for (int64_t m = 0; m < 2; m++)
        materials[m] = without_arrays(&s.m.material[m]);
    s.o.materials = materials;
    for (int passes = 0; passes < 2; passes++) {
        s.o.memory = passes ? little : 0;
        for (int64_t cancel = 0; cancel < 25; cancel += ADDRESS_SANITIZER ? 12 : 4) {
            program one = {.m = &s.m, .thread = pthread_self()}, two = one;
            two.cancel = cancel;
            FREED(double) *expected = patterns_with_callbacks(&t, 1, s.o, &one);
            FREED(double) *found = patterns_with_callbacks(&t, 2, s.o, &two);
            assert_equal(found, expected, MANY * shape[1] * shape[2]);
            assert_true(two.reads >= one.reads && two.steps > 0);
        }
    }
    close_team(&t);
    free_morphology(&s.m);
}

/* A scattering simulation is closed while its devices work. */
TEST(scatterings_are_closed_early)
{
    static const char *const choices[] = {"cpu_openmp", "cpu_openmp"};
    const collet_scatter_pattern *pattern;
    sample s;
    make_sample(&s);
    team t = team_of(choices, 2, NULL);
    const collet_devices both = {.struct_size = sizeof both, .choices = "cpu_openmp,cpu_scalar"};
    s.o.devices = &both;
    for (int i = 0; i < 3; i++) {
        OWNED(collet_scatter) *scattering = NULL;
        assert_int_equal(collet_scatter_create(t.context[0], &scattering, &s.o, NULL),
                         COLLET_OK);
        for (int k = 0; k < i; k++)
            assert_int_equal(collet_scatter_next(scattering, &pattern, NULL), COLLET_OK);
    }
    close_team(&t);
    free_morphology(&s.m);
}

/* One device is lost during the work, in each turn at a different call. The other devices do the work of the lost
 * device. */
TEST(the_others_do_the_part_of_a_lost_device)
{
    static const char *const choices[] = {"remote:0,cpu_openmp", "remote:1,cpu_openmp",
                                          "remote:2,cpu_openmp"};
    sample s;
    const int least = ADDRESS_SANITIZER ? 1 : 3, turns = ADDRESS_SANITIZER ? 7 : 13;
    int lost = 0;
    make_sample(&s);
    s.o.dtype = COLLET_F32; /* remote has no other */
    team alone = team_of(choices, 1, NULL);
    FREED(double) *expected = patterns_of_team(&alone, s.o);
    close_team(&alone);
    /* The device is not lost in every turn: on a busy machine the other devices may do all the work before this
     * device makes that call. */
    for (int turn = 0; turn < turns || (lost < least && turn < 20 * turns); turn++) {
        int call = 1 + turn % turns * (40 / turns);
        char lose[32];
        const char *const settings[] = {"remote.devices=3", "remote.faulty=1", lose, NULL};
        collet_device_share share = {.struct_size = sizeof share};
        const collet_scatter_pattern *pattern;
        collet_scatter *scattering;
        int64_t all = 0, pixels = shape[1] * shape[2];
        snprintf(lose, sizeof lose, "remote.lose=%d", call);
        team t = team_of(choices, CONTEXTS, settings);
        const collet_devices devices = devices_of(&t, t.count);
        s.o.devices = &devices;
        assert_int_equal(collet_scatter_create(t.context[0], &scattering, &s.o, NULL),
                         COLLET_OK);
        while (collet_scatter_next(scattering, &pattern, NULL) == COLLET_OK && pattern) {
            const float *values = pattern->values;
            for (int64_t i = 0; i < pixels; i++) {
                double value = (double)values[i];
                assert_equal(&value, &expected[pattern->index * pixels + i], 1);
            }
            assert_int_equal(pattern->index, all++);
        }
        assert_int_equal(all, MANY);
        for (size_t i = 0;
             collet_scatter_share_at(scattering, &share, i, NULL) == COLLET_OK; i++) {
            assert_string_equal(share.device, choices[i]);
            if (share.error) {
                assert_int_equal(i, 1);
                assert_contains(share.error, "remote:1,cpu_openmp: ");
                lost++;
            }
        }
        collet_scatter_destroy(scattering);
        close_team(&t);
    }
    assert_true(lost >= least);
    free_morphology(&s.m);
}

static void expect_failure(const team *t, collet_scatter_options o, collet_status expected,
                           const char *text)
{
    const collet_scatter_pattern *pattern;
    OWNED(collet_scatter) *s = NULL;
    collet_error err;
    collet_status status;
    const collet_devices devices = devices_of(t, t->count);
    o.devices = &devices;
    assert_int_equal(collet_scatter_create(t->context[0], &s, &o, &err), COLLET_OK);
    do
        status = collet_scatter_next(s, &pattern, &err);
    while (status == COLLET_OK && pattern);
    if (status != expected || !strstr(err.text, text))
        fail_msg("%s: %s", collet_status_name(status), err.text);
    assert_int_equal(collet_scatter_next(s, &pattern, &err), expected); /* again */
    assert_contains(err.text, text);
}

/* If all devices fail, the error names a device. If reading the layers fails, the error is the error of the read. */
TEST(failures_end_the_work)
{
    static const char *const choices[] = {"remote:0,cpu_openmp", "remote:1,cpu_openmp"};
    static const char *const lost[] = {"remote.lose=1", NULL};
    collet_scatter_material materials[MATERIALS];
    sample s;
    make_sample(&s);
    team t = team_of(choices, 2, lost);
    s.o.dtype = COLLET_F32;
    expect_failure(&t, s.o, COLLET_DEVICE_LOST, ",cpu_openmp: ");
    close_team(&t);
    t = team_of(choices, 2, NULL);
    program p = {.m = &s.m, .thread = pthread_self(), .fail_read = 2};
    for (int64_t m = 0; m < 2; m++)
        materials[m] = without_arrays(&s.m.material[m]);
    s.o.materials = materials;
    s.o.layers = read_layers;
    s.o.layers_user = &p;
    expect_failure(&t, s.o, COLLET_IO, "the disk is gone");
    close_team(&t);
    free_morphology(&s.m);
}

TEST(devices_are_checked)
{
    static const char *const choices[] = {"cpu_openmp", "cpu_openmp"};
    collet_scatter *scattering;
    collet_error err;
    sample s;
    make_sample(&s);
    team t = team_of(choices, 2, NULL), other = team_of(choices, 2, NULL);
    collet_context *const twice[] = {t.context[1], t.context[1]},
                          *const null[] = {t.context[1], NULL},
                          *const mixed[] = {t.context[0], other.context[0]};
    const struct {
        collet_devices devices;
        const char *text;
    } bad[] = {{{.n_contexts = 2, .contexts = twice}, "contexts[1] is given twice"},
               {{.n_contexts = 2, .contexts = null}, "contexts[1] is NULL"},
               {{.n_contexts = 2, .contexts = mixed}, "contexts[1] is of another runtime"},
               {{.n_contexts = 2, .contexts = other.context}, "of another runtime than the job's"},
               {{.n_contexts = 2}, "contexts is NULL and n_contexts is 2"},
               {{.n_contexts = -1, .contexts = twice}, "n_contexts is -1"},
               {{.choices = ""}, "choices is empty"},
               {{.choices = "cpu_openmp,cpu_openmp"}, "cpu_openmp is given twice"},
               {{.choices = "cpu_openmp,"}, "devices: "},
               {{.choices = "cpu_openmp", .n_contexts = 1}, "choices or contexts, not both"},
               {{.choices = "cpu_openmp", .reserved = 1}, "reserved is not 0"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        collet_devices devices = bad[i].devices;
        devices.struct_size = sizeof devices;
        s.o.devices = &devices;
        assert_int_equal(collet_scatter_create(t.context[0], &scattering, &s.o, &err),
                         strcmp(bad[i].text, "devices: ") ? COLLET_INVALID : COLLET_UNKNOWN_BACKEND);
        assert_contains(err.text, bad[i].text);
        assert_null(scattering);
    }
    close_team(&other);
    close_team(&t);
    free_morphology(&s.m);
}

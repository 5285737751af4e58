/* SPDX-License-Identifier: Apache-2.0 */
/* Several devices that share the vectors of a ternary network. */
#include "engines/ternary_engine.h"

#define PLUGINS REMOTE_PLUGIN ":" OPENMP_PLUGIN ":" SCALAR_PLUGIN
#define OPENCL_AND_PLUGINS COLLET_TEST_PLUGINS "/opencl.so:" PLUGINS
#define INPUTS 300
#define HIDDEN (ADDRESS_SANITIZER ? 150 : 600)
#define OUTPUTS 7
#define VECTORS 1200
#define CONTEXTS 3

/* A network and its input, and a context for each choice of backends. */
typedef struct team {
    collet_runtime *rt;
    collet_context *context[CONTEXTS];
    collet_ternary_network *network;
    float *x, *y;
} team;

static team open_team(const char *const choices[CONTEXTS], uint32_t activations,
                      const char *const *settings)
{
    const char *plugins = strstr(choices[CONTEXTS - 1], "opencl") ? OPENCL_AND_PLUGINS : PLUGINS;
    team t = {.rt = runtime_with(plugins, settings)};
    const int64_t extents[] = {INPUTS, HIDDEN, OUTPUTS};
    collet_ternary_weights *weights[2];
    collet_ternary_layer layers[2];
    for (int i = 0; i < CONTEXTS; i++) {
        t.context[i] = context_of(t.rt);
        assert_ok(t.context[i], collet_set_backend(t.context[i], choices[i]));
    }
    for (int i = 0; i < 2; i++) {
        collet_array *codes =
            random_codes(t.context[0], extents[i + 1], extents[i], (uint32_t)i + 1);
        assert_done(
            collet_ternary_weights_from_codes(t.context[0], &weights[i], codes, NULL, &failure));
        collet_array_destroy(codes);
        layers[i] = (collet_ternary_layer){.struct_size = sizeof *layers,
                                           .activations = activations,
                                           .relu = i == 0,
                                           .weights = weights[i]};
    }
    assert_done(collet_ternary_network_create(t.context[0], &t.network, layers, 2, &failure));
    for (int i = 0; i < 2; i++)
        collet_ternary_weights_destroy(weights[i]);
    t.x = malloc((size_t)(VECTORS * INPUTS) * sizeof *t.x);
    t.y = calloc((size_t)(VECTORS * OUTPUTS), sizeof *t.y);
    for (int64_t i = 0; i < VECTORS * INPUTS; i++)
        t.x[i] = (float)((i * 7919) % 1009) / 500 - 1;
    return t;
}

static void close_team(team *t)
{
    collet_ternary_network_destroy(t->network);
    for (int i = 0; i < CONTEXTS; i++)
        collet_context_destroy(t->context[i]);
    collet_runtime_destroy(t->rt);
    free(t->x);
    free(t->y);
}

/* The totals of all devices' shares. */
typedef struct shares {
    int64_t done, n;
    int failed; /* a bit for each device */
    char error[400];
} shares;

static void take_share(shares *t, const collet_device_share *share)
{
    t->done += share->done;
    if (share->error) {
        t->failed |= 1 << t->n;
        snprintf(t->error, sizeof t->error, "%s", share->error);
    }
    t->n++;
}

static collet_status run(team *t, int64_t devices, shares *told)
{
    const collet_devices all = {
        .struct_size = sizeof all, .n_contexts = devices, .contexts = t->context};
    collet_device_share share = {.struct_size = sizeof share};
    memset(told, 0, sizeof *told);
    memset(t->y, 0, (size_t)(VECTORS * OUTPUTS) * sizeof *t->y);
    collet_status status = collet_ternary_network_run_vectors(
        t->context[0], t->network, t->y, t->x, VECTORS, devices > 1 ? &all : NULL, NULL, &failure);
    for (size_t i = 0; collet_ternary_network_share_at(t->network, &share, i, NULL) == COLLET_OK;
         i++)
        take_share(told, &share);
    return status;
}

/* Several devices give the same bits as one device, even on different backends, because activations
 * are int8 and sums are exact. */
TEST(devices_give_the_results_of_one)
{
    static const char *const choices[][CONTEXTS] = {
        {"cpu_openmp", "cpu_openmp", "cpu_scalar"},
        {"cpu_scalar", "cpu_openmp", "opencl:0"},
        {"remote:0,cpu_openmp", "remote:1,cpu_openmp", "cpu_openmp"}};
    size_t size = (size_t)(VECTORS * OUTPUTS) * sizeof(float);
    FREED(float) *expected = malloc(size);
    for (size_t i = 0; i < 3; i++) {
        team t = open_team(choices[i], 0, NULL);
        shares told;
        assert_done(run(&t, 1, &told));
        assert_int_equal(told.n, 0);
        if (i == 0)
            memcpy(expected, t.y, size);
        assert_memory_equal(t.y, expected, size);
        collet_status status = run(&t, CONTEXTS, &told);
        if (i == 1 && status == COLLET_UNAVAILABLE) { /* no OpenCL here */
            close_team(&t);
            continue;
        }
        assert_done(status);
        assert_memory_equal(t.y, expected, size);
        assert_int_equal(told.n, CONTEXTS);
        assert_true(told.done >= VECTORS && told.failed == 0);
        close_team(&t);
    }
}

/* On several devices of the same kind, f32 sums are the same, whatever number of vectors a device takes at a time. */
TEST(floats_are_the_same_on_devices_alike)
{
    static const char *const choices[][CONTEXTS] = {{"cpu_openmp", "cpu_openmp", "cpu_openmp"},
                                                    {"cpu_scalar", "cpu_scalar", "cpu_scalar"}};
    size_t size = (size_t)(VECTORS * OUTPUTS) * sizeof(float);
    FREED(float) *expected = malloc(size);
    for (size_t i = 0; i < 2; i++) {
        team t = open_team(choices[i], COLLET_TERNARY_F32, NULL);
        shares told;
        assert_done(run(&t, 1, &told));
        memcpy(expected, t.y, size);
        assert_done(run(&t, CONTEXTS, &told));
        assert_memory_equal(t.y, expected, size);
        close_team(&t);
    }
}

TEST(the_others_do_the_part_of_a_lost_device)
{
    static const char *const choices[] = {"remote:0,cpu_openmp", "remote:1,cpu_openmp",
                                          "remote:2,cpu_openmp"};
    size_t size = (size_t)(VECTORS * OUTPUTS) * sizeof(float);
    FREED(float) *expected = malloc(size);
    int lost = 0;
    for (int call = 0; call < 8; call++) { /* 0: none is lost */
        char lose[32];
        const char *const settings[] = {"remote.devices=3", "remote.faulty=0", lose, NULL};
        shares told;
        snprintf(lose, sizeof lose, "remote.lose=%d", call ? call : INT32_MAX);
        team t = open_team(choices, 0, settings);
        assert_done(run(&t, CONTEXTS, &told));
        if (call == 0)
            memcpy(expected, t.y, size);
        assert_memory_equal(t.y, expected, size);
        if (told.failed) {
            assert_int_equal(told.failed, 1);
            assert_contains(told.error, "remote:0,cpu_openmp: ");
            lost++;
        }
        close_team(&t);
    }
    assert_true(lost > 1);
    const char *const all[] = {"remote.devices=3", "remote.lose=1", NULL};
    team t = open_team(choices, 0, all);
    shares told;
    assert_outcome(run(&t, CONTEXTS, &told), COLLET_DEVICE_LOST, ",cpu_openmp: ");
    assert_int_equal(told.failed, 7);
    close_team(&t);
}

TEST(arguments_are_checked)
{
    static const char *const choices[] = {"cpu_scalar", "cpu_scalar", "cpu_scalar"};
    team t = open_team(choices, 0, NULL);
    collet_context *const twice[] = {t.context[1], t.context[1]};
    collet_devices devices = {.struct_size = sizeof devices, .n_contexts = 2, .contexts = twice};
    assert_outcome(collet_ternary_network_run_vectors(t.context[0], t.network, t.y, t.x, VECTORS,
                                                      &devices, NULL, &failure),
                   COLLET_INVALID, "contexts[1] is given twice");
    assert_outcome(collet_ternary_network_run_vectors(t.context[0], t.network, t.y, t.x, -1, NULL,
                                                      NULL, &failure),
                   COLLET_INVALID, "vectors is -1");
    assert_done(collet_ternary_network_run_vectors(t.context[0], t.network, NULL, NULL, 0, NULL,
                                                   NULL, &failure));
    close_team(&t);
}

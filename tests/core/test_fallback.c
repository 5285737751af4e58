/* SPDX-License-Identifier: Apache-2.0 */
/* Which backend runs a call that the chosen backend cannot run. Tests every cause, every choice and every
 * value of the setting `fallback`. */

#include "common/support.h"

#define BOTH REMOTE_PLUGIN ":" SCALAR_PLUGIN

/* The remote devices support add in f32 and f64, mul in f32, and no div. cpu_scalar supports
 * all. */
typedef struct cause {
    const char *what, *setting;
    uint32_t op;
    collet_dtype dtype;
    collet_status status; /* without a fallback */
} cause;

static const cause causes[] = {
    {"no kernel", NULL, COLLET_OP_DIV, COLLET_F32, COLLET_UNSUPPORTED},
    {"no dtype", NULL, COLLET_OP_MUL, COLLET_F64, COLLET_UNSUPPORTED},
    {"refused", "remote.refuse=1", COLLET_OP_ADD, COLLET_F32, COLLET_REFUSED},
    {"no memory", "remote.memory=24", COLLET_OP_ADD, COLLET_F32, COLLET_REFUSED},
};

/* The backend that runs the call with fallback=off, auto (the default) and on; NULL: none. */
static const struct {
    const char *choice, *runs[3];
} choices[] = {
    {"remote", {NULL, NULL, "cpu_scalar"}},
    {"remote:1", {NULL, NULL, "cpu_scalar"}},
    {"remote:0,remote:1", {NULL, NULL, "cpu_scalar"}},
    {"remote,cpu_scalar", {NULL, "cpu_scalar", "cpu_scalar"}},
};

static collet_array *ones(collet_context *cx, collet_dtype dtype)
{
    collet_array *a = NULL;
    const float f32[] = {1, 1, 1, 1};
    const double f64[] = {1, 1, 1, 1};
    assert_ok(cx, collet_array_from(cx, &a, dtype, 1, (int64_t[]){4},
                                    dtype == COLLET_F32 ? (const void *)f32 : f64));
    return a;
}

static collet_status call(collet_context *cx, const cause *c)
{
    collet_array *a = ones(cx, c->dtype), *out = ones(cx, c->dtype);
    collet_status status = collet_call(cx, c->op, &out, (const collet_array *const[]){a, a}, NULL);
    double read[4] = {0};
    if (status == COLLET_OK) {
        double expected = c->op == COLLET_OP_MUL || c->op == COLLET_OP_DIV ? 1 : 2;
        assert_ok(cx, collet_array_read(cx, out, read, 4 * collet_dtype_size(c->dtype)));
        assert_true((c->dtype == COLLET_F32 ? (double)((float *)read)[3] : read[3]) == expected);
    }
    collet_array_destroy(a);
    collet_array_destroy(out);
    return status;
}

/* collet_explain names the backend before the call, but cannot know which calls a kernel will refuse. */
static void expect_explained(collet_context *cx, const cause *c, const char *runs,
                             const char *about)
{
    char text[4096], line[64];
    OWNED(collet_array) *a = ones(cx, c->dtype);
    assert_ok(cx, collet_explain(cx, c->op, text, sizeof text, &a,
                                 (const collet_array *const[]){a, a}, NULL));
    snprintf(line, sizeof line, runs ? "\n%s:0 runs it.\n" : "\nNo backend of the choice '", runs);
    if (!strstr(text, line))
        fail_msg("%s: %s: explained as\n%s", about, c->what, text);
}

static void expect(collet_context *cx, const cause *c, const char *runs, const char *about)
{
    uint64_t before = counters_of(cx).fallbacks;
    if (c->status == COLLET_UNSUPPORTED)
        expect_explained(cx, c, runs, about);
    collet_status status = call(cx, c);
    if (status != (runs ? COLLET_OK : c->status) ||
        (runs &&
         (strcmp(collet_last_backend(cx), runs) || counters_of(cx).fallbacks != before + 1)))
        fail_msg("%s: %s: %s, ran on '%s'", about, c->what,
                 status == COLLET_OK ? "OK" : collet_last_error(cx), collet_last_backend(cx));
}

/* The permission for a fallback comes from the setting `fallback` or, if by_call is 1, from a call. */
static void check(const cause *c, size_t choice, int permission, const char *probe, int by_call)
{
    static const char *const fallbacks[] = {"fallback=off", "fallback=auto", "fallback=on"};
    char about[96];
    const char *settings[] = {by_call ? "fallback=auto" : fallbacks[permission], probe, c->setting,
                              NULL};
    OWNED(world) w = open_world(BOTH, settings, choices[choice].choice);
    snprintf(about, sizeof about, "%s, %s%s, %s", choices[choice].choice, fallbacks[permission],
             by_call ? " by a call" : "", probe);
    if (by_call)
        collet_set_fallback(w.cx, permission == 2);
    expect(w.cx, c, choices[choice].runs[permission], about);
}

TEST(every_case)
{
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        for (size_t choice = 0; choice < sizeof choices / sizeof *choices; choice++)
            for (int permission = 0; permission < 3; permission++)
                for (int by_call = 0; by_call < (permission == 1 ? 1 : 2); by_call++)
                    check(&causes[i], choice, permission, "probe=on", by_call);
}

/* cpu_scalar is the first choice of "auto", but does not have the op remote.plus. */
TEST(automatic)
{
    OWNED(world) w = open_world(BOTH, NULL, "remote");
    cause c = {"no op", NULL, 0, COLLET_F32, COLLET_UNSUPPORTED};
    assert_int_equal(collet_ops_find(w.rt, &c.op, "remote.plus", NULL), COLLET_OK);
    assert_ok(w.cx, collet_set_backend(w.cx, "auto"));
    expect(w.cx, &c, "remote", "auto");
    collet_set_fallback(w.cx, 1);
    expect(w.cx, &c, "remote", "auto, on");
    collet_set_fallback(w.cx, 0);
    expect(w.cx, &c, NULL, "auto, off");
    assert_ok(w.cx, collet_set_backend(w.cx, "cpu_scalar"));
    expect(w.cx, &c, NULL, "cpu_scalar, off");
    collet_set_fallback(w.cx, 1);
    expect(w.cx, &c, "remote", "cpu_scalar, on");
}

/* A fallback may open backends that were not probed. */
TEST(unproven)
{
    for (int permission = 0; permission < 3; permission++)
        check(&causes[0], 0, permission, "probe=off", 0);
}

/* The permission for a fallback can be withdrawn, and it does not change the chosen backend. */
TEST(taken_back)
{
    OWNED(world) w = open_world(BOTH, NULL, "remote");
    collet_memory_stats stats = {.struct_size = sizeof stats};
    collet_set_fallback(w.cx, 1);
    expect(w.cx, &causes[0], "cpu_scalar", "allowed");
    assert_ok(w.cx, collet_memory(w.cx, &stats, "remote"));
    assert_string_equal(collet_get_backend(w.cx), "remote");
    collet_array *a = ones(w.cx, COLLET_F32);
    assert_ok(w.cx, collet_op_add(w.cx, a, a, a));
    assert_string_equal(collet_last_backend(w.cx), "remote");
    collet_array_destroy(a);
    collet_set_fallback(w.cx, 0);
    expect(w.cx, &causes[0], NULL, "taken back");
}

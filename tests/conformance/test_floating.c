/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_floating BACKEND: every kernel computes the same bytes whatever
 * floating-point state its caller has, and leaves that state as it was.
 */
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <collet/floating.h>

#include "kit.h"

#define CASES 2 /* number of small cases of a row */

/* ---- States -------------------------------------------------------------------------------- */

static void usual(void)
{
}

/* Also treats subnormal numbers as zero, if the processor can. */
static void upward(void)
{
    fesetround(FE_UPWARD);
#if defined(__x86_64__)
    uint32_t control;
    __asm__ volatile("stmxcsr %0" : "=m"(control));
    control |= 0x8040;
    __asm__ volatile("ldmxcsr %0" : : "m"(control));
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    control |= 1u << 24;
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
#endif
}

/* Also limits x87 results to 24 bits. */
static void toward_zero(void)
{
    fesetround(FE_TOWARDZERO);
#if defined(__x86_64__)
    uint16_t legacy;
    __asm__ volatile("fnstcw %0" : "=m"(legacy));
    legacy &= (uint16_t)~0x0300u;
    __asm__ volatile("fldcw %0" : : "m"(legacy));
#endif
}

/* Floating-point exceptions raise SIGFPE. Not every ARM processor supports this. */
static void traps(void)
{
    (void)feenableexcept(FE_ALL_EXCEPT);
}

typedef struct state {
    const char *name;
    void (*set)(void);
} state;

/* The results in the other states are compared with the result in the first state. */
static const state states[] = {
    {"the default state", usual},
    {"rounding upward without subnormal numbers", upward},
    {"rounding toward zero with short x87", toward_zero},
    {"exceptions that raise signals", traps},
};
enum { STATES = sizeof states / sizeof *states };

/* ---- A call -------------------------------------------------------------------------------- */

typedef struct test {
    const char *backend;
    collet_context *context;
    int numbers[KIT_SAMPLE];
    int taken;  /* number of small cases taken */
    bool large; /* whether a large case was taken */
    long calls;
    int failures;
} test;

static collet_status call(const test *t, const kit_case *c, const kit_operands *o)
{
    const collet_array *ins[KIT_OPERANDS] = {0};
    for (uint32_t k = 0; k < c->row->info.n_in; k++)
        ins[k] = o->array[c->row->info.n_out + k];
    return collet_call(t->context, c->row->info.id, o->array, ins,
                       c->row->info.params_size ? &c->params : NULL);
}

/* Failing calls must also restore the caller's state. */
static void fail_calls(const test *t)
{
    collet_array *none = NULL;
    (void)collet_call(t->context, COLLET_OP_ADD, &none, (const collet_array *const *)&none, NULL);
    (void)collet_set_backend(t->context, "nothing");
    (void)collet_array_read(t->context, NULL, NULL, 0);
}

static bool in_state(test *t, kit_case *c, const kit_operands *o, const state *s)
{
    fenv_t environment;
    fegetenv(&environment);
    s->set();
    collet_floating before = collet_floating_now();
    collet_status status = call(t, c, o);
    if (status == COLLET_OK)
        status = collet_finish(t->context);
    fail_calls(t);
    bool kept = collet_floating_equal(before, collet_floating_now());
    fesetenv(&environment);
    t->calls++;
    if (!kept)
        printf("%s %s: %s was changed\n", c->row->info.name, c->row->sig, s->name);
    if (status != COLLET_OK)
        printf("%s %s: %s\n", c->row->info.name, c->row->sig, collet_last_error(t->context));
    return kept && status == COLLET_OK;
}

/* The outputs are in c->operand afterwards. */
static bool compute(test *t, kit_case *c, const state *s, kit_rng rng)
{
    kit_operands o = {0};
    kit_verdict verdict = {0};
    for (uint32_t k = 0; k < c->row->info.n_out; k++)
        memset(c->operand[k].data, 0xff,
               (size_t)c->operand[k].count * collet_dtype_size(c->operand[k].dtype));
    bool good = kit_operands_create(t->context, c, &o, &rng) == COLLET_OK &&
                in_state(t, c, &o, s) &&
                kit_operands_gather(t->context, c, &o, &verdict) == COLLET_OK;
    if (!good)
        printf("%s %s on %s: case %d failed in %s\n", c->row->info.name, c->row->sig, t->backend,
               c->number, s->name);
    kit_operands_destroy(&o);
    return good;
}

/* ---- Cases --------------------------------------------------------------------------------- */

static void outputs_copy(const kit_case *c, kit_tensor *to)
{
    for (uint32_t k = 0; k < c->row->info.n_out; k++) {
        to[k] = c->operand[k];
        kit_allocate(&to[k]);
        memcpy(to[k].data, c->operand[k].data,
               (size_t)to[k].count * collet_dtype_size(to[k].dtype));
    }
}

static bool outputs_equal(const kit_case *c, const kit_tensor *to)
{
    bool equal = true;
    for (uint32_t k = 0; k < c->row->info.n_out; k++)
        equal = equal && !memcmp(to[k].data, c->operand[k].data,
                                 (size_t)to[k].count * collet_dtype_size(to[k].dtype));
    return equal;
}

static void compare(test *t, kit_case *c, kit_rng rng)
{
    kit_tensor expected[KIT_OPERANDS];
    bool good = compute(t, c, &states[0], rng);
    outputs_copy(c, expected);
    for (int i = 1; good && i < STATES; i++) {
        good = compute(t, c, &states[i], rng) && outputs_equal(c, expected);
        if (!good)
            printf("%s %s on %s: case %d differs in %s\n", c->row->info.name, c->row->sig,
                   t->backend, c->number, states[i].name);
    }
    t->failures += !good;
    for (uint32_t k = 0; k < c->row->info.n_out; k++)
        free(expected[k].data);
}

static bool is_taken(test *t, const kit_case *c)
{
    if (c->mode != KIT_PLAIN || c->operand[0].count == 0)
        return false;
    if (c->big) {
        bool first = t->large;
        t->large = false;
        return first;
    }
    for (size_t i = 0; t->taken < CASES && i < KIT_SAMPLE; i++)
        if (t->numbers[i] == c->number)
            return ++t->taken;
    return false;
}

static void run_case(void *user, const kit_case *planned)
{
    test *t = user;
    kit_case c = *planned;
    kit_rng rng = {.state = (uint64_t)c.number + 1};
    if (!is_taken(t, &c))
        return;
    for (uint32_t k = 0; k < c.row->operands; k++)
        kit_allocate(&c.operand[k]);
    c.row->kit->generate(&c, &rng);
    compare(t, &c, rng);
    for (uint32_t k = 0; k < c.row->operands; k++)
        free(c.operand[k].data);
}

static void run_op(test *t, const collet_runtime *runtime, const collet_ops_info *info)
{
    kit_row row = {
        .info = *info, .kit = kit_op_find(info->id), .operands = info->n_out + info->n_in};
    for (size_t n = 0;
         row.kit && collet_ops_signature(runtime, info->id, row.dtypes, n, NULL) == COLLET_OK;
         n++) {
        if (collet_backend_has_kernel(runtime, t->backend, info->id, row.dtypes, row.operands,
                                      NULL) != COLLET_OK)
            continue;
        kit_signature_text(row.dtypes, info->n_out, row.operands, row.sig);
        kit_sample_row(&row, t->numbers);
        t->taken = 0;
        t->large = n == 0;
        kit_plan plan = {.row = &row, .run = run_case, .user = t};
        row.kit->plan(&plan);
    }
}

int main(int argc, char **argv)
{
    test t = {.backend = argc > 1 ? argv[1] : "cpu_scalar"};
    collet_runtime *runtime = NULL;
    collet_error err = {COLLET_OK, ""};
    if (collet_runtime_create(&runtime, NULL, &err) != COLLET_OK ||
        collet_context_create(runtime, &t.context, &err) != COLLET_OK) {
        printf("%s\n", err.text);
        return 1;
    }
    if (collet_set_backend(t.context, t.backend) != COLLET_OK) {
        printf("%s\n", collet_last_error(t.context));
        return 77;
    }
    for (size_t i = 0; i < collet_ops_count(runtime); i++) {
        collet_ops_info info = {.struct_size = sizeof info};
        if (collet_ops_at(runtime, &info, i, NULL) == COLLET_OK)
            run_op(&t, runtime, &info);
    }
    printf("%s: %ld calls, %d cases failed\n", t.backend, t.calls, t.failures);
    collet_context_destroy(t.context);
    collet_runtime_destroy(runtime);
    return t.failures > 0 || t.calls < 100;
}

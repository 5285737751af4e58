/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of collet_call hold for an expression as a whole, even if it is split into several programs: a
 * refused evaluation leaves all outputs unchanged. core/DESIGN.md lists the rules. */

#include "common/evaluate.h"
#include "common/fixture.h"

enum { MOST = 12, N = 3 };

/* Two outputs, computed from 2 inputs (one program) or from 12 inputs (several programs). */
typedef struct sample {
    collet_expression *e;
    uint32_t inputs;
    collet_array *in[MOST], *out[2], *spare;
    const collet_array *ins[MOST];
    float memory[N];
} sample;

static sample sample_of(uint32_t inputs)
{
    sample s = {.inputs = inputs, .memory = {7, 7, 7}};
    const char *text = inputs == 2 ? "a+b; a+b" : "a+b; a+b+c+d+e+f+g+h+i+j+k+l";
    assert_int_equal(collet_expression_parse(&s.e, text, NULL), COLLET_OK);
    assert_int_equal(collet_expression_input_count(s.e), inputs);
    for (uint32_t i = 0; i < inputs; i++)
        s.ins[i] = s.in[i] = floats(cx, N, (float)i);
    s.out[0] = floats(cx, N, 7);
    s.out[1] = floats(cx, N, 7);
    return s;
}

static void free_sample(sample *s)
{
    for (uint32_t i = 0; i < s->inputs; i++)
        collet_array_destroy(s->in[i]);
    collet_array_destroy(s->out[0]);
    collet_array_destroy(s->out[1]);
    collet_array_destroy(s->spare);
    collet_expression_destroy(s->e);
}

/* An evaluation with `second` as output 1 is refused and leaves both outputs unchanged. */
static void refused(sample *s, collet_array *second, collet_status status, const char *part)
{
    collet_array *outs[] = {s->out[0], second};
    assert_status(cx, evaluate_in_order(cx, s->e, outs, s->ins, NULL), status, part);
    assert_floats(cx, s->out[0], (const float[]){7, 8, 9});
}

static void arrays_that_are_missing(sample *s)
{
    uint32_t last = s->inputs - 1;
    const collet_array *before = s->ins[last];
    s->ins[last] = NULL;
    refused(s, NULL, COLLET_INVALID, "has neither an array nor a number");
    s->ins[last] = before;
}

static void arrays_of_another_runtime(sample *s)
{
    OWNED(world) other = open_world(SCALAR_PLUGIN, NULL, NULL);
    OWNED(collet_array) *a = floats(other.cx, N, 1);
    uint32_t last = s->inputs - 1;
    const collet_array *before = s->ins[last];
    refused(s, a, COLLET_INVALID, "output 1 belongs to another runtime");
    s->ins[last] = a;
    refused(s, s->out[1], COLLET_INVALID, "belongs to another runtime");
    s->ins[last] = before;
}

static void dtypes_and_shapes(sample *s)
{
    const int64_t three = N;
    uint32_t last = s->inputs - 1;
    const collet_array *before = s->ins[last];
    assert_ok(cx, collet_array_create(cx, &s->spare, COLLET_F64, 1, &three));
    refused(s, s->spare, COLLET_DTYPE, "output 1 is f64; it must be f32");
    collet_array_destroy(s->spare);
    s->spare = floats(cx, 2, 1);
    refused(s, s->spare, COLLET_SHAPE, "output 1 is 2; it must be 3");
    s->ins[last] = s->spare;
    refused(s, s->out[1], COLLET_SHAPE, "which does not broadcast");
    s->ins[last] = before;
    collet_array_destroy(s->spare);
    s->spare = NULL;
}

static void outputs_that_cannot_be_written(sample *s)
{
    const int64_t three = N, four = N + 1;
    collet_array *one = floats(cx, 1, 1), *long_one, *views[2];
    assert_ok(cx, collet_array_broadcast(cx, one, &s->spare, 1, &three));
    refused(s, s->spare, COLLET_INVALID, "output 1 repeats elements");
    collet_array_destroy(s->spare);
    collet_array_destroy(one);
    assert_ok(cx, collet_array_wrap(cx, &s->spare, COLLET_F32, 1, &three, NULL, s->memory,
                                    COLLET_WRAP_READONLY, NULL, NULL));
    refused(s, s->spare, COLLET_INVALID, "output 1 wraps read-only memory");
    assert_true(s->memory[0] == 7);
    collet_array_destroy(s->spare);
    s->spare = NULL;
    assert_ok(cx, collet_array_create(cx, &long_one, COLLET_F32, 1, &four));
    assert_ok(cx, collet_array_write(cx, long_one, (const float[]){7, 8, 9, 10}, 16));
    for (int i = 0; i < 2; i++)
        assert_ok(cx, collet_array_slice(cx, long_one, &views[i], 0, i, N, 1));
    collet_array *before = s->out[0];
    s->out[0] = views[0];
    refused(s, views[1], COLLET_INVALID, "expression: outputs 0 and 1 overlap");
    s->out[0] = before;
    collet_array_destroy(views[0]);
    collet_array_destroy(views[1]);
    collet_array_destroy(long_one);
}

static void arrays_in_use(sample *s)
{
    void *address;
    uint32_t last = s->inputs - 1;
    assert_ok(cx, collet_array_acquire(cx, s->out[1], &address, COLLET_READ));
    refused(s, s->out[1], COLLET_BUSY, "expression: output 1: an array is in use");
    assert_ok(cx, collet_array_release(cx, s->out[1]));
    assert_ok(cx, collet_array_acquire(cx, s->in[last], &address, COLLET_WRITE));
    refused(s, s->out[1], COLLET_BUSY, "an array is in use");
    assert_ok(cx, collet_array_release(cx, s->in[last]));
    assert_ok(cx, collet_array_acquire(cx, s->in[last], &address, COLLET_READ));
    assert_ok(cx, evaluate_in_order(cx, s->e, s->out, s->ins, NULL));
    assert_ok(cx, collet_array_release(cx, s->in[last]));
}

/* Interleaved outputs do not overlap, and an output may be an input. */
static void what_is_allowed(sample *s)
{
    const int64_t six = 2 * N;
    collet_array *both, *outs[2], *in_place[] = {s->in[0], s->in[1]};
    float got[2 * N];
    assert_ok(cx, collet_array_create(cx, &both, COLLET_F32, 1, &six));
    for (int i = 0; i < 2; i++)
        assert_ok(cx, collet_array_slice(cx, both, &outs[i], 0, i, N, 2));
    assert_ok(cx, evaluate_in_order(cx, s->e, outs, s->ins, NULL));
    assert_ok(cx, collet_array_read(cx, both, got, sizeof got));
    assert_true(got[0] == 1 && got[2] == 3 && got[1] == (s->inputs == 2 ? 1 : 66));
    assert_ok(cx, evaluate_in_order(cx, s->e, in_place, s->ins, NULL));
    assert_floats(cx, s->in[0], (const float[]){1, 3, 5});
    collet_array_destroy(outs[0]);
    collet_array_destroy(outs[1]);
    collet_array_destroy(both);
}

#define RULE(name)                                                                                 \
    TEST(rule_##name)                                                                              \
    {                                                                                              \
        for (uint32_t inputs = 2; inputs <= MOST; inputs += MOST - 2) {                            \
            sample s = sample_of(inputs);                                                          \
            name(&s);                                                                              \
            free_sample(&s);                                                                       \
        }                                                                                          \
    }
RULE(arrays_that_are_missing)
RULE(arrays_of_another_runtime)
RULE(dtypes_and_shapes)
RULE(outputs_that_cannot_be_written)
RULE(arrays_in_use)
RULE(what_is_allowed)

/* A maximum of nothing. */
TEST(reductions_of_nothing)
{
    const char *const texts[] = {"max(a+b); max(a*b)", "max(a+b); max(a+b+c+d+e+f+g+h+i+j+k+l)"};
    for (int t = 0; t < 2; t++) {
        collet_expression *e;
        const collet_array *ins[MOST];
        collet_array *none = empty_floats(cx, 0), *outs[2];
        for (int i = 0; i < MOST; i++)
            ins[i] = none;
        for (int i = 0; i < 2; i++)
            assert_ok(cx, collet_array_from(cx, &outs[i], COLLET_F32, 0, NULL, &(float){7}));
        assert_int_equal(collet_expression_parse(&e, texts[t], NULL), COLLET_OK);
        assert_status(cx, evaluate_in_order(cx, e, outs, ins, NULL), COLLET_SHAPE);
        assert_floats(cx, outs[0], (const float[]){7});
        collet_array_destroy(outs[0]);
        collet_array_destroy(outs[1]);
        collet_array_destroy(none);
        collet_expression_destroy(e);
    }
}

TEST_GROUP(set_up_scalar, tear_down)

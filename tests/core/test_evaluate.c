/* SPDX-License-Identifier: Apache-2.0 */
/* The op evaluate: programs are checked, outputs are inferred, results equal single calls. */

#include "common/fixture.h"

/* out = a * b + k, and whether a < b. */
static const collet_dtype dtypes[] = {COLLET_F32, COLLET_F32, COLLET_F32};
static const collet_step steps[] = {
    {.op = COLLET_OP_MUL, .dtype = COLLET_F32, .in = {0, 1}},
    {.op = COLLET_OP_ADD, .dtype = COLLET_F32, .in = {3, 2}},
    {.op = COLLET_OP_LESS, .dtype = COLLET_BOOL, .in = {0, 1}},
};
static const uint16_t outs_of_program[] = {4, 5};
static const collet_program valid = {.struct_size = sizeof(collet_program),
                                     .n_in = 2,
                                     .n_constants = 1,
                                     .n_steps = 3,
                                     .n_out = 2,
                                     .step_size = sizeof *steps,
                                     .constant_size = sizeof(collet_scalar),
                                     .hash = 1,
                                     .dtypes = dtypes,
                                     .steps = steps,
                                     .outs = outs_of_program};
static const collet_scalar half = {.value.f32 = 0.5f, .dtype = COLLET_F32};

static collet_evaluate_params params_of(const collet_program *p)
{
    return (collet_evaluate_params){.struct_size = sizeof(collet_evaluate_params),
                                    .program = p,
                                    .constants = p && p->n_constants ? &half : NULL};
}

TEST(a_program_broadcasts)
{
    const int64_t column[] = {3, 1}, row[] = {1, 2}, both[] = {3, 2};
    const float a[] = {1, 2, 3}, b[] = {2, -1}, y[] = {2.5f, -.5f, 4.5f, -1.5f, 6.5f, -2.5f};
    const uint8_t z[] = {1, 0, 0, 0, 0, 0};
    float got[6];
    uint8_t less[6];
    collet_array *in[2], *out[4] = {NULL};
    assert_ok(cx, collet_array_from(cx, &in[0], COLLET_F32, 2, column, a));
    assert_ok(cx, collet_array_from(cx, &in[1], COLLET_F32, 2, row, b));
    assert_ok(cx, collet_array_create(cx, &out[0], COLLET_F32, 2, both));
    assert_ok(cx, collet_array_create(cx, &out[1], COLLET_BOOL, 2, both));
    const collet_array *ins[8] = {in[0], in[1]};
    collet_evaluate_params p = params_of(&valid);
    assert_ok(cx, collet_call(cx, COLLET_OP_EVALUATE, out, ins, &p));
    assert_ok(cx, collet_array_read(cx, out[0], got, sizeof got));
    assert_ok(cx, collet_array_read(cx, out[1], less, sizeof less));
    assert_memory_equal(got, y, sizeof y);
    assert_memory_equal(less, z, sizeof z);
    ins[2] = in[0];
    assert_status(cx, collet_call(cx, COLLET_OP_EVALUATE, out, ins, &p), COLLET_INVALID,
                  "input 2 is given; the program has 2 inputs");
    for (int i = 0; i < 2; i++) {
        collet_array_destroy(in[i]);
        collet_array_destroy(out[i]);
    }
}

/* The arrays in `program` have longer elements, as in a caller that was compiled against a later version. */
TEST(longer_elements)
{
    struct {
        collet_step known;
        uint64_t more;
    } longer[3];
    struct {
        collet_scalar known;
        uint64_t more;
    } constant = {.known = half};
    OWNED(world) w = open_world(OPENMP_PLUGIN ":" SCALAR_PLUGIN, NULL, NULL);
    collet_array *a = floats(w.cx, 3, 1), *b = floats(w.cx, 3, 2),
                 *out[4] = {empty_floats(w.cx, 3)};
    const collet_array *ins[8] = {a, b};
    collet_program p = valid;
    collet_evaluate_params params = params_of(&p);
    memset(longer, 0, sizeof longer);
    for (int k = 0; k < 3; k++)
        longer[k].known = steps[k];
    p.n_out = 1;
    p.steps = &longer->known;
    p.step_size = sizeof *longer;
    p.constant_size = sizeof constant;
    params.constants = &constant.known;
    for (int k = 0; k < 2; k++) {
        assert_ok(w.cx, collet_set_backend(w.cx, k ? "cpu_openmp" : "cpu_scalar"));
        assert_ok(w.cx, collet_call(w.cx, COLLET_OP_EVALUATE, out, ins, &params));
        assert_floats(w.cx, out[0], (const float[]){2.5f, 6.5f, 12.5f});
    }
    constant.more = 1;
    assert_status(w.cx, collet_call(w.cx, COLLET_OP_EVALUATE, out, ins, &params), COLLET_INVALID,
                  "constant_size: byte 24 of a struct is not 0");
    longer[1].more = 1;
    assert_status(w.cx, collet_call(w.cx, COLLET_OP_EVALUATE, out, ins, &params), COLLET_INVALID,
                  "step_size: byte 16 of a struct is not 0");
    collet_array_destroy(a);
    collet_array_destroy(b);
    collet_array_destroy(out[0]);
}

TEST(a_reduction_at_the_end)
{
    const int64_t shape[] = {2, 3}, three = 3;
    const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 1, 2};
    collet_array *in[2], *out[4] = {NULL};
    assert_ok(cx, collet_array_from(cx, &in[0], COLLET_F32, 2, shape, a));
    assert_ok(cx, collet_array_from(cx, &in[1], COLLET_F32, 1, &three, b));
    out[0] = empty_floats(cx, 2);
    collet_program sum = valid;
    sum.n_out = 1;
    sum.reduce = COLLET_OP_SUM;
    collet_evaluate_params p = params_of(&sum);
    p.axes = 2;
    const collet_array *ins[8] = {in[0], in[1]};
    assert_ok(cx, collet_call(cx, COLLET_OP_EVALUATE, out, ins, &p));
    float got[2];
    assert_ok(cx, collet_array_read(cx, out[0], got, sizeof got));
    assert_true(got[0] == 10.5f && got[1] == 22.5f);
    collet_array_spec specs[8] = {{COLLET_F32, 2, {2, 3}}, {COLLET_F32, 1, {3}}}, o[4];
    for (int i = 2; i < 8; i++)
        specs[i].ndim = COLLET_ABSENT;
    for (int i = 0; i < 4; i++)
        o[i] = (collet_array_spec){.ndim = i ? COLLET_ABSENT : COLLET_INFER};
    p.keepdims = 1;
    sum.reduce = COLLET_OP_ARGMAX;
    assert_int_equal(collet_ops_infer(rt, COLLET_OP_EVALUATE, o, specs, sizeof *o, &p, NULL),
                     COLLET_OK);
    assert_true(o[0].dtype == COLLET_I64 && o[0].ndim == 2 && o[0].shape[1] == 1);
    for (int i = 0; i < 2; i++)
        collet_array_destroy(in[i]);
    collet_array_destroy(out[0]);
}

/* First the output is also an input. Then the two outputs are the two inputs in swapped order. */
TEST(outputs_are_inputs)
{
    collet_array *a = floats(cx, 3, 1), *b = floats(cx, 3, 5), *out[4] = {b, a};
    static const collet_step copies[] = {{.op = COLLET_OP_COPY, .dtype = COLLET_F32, .in = {0}},
                                         {.op = COLLET_OP_COPY, .dtype = COLLET_F32, .in = {1}}};
    const uint16_t outs[] = {2, 3};
    const collet_program swap = {.struct_size = sizeof swap,
                                 .n_in = 2,
                                 .n_steps = 2,
                                 .n_out = 2,
                                 .step_size = sizeof *copies,
                                 .constant_size = sizeof(collet_scalar),
                                 .dtypes = dtypes,
                                 .steps = copies,
                                 .outs = outs};
    collet_evaluate_params p = params_of(&swap);
    const collet_array *ins[8] = {a, b};
    assert_ok(cx, collet_call(cx, COLLET_OP_EVALUATE, out, ins, &p));
    assert_floats(cx, a, (const float[]){5, 6, 7});
    assert_floats(cx, b, (const float[]){1, 2, 3});
    collet_array_destroy(a);
    collet_array_destroy(b);
}

/* A damaged program is refused with `status`, and the error text contains `part`. */
static void refused(const collet_program *p, collet_status status, const char *part)
{
    collet_array_spec in[8] = {{COLLET_F32, 1, {3}}, {COLLET_F32, 1, {3}}}, out[4];
    collet_evaluate_params params = params_of(p);
    collet_error err;
    for (int i = 2; i < 8; i++)
        in[i].ndim = COLLET_ABSENT;
    for (int i = 0; i < 4; i++)
        out[i] = (collet_array_spec){.ndim = i < 2 ? COLLET_INFER : COLLET_ABSENT};
    assert_int_equal(collet_ops_infer(rt, COLLET_OP_EVALUATE, out, in, sizeof *out, &params, &err),
                     status);
    assert_contains(err.text, part);
}

/* A parameter block whose struct_size ends within the pointer `program`, or before it. */
TEST(a_shorter_block)
{
    collet_array *a = floats(cx, 3, 1), *out[4] = {a};
    const collet_array *ins[8] = {a, a};
    collet_evaluate_params p = params_of(&valid);
    p.struct_size = (uint32_t)offsetof(collet_evaluate_params, program) + 2;
    assert_status(cx, collet_call(cx, COLLET_OP_EVALUATE, out, ins, &p), COLLET_INVALID,
                  "within the field 'program'");
    p.struct_size = (uint32_t)offsetof(collet_evaluate_params, program);
    assert_status(cx, collet_call(cx, COLLET_OP_EVALUATE, out, ins, &p), COLLET_INVALID,
                  "program is NULL");
    collet_array_destroy(a);
}

/* `valid` with changes is refused. `other` is a copy of its steps. */
#define WITH(status, part, ...)                                                                    \
    do {                                                                                           \
        collet_program p = valid;                                                                  \
        memcpy(other, steps, sizeof steps);                                                        \
        __VA_ARGS__;                                                                               \
        refused(&p, status, part);                                                                 \
    } while (0)

static collet_step sum_of(uint16_t value)
{
    return (collet_step){.op = COLLET_OP_SUM, .dtype = COLLET_F32, .in = {value}};
}

TEST(damaged_programs)
{
    collet_step other[3];
    uint16_t outs[2] = {4, 6};
    collet_dtype types[3] = {COLLET_F32, COLLET_F32, 99};
    refused(NULL, COLLET_INVALID, "program is NULL");
    WITH(COLLET_INVALID, "struct_size", p.struct_size = 8);
    WITH(COLLET_INVALID, "evaluate: step_size is 8; set it to the size of an element",
         p.step_size = 8);
    WITH(COLLET_INVALID, "step_size is 0", p.step_size = 0);
    WITH(COLLET_INVALID, "constant_size is 28", p.constant_size = 28);
    WITH(COLLET_INVALID, "at most 8, 1024", p.n_in = 9);
    WITH(COLLET_INVALID, "at most 8, 1024", p.n_out = 0);
    WITH(COLLET_INVALID, "is NULL", p.steps = NULL);
    WITH(COLLET_INVALID, "not a reduction", p.reduce = COLLET_OP_ADD);
    WITH(COLLET_INVALID, "value 4; there are 4", p.steps = other; other[1].in[0] = 4);
    WITH(COLLET_INVALID, "has the op 32", p.steps = other; other[1].op = COLLET_OP_MATMUL);
    WITH(COLLET_INVALID, "reserved of step 1", p.steps = other; other[1].reserved = 1);
    WITH(COLLET_INVALID, "in[2] of step 0 is 513, but its op takes 2 operands", p.steps = other;
         other[0].in[2] = 513);
    WITH(COLLET_DTYPE, "step 1, add of f32, cannot give f64", p.steps = other;
         other[1].dtype = COLLET_F64);
    WITH(COLLET_DTYPE, "step 0, bitwise_and of f32", p.steps = other;
         other[0].op = COLLET_OP_BITWISE_AND);
    WITH(COLLET_DTYPE, "step 2, copy of c64, cannot give f32", p.n_steps = 3; p.steps = other;
         other[1] = (collet_step){.op = COLLET_OP_COPY, .dtype = COLLET_C64, .in = {3}};
         other[2] = (collet_step){.op = COLLET_OP_COPY, .dtype = COLLET_F32, .in = {4}});
    WITH(COLLET_INVALID, "output 1 is the value 6", p.outs = outs);
    WITH(COLLET_INVALID, "output 0 is an input", p.outs = outs; outs[0] = 1);
    WITH(COLLET_INVALID, "dtype 2 of the program is 99", p.dtypes = types);
    WITH(COLLET_INVALID, "input 1 is given", p.n_in = 1; p.n_constants = 2);
    WITH(COLLET_DTYPE, "does not take bool", p.reduce = COLLET_OP_MIN);
}

TEST(damaged_programs_that_reduce_rows)
{
    collet_step other[3];
    WITH(COLLET_INVALID, "reserved of the program is not 0", p.reserved = 1);
    WITH(COLLET_INVALID, "both `reduce` and 1 steps that reduce", p.reduce = COLLET_OP_SUM; p.n_reductions = 1);
    WITH(COLLET_INVALID, "n_reductions of the program is 1, but 0", p.n_reductions = 1);
    WITH(COLLET_INVALID, "n_reductions must count", p.steps = other; other[1] = sum_of(0));
    WITH(COLLET_INVALID, "step 1 reduces a constant", p.n_reductions = 1; p.steps = other; other[1] = sum_of(2));
    WITH(COLLET_INVALID, "step 1 reduces a value with one element per row", p.n_reductions = 2; p.steps = other;
         other[0] = sum_of(0); other[1] = sum_of(3));
    WITH(COLLET_DTYPE, "step 1, sum of f32, cannot give i8", p.n_reductions = 1; p.steps = other; other[1] = sum_of(0);
         other[1].dtype = COLLET_I8);
    WITH(COLLET_INVALID, "in[1] of step 1, the correction of var", p.n_reductions = 1; p.steps = other;
         other[1] = sum_of(0); other[1].op = COLLET_OP_VAR; other[1].in[1] = 2);
}

TEST_GROUP(set_up_scalar, tear_down)

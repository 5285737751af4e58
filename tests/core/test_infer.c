/* SPDX-License-Identifier: Apache-2.0 */
/* collet_ops_infer: a call accepts exactly the outputs that collet_ops_infer returns. */

#include "common/fixture.h"
#include "common/op_call.h"

#define SPEC sizeof(collet_array_spec)

static collet_array_spec spec_of(collet_dtype dtype, int32_t ndim, int64_t a, int64_t b)
{
    return (collet_array_spec){.dtype = dtype, .ndim = ndim, .shape = {a, b}};
}

static collet_ops_info info_of(const char *name)
{
    collet_ops_info info = {.struct_size = sizeof info};
    for (size_t i = 0; collet_ops_at(rt, &info, i, NULL) == COLLET_OK; i++)
        if (!strcmp(info.name, name))
            return info;
    fail_msg("op %s not found", name);
    return info;
}

/* ---- Every op -------------------------------------------------------------------------------- */

static void same_spec(const op_call *c, uint32_t k, const collet_array_spec *got)
{
    const op_operand *o = &c->operand[k];
    if (got->dtype != o->dtype || got->ndim != o->ndim ||
        memcmp(got->shape, o->shape, (size_t)o->ndim * sizeof *o->shape) != 0)
        fail_msg("%s (%s): output %u is inferred as %s with %d axes", c->info.name, c->sig, k,
                 collet_dtype_name(got->dtype), got->ndim);
}

/* Infers the shapes of outputs whose dtypes are given, then checks complete outputs. Ops without inputs
 * have no shape to infer. */
static void infer_one(const op_call *c)
{
    collet_array_spec outs[COLLET_MAX_OPERANDS];
    collet_error err;
    collet_status status = op_call_infer(c, outs, &err);
    if (!c->info.n_in) {
        assert_int_equal(status, COLLET_SHAPE);
        return;
    }
    if (status != COLLET_OK)
        fail_msg("%s (%s): %s", c->info.name, c->sig, err.text);
    for (uint32_t k = 0; k < c->info.n_out; k++)
        same_spec(c, k, &outs[k]);
    assert_int_equal(op_call_infer_given(c, &err), COLLET_OK);
}

TEST(shapes_are_those_of_calls)
{
    static const char letters[] = {0, '.', 'F', 'K', 'M', 'N', 'R', 'a'};
    int tried = 0;
    for (size_t i = 0; i < op_call_count(rt); i++)
        for (size_t l = 0; l < sizeof letters; l++)
            for (int sig = 0; sig < 24; sig++) {
                op_call c;
                if (!op_call_describe(&c, rt, i, sig, letters[l]))
                    break;
                infer_one(&c);
                tried++;
            }
    assert_true(tried > 500);
}

/* A call accepts arrays of the inferred shapes and dtypes. */
TEST(calls_accept_what_is_inferred)
{
    for (size_t i = 0; i < op_call_count(rt); i++)
        for (int sig = 0; sig < 24; sig++) {
            collet_array_spec outs[COLLET_MAX_OPERANDS];
            collet_error err;
            op_call c;
            if (!op_call_describe(&c, rt, i, sig, 0))
                break;
            if (!c.info.n_in)
                continue;
            for (uint32_t k = 0; k < c.info.n_out; k++)
                c.operand[k].dtype = COLLET_DTYPE_NONE;
            if (op_call_infer(&c, outs, &err) == COLLET_INVALID)
                continue; /* an inverse transform whose first signature is complex */
            for (uint32_t k = 0; k < c.info.n_out; k++) {
                c.operand[k].dtype = outs[k].dtype;
                c.operand[k].ndim = outs[k].ndim;
                memcpy(c.operand[k].shape, outs[k].shape, sizeof outs[k].shape);
            }
            op_call_arrays(&c, cx);
            assert_ok(cx, op_call_run(&c, cx));
            op_call_free(&c);
        }
}

/* Operands of random shapes, mostly invalid: infer and call return the same status. */
TEST(infer_and_call_agree_on_random_shapes)
{
    uint32_t random = 1;
    int accepted = 0, refused = 0;
    for (int round = 0; round < 4000; round++) {
        collet_error err;
        op_call c;
        random = random * 1664525u + 1013904223u;
        size_t index = (random >> 16) % op_call_count(rt);
        assert_true(op_call_describe(&c, rt, index, 0, 0));
        for (int change = 0; change < 2; change++) {
            random = random * 1664525u + 1013904223u;
            op_operand *o = &c.operand[(random >> 8) % c.count];
            if (!o->ndim)
                continue;
            o->shape[(random >> 12) % (uint32_t)o->ndim] = (random >> 20) % 3;
            o->ndim -= (random >> 24) % 8 == 0;
        }
        collet_status inferred = op_call_infer_given(&c, &err);
        op_call_arrays(&c, cx);
        collet_status called = op_call_run(&c, cx);
        if (inferred != called)
            fail_msg("%s: infer returns %s, the call %s: %s %s", c.info.name,
                     collet_status_name(inferred), collet_status_name(called), err.text,
                     collet_last_error(cx));
        op_call_free(&c);
        accepted += called == COLLET_OK;
        refused += called != COLLET_OK;
    }
    assert_true(accepted > 200 && refused > 200);
}

/* ---- Single ops ------------------------------------------------------------------------------ */

TEST(broadcasting)
{
    const collet_array_spec ins[] = {spec_of(COLLET_F64, 2, 4, 1), spec_of(COLLET_F64, 1, 5, 0)};
    collet_array_spec out = {.ndim = COLLET_INFER};
    collet_error err;
    assert_int_equal(collet_ops_infer(rt, COLLET_OP_ADD, &out, ins, SPEC, NULL, &err), COLLET_OK);
    assert_int_equal(out.dtype, COLLET_F64);
    assert_int_equal(out.ndim, 2);
    assert_int_equal(out.shape[0], 4);
    assert_int_equal(out.shape[1], 5);
}

TEST(several_results)
{
    collet_fft_params fft = {.struct_size = sizeof fft, .last_axes = 1, .inverse = 1};
    collet_array_spec in = spec_of(COLLET_C64, 1, 4, 0), real = {COLLET_F32, COLLET_INFER, {0}};
    collet_error err;
    assert_int_equal(collet_ops_infer(rt, COLLET_OP_FFT, &real, &in, SPEC, &fft, &err), COLLET_OK);
    assert_int_equal(real.shape[0], 6);
    real.shape[0] = 7;
    assert_int_equal(collet_ops_infer(rt, COLLET_OP_FFT, &real, &in, SPEC, &fft, &err), COLLET_OK);
    assert_int_equal(real.shape[0], 7);

    collet_ternary_format_params t2 = {sizeof t2, COLLET_TERNARY_T2};
    collet_array_spec bytes = spec_of(COLLET_U8, 2, 3, 128);
    collet_array_spec outs[] = {
        {.ndim = COLLET_INFER}, {.ndim = COLLET_ABSENT}, {.ndim = COLLET_INFER}};
    assert_int_equal(collet_ops_infer(rt, COLLET_OP_TERNARY_UNPACK, outs, &bytes, SPEC, &t2, &err),
                     COLLET_OK);
    assert_int_equal(outs[0].dtype, COLLET_I8);
    assert_int_equal(outs[0].shape[1], 512);
    assert_int_equal(outs[1].ndim, COLLET_ABSENT);
    assert_int_equal(outs[2].ndim, 0);
}

/* An op without inputs takes its dtype from its value and its shape from the caller. */
TEST(nothing_to_infer_from)
{
    collet_fill_params fill = {.struct_size = sizeof fill, .value = {.dtype = COLLET_I32}};
    collet_array_spec out = {.ndim = COLLET_INFER};
    collet_error err;
    assert_error(collet_ops_infer(rt, COLLET_OP_FILL, &out, NULL, SPEC, &fill, &err), COLLET_SHAPE,
                 err, "do not determine");
    assert_int_equal(out.ndim, COLLET_INFER);
    out = spec_of(COLLET_DTYPE_NONE, 1, 5, 0);
    assert_int_equal(collet_ops_infer(rt, COLLET_OP_FILL, &out, NULL, SPEC, &fill, &err),
                     COLLET_OK);
    assert_int_equal(out.dtype, COLLET_I32);
    out = spec_of(COLLET_DTYPE_NONE, 1, 5, 0);
    collet_random_params seed = {.struct_size = sizeof seed};
    assert_int_equal(collet_ops_infer(rt, COLLET_OP_UNIFORM, &out, NULL, SPEC, &seed, &err),
                     COLLET_OK);
    assert_int_equal(out.dtype, COLLET_F32);
}

TEST(parameters_of_variates)
{
    const collet_array_spec none = {.ndim = COLLET_ABSENT}, real = spec_of(COLLET_F64, 1, 5, 0);
    collet_array_spec in[] = {real, none, none}, out = {.ndim = COLLET_INFER};
    collet_variate_params law = {.struct_size = sizeof law, .distribution = COLLET_VARIATE_POISSON};
    collet_error err;
    assert_int_equal(collet_ops_infer(rt, COLLET_OP_VARIATE, &out, in, SPEC, &law, &err), COLLET_OK);
    assert_int_equal(out.dtype, COLLET_F64);
    out = (collet_array_spec){.ndim = COLLET_INFER};
    law.distribution = COLLET_VARIATE_HYPERGEOMETRIC;
    in[1] = real;
    assert_error(collet_ops_infer(rt, COLLET_OP_VARIATE, &out, in, SPEC, &law, &err),
                 COLLET_INVALID, err, "variate: c is absent");
    law.distribution = COLLET_VARIATE_VONMISES + 1;
    assert_error(collet_ops_infer(rt, COLLET_OP_VARIATE, &out, in, SPEC, &law, &err),
                 COLLET_INVALID, err,
                 "variate: distribution is 9; it must be 0 (gamma) to 8 (vonmises)");
}

/* ---- Hostile input --------------------------------------------------------------------------- */

static void refuse(const collet_array_spec *ins, collet_array_spec out, collet_status status)
{
    collet_array_spec saved = out;
    collet_error err;
    collet_status got = collet_ops_infer(rt, COLLET_OP_MATMUL, &out, ins, SPEC, NULL, &err);
    if (got != status)
        fail_msg("%s, not %s", collet_status_name(got), collet_status_name(status));
    assert_memory_equal(&saved, &out, sizeof out);
    assert_contains(err.text, "matmul");
    assert_int_equal(collet_ops_infer(rt, COLLET_OP_MATMUL, &out, ins, SPEC, NULL, NULL), status);
}

TEST(hostile_input)
{
    const collet_array_spec open = {.ndim = COLLET_INFER}, valid = spec_of(COLLET_F32, 2, 3, 3);
    const int64_t large = INT64_MAX / 8;
    collet_array_spec out = open;
    refuse((collet_array_spec[]){valid, spec_of(COLLET_F32, COLLET_MAX_DIMS + 1, 3, 3)}, open,
           COLLET_INVALID);
    refuse((collet_array_spec[]){valid, spec_of(COLLET_F32, -3, 3, 3)}, open, COLLET_INVALID);
    refuse((collet_array_spec[]){valid, spec_of(COLLET_F32, COLLET_INFER, 3, 3)}, open,
           COLLET_INVALID);
    refuse((collet_array_spec[]){valid, spec_of(COLLET_F32, COLLET_ABSENT, 3, 3)}, open,
           COLLET_INVALID);
    refuse((collet_array_spec[]){valid, spec_of(COLLET_F32, 2, 3, -1)}, open, COLLET_INVALID);
    refuse((collet_array_spec[]){valid, spec_of(99, 2, 3, 3)}, open, COLLET_DTYPE);
    refuse((collet_array_spec[]){valid, spec_of(COLLET_DTYPE_NONE, 2, 3, 3)}, open, COLLET_DTYPE);
    refuse((collet_array_spec[]){valid, spec_of(COLLET_F64, 2, 3, 3)}, open, COLLET_DTYPE);
    refuse((collet_array_spec[]){valid, spec_of(COLLET_F32, 2, INT64_MAX, 3)}, open,
           COLLET_OVERFLOW);
    refuse(
        (collet_array_spec[]){spec_of(COLLET_F32, 2, large, 1), spec_of(COLLET_F32, 2, 1, large)},
        open, COLLET_OVERFLOW);
    refuse((collet_array_spec[]){valid, valid}, spec_of(COLLET_F32, 9, 3, 3), COLLET_INVALID);
    refuse((collet_array_spec[]){valid, valid}, spec_of(-1, 2, 3, 3), COLLET_DTYPE);
    refuse((collet_array_spec[]){valid, valid}, spec_of(COLLET_F32, COLLET_ABSENT, 3, 3),
           COLLET_INVALID);
    assert_int_equal(collet_ops_infer(rt, COLLET_OP_MATMUL, &out, NULL, SPEC, NULL, NULL),
                     COLLET_INVALID);
    assert_int_equal(collet_ops_infer(rt, COLLET_OP_MATMUL, NULL, &valid, SPEC, NULL, NULL),
                     COLLET_INVALID);
    assert_int_equal(collet_ops_infer(NULL, COLLET_OP_MATMUL, &out, &valid, SPEC, NULL, NULL),
                     COLLET_INVALID);
    assert_int_equal(collet_ops_infer(rt, 0, &out, &valid, SPEC, NULL, NULL), COLLET_NOT_FOUND);
    assert_int_equal(collet_ops_infer(rt, 0x80000000u, &out, &valid, SPEC, NULL, NULL),
                     COLLET_NOT_FOUND);
    assert_int_equal(collet_ops_infer(rt, UINT32_MAX, &out, &valid, SPEC, NULL, NULL),
                     COLLET_NOT_FOUND);
}

/* The number of broadcast axes plus the number of the op's own axes exceeds COLLET_MAX_DIMS. */
TEST(too_many_axes)
{
    collet_array_spec ins[] = {spec_of(COLLET_F32, 2, 3, 3), spec_of(COLLET_F32, 7, 1, 1)};
    collet_array_spec out = {.ndim = COLLET_INFER};
    collet_error err;
    for (int i = 2; i < 8; i++)
        ins[1].shape[i] = 3;
    assert_int_equal(collet_ops_infer(rt, COLLET_OP_MATVEC, &out, ins, SPEC, NULL, &err),
                     COLLET_OK);
    assert_int_equal(out.ndim, 7);
    out = (collet_array_spec){.ndim = COLLET_INFER};
    ins[1].ndim = 8;
    assert_int_equal(collet_ops_infer(rt, COLLET_OP_MATVEC, &out, ins, SPEC, NULL, &err),
                     COLLET_SHAPE);
    assert_int_equal(out.ndim, COLLET_INFER);
    ins[0] = ins[1];
    assert_int_equal(collet_ops_infer(rt, COLLET_OP_ADD, &out, ins, SPEC, NULL, &err), COLLET_OK);
    assert_int_equal(out.ndim, 8);
}

/* If an output needs an input that is absent, the output must be absent too. */
TEST(observables_without_velocities)
{
    const collet_array_spec r = {.dtype = COLLET_F64, .ndim = 3, .shape = {2, 5, 3}};
    const collet_array_spec absent = {.ndim = COLLET_ABSENT}, open = {.ndim = COLLET_INFER};
    collet_array_spec ins[5] = {r, spec_of(COLLET_F64, 1, 5, 0), absent, absent, absent};
    collet_error err;
    for (int i = 2; i < 5; i++) {
        collet_array_spec outs[5] = {open, open, absent, absent, absent};
        outs[i] = open;
        assert_error(collet_ops_infer(rt, COLLET_OP_OBSERVABLES, outs, ins, SPEC, NULL, &err),
                     COLLET_INVALID, err, i == 3 ? "without forces" : "without velocities");
        outs[i] = absent;
        assert_int_equal(collet_ops_infer(rt, COLLET_OP_OBSERVABLES, outs, ins, SPEC, NULL, &err),
                         COLLET_OK);
    }
}

static void check_shape(const collet_array_spec *spec, int32_t ndim, const int64_t *shape)
{
    assert_int_equal(spec->ndim, ndim);
    assert_memory_equal(spec->shape, shape, (size_t)ndim * sizeof *shape);
}

/* If an input has B + 1 offsets or an axis of B bodies, the outputs have an axis of bodies. */
TEST(bodies_of_frames)
{
    const collet_array_spec r = {.dtype = COLLET_F64, .ndim = 3, .shape = {2, 5, 3}};
    const collet_array_spec absent = {.ndim = COLLET_ABSENT}, open = {.ndim = COLLET_INFER};
    collet_array_spec ins[5] = {r, spec_of(COLLET_F64, 2, 2, 5), absent, absent,
                                spec_of(COLLET_I64, 1, 8, 0)};
    collet_array_spec outs[5] = {open, open, absent, absent, absent};
    collet_error err;
    assert_int_equal(collet_ops_infer(rt, COLLET_OP_OBSERVABLES, outs, ins, SPEC, NULL, &err),
                     COLLET_OK);
    check_shape(&outs[0], 3, (const int64_t[]){2, 7, 3});
    check_shape(&outs[1], 4, (const int64_t[]){2, 7, 3, 3});
    outs[1].shape[1] = 6;
    assert_int_equal(collet_ops_infer(rt, COLLET_OP_OBSERVABLES, outs, ins, SPEC, NULL, &err),
                     COLLET_SHAPE);
    ins[4] = absent;
    outs[1] = open;
    assert_error(collet_ops_infer(rt, COLLET_OP_OBSERVABLES, outs, ins, SPEC, NULL, &err),
                 COLLET_SHAPE, err, "no axis of bodies");
    ins[4] = spec_of(COLLET_I64, 1, 0, 0);
    outs[0] = open;
    assert_error(collet_ops_infer(rt, COLLET_OP_OBSERVABLES, outs, ins, SPEC, NULL, &err),
                 COLLET_SHAPE, err, "offsets is empty");
    ins[0] = (collet_array_spec){.dtype = COLLET_F64, .ndim = 4, .shape = {2, 4, 3, 3}};
    ins[1] = (collet_array_spec){.dtype = COLLET_F64, .ndim = 3, .shape = {4, 3, 3}};
    outs[0] = outs[1] = open;
    assert_int_equal(collet_ops_infer(rt, COLLET_OP_PRINCIPAL_AXES, outs, ins, SPEC, NULL, &err),
                     COLLET_OK);
    check_shape(&outs[0], 3, (const int64_t[]){2, 4, 3});
    ins[1] = spec_of(COLLET_F64, 2, 3, 3);
    assert_int_equal(collet_ops_infer(rt, COLLET_OP_PRINCIPAL_AXES, outs, ins, SPEC, NULL, &err),
                     COLLET_SHAPE);
}

/* ---- Descriptions ---------------------------------------------------------------------------- */

/* Every byte of a parameter block belongs to struct_size, a described field, a reserved field or
 * padding. The names of its fields differ. */
TEST(fields_are_described)
{
    int fields = 0;
    for (size_t i = 0; i < collet_ops_count(rt); i++) {
        collet_ops_info info = {.struct_size = sizeof info};
        assert_int_equal(collet_ops_at(rt, &info, i, NULL), COLLET_OK);
        assert_true((*info.measure || info.id == COLLET_OP_EVALUATE) && *info.summary);
        assert_int_equal(info.params_size != 0, info.field_count != 0);
        assert_int_equal(info.operand_size, sizeof *info.operands);
        assert_int_equal(info.field_size, sizeof *info.fields);
        for (uint32_t k = 0; k < info.field_count; k++, fields++) {
            const collet_ops_field *f = &info.fields[k];
            assert_true(f->offset >= sizeof(uint32_t) && f->offset + f->size <= info.params_size);
            for (uint32_t n = 0; n < k; n++)
                assert_true(f->offset >= info.fields[n].offset + info.fields[n].size);
        }
    }
    assert_true(fields > 15);
}

TEST(a_description_in_full)
{
    const collet_ops_info transpose = info_of("transpose"), rmsd = info_of("rmsd");
    assert_string_equal(transpose.operands[1].name, "a");
    assert_int_equal(transpose.operands[1].pattern[0].any, 1);
    assert_string_equal(transpose.fields[1].name, "perm");
    assert_int_equal(transpose.fields[1].kind, COLLET_FIELD_PERMUTATION);
    assert_int_equal(transpose.fields[1].dtype, COLLET_I32);
    assert_int_equal(transpose.fields[1].offset, offsetof(collet_transpose_params, perm));
    assert_int_equal(transpose.fields[1].size, COLLET_MAX_DIMS * sizeof(int32_t));
    assert_string_equal(rmsd.operands[3].name, "weights");
    assert_int_equal(rmsd.operands[3].optional, 1);
    assert_int_equal(rmsd.operands[2].optional, 0);
    assert_int_equal(rmsd.operands[1].pattern[0].axes[0].letter, 'F');
    assert_int_equal(rmsd.operands[1].pattern[0].axes[1].extent, 3);
}

static size_t signatures(const char *name)
{
    collet_dtype dtypes[COLLET_MAX_OPERANDS];
    size_t count = 0;
    while (collet_ops_signature(rt, info_of(name).id, dtypes, count, NULL) == COLLET_OK)
        count++;
    return count;
}

TEST(signatures_are_enumerated)
{
    collet_dtype dtypes[COLLET_MAX_OPERANDS];
    uint32_t types = COLLET_DTYPE_COUNT - 1, reals = types - 2;
    assert_int_equal(signatures("copy"), reals * reals + 2 * reals + 6); /* to c64, c128, bool */
    assert_int_equal(signatures("fill"), types);
    assert_int_equal(signatures("transpose"), types);
    assert_int_equal(signatures("axpy"), 2);
    assert_int_equal(signatures("matmul"), 9);
    assert_int_equal(collet_ops_signature(rt, COLLET_OP_MATMUL, dtypes, 6, NULL), COLLET_OK);
    assert_int_equal(dtypes[0], COLLET_I32);
    assert_int_equal(dtypes[1], COLLET_I8);
    assert_int_equal(collet_ops_signature(rt, COLLET_OP_MATMUL, NULL, 6, NULL), COLLET_INVALID);
    assert_int_equal(collet_ops_signature(rt, 0, dtypes, 0, NULL), COLLET_NOT_FOUND);
}

TEST(an_op_is_described_by_its_id)
{
    for (size_t i = 0; i < collet_ops_count(rt); i++) {
        collet_ops_info at = {.struct_size = sizeof at}, by_id = {.struct_size = sizeof by_id};
        assert_int_equal(collet_ops_at(rt, &at, i, NULL), COLLET_OK);
        assert_int_equal(collet_ops_describe(rt, at.id, &by_id, NULL), COLLET_OK);
        assert_string_equal(by_id.name, at.name);
        assert_int_equal(by_id.field_count, at.field_count);
    }
    collet_ops_info none = {.struct_size = sizeof none};
    assert_int_equal(collet_ops_describe(rt, 255, &none, NULL), COLLET_NOT_FOUND);
    assert_int_equal(collet_ops_describe(rt, 1, NULL, NULL), COLLET_INVALID);
}

/* ---- Ops by name ----------------------------------------------------------------------------- */

TEST(unknown_ops_get_a_suggestion)
{
    collet_error err;
    uint32_t id = 0;
    assert_int_equal(collet_ops_find(rt, &id, "matmul", &err), COLLET_OK);
    assert_int_equal(id, COLLET_OP_MATMUL);
    assert_int_equal(collet_ops_find(rt, &id, "matmull", &err), COLLET_NOT_FOUND);
    assert_string_equal(err.text, "there is no op 'matmull'; the nearest is matmul");
    assert_int_equal(collet_ops_find(rt, &id, "determinant", &err), COLLET_NOT_FOUND);
    assert_string_equal(err.text, "there is no op 'determinant'");
    assert_int_equal(collet_ops_find(rt, &id, "remote.nothing", NULL), COLLET_NOT_FOUND);
    assert_int_equal(collet_ops_find(rt, &id, NULL, &err), COLLET_INVALID);
}

TEST(defaults_fill_a_parameter_block)
{
    collet_error err;
    collet_reduce_params reduce;
    collet_transpose_params transpose;
    collet_fft_params fft;
    collet_axpy_params axpy;
    memset(&reduce, 0xff, sizeof reduce);
    memset(&transpose, 0xff, sizeof transpose);
    memset(&axpy, 0xff, sizeof axpy);
#define DEFAULTS(id, ndim, params)                                                                 \
    assert_int_equal(collet_ops_defaults(rt, id, &(params), sizeof(params), ndim, &err), COLLET_OK)
    DEFAULTS(COLLET_OP_SUM, 3, reduce);
    assert_int_equal(reduce.struct_size, sizeof reduce);
    assert_int_equal(reduce.axes, 7);
    assert_int_equal(reduce.keepdims, 0);
    assert_int_equal(reduce.reserved, 0);
    DEFAULTS(COLLET_OP_TRANSPOSE, 3, transpose);
    assert_int_equal(transpose.ndim, 3);
    assert_memory_equal(transpose.perm, ((int32_t[COLLET_MAX_DIMS]){2, 1, 0}),
                        sizeof transpose.perm);
    DEFAULTS(COLLET_OP_FFT, 3, fft);
    assert_int_equal(fft.last_axes, 1);
    DEFAULTS(COLLET_OP_AXPY, 1, axpy);
    assert_int_equal(axpy.alpha.dtype, COLLET_DTYPE_NONE);
    DEFAULTS(COLLET_OP_ADD, 1, reduce); /* no parameters: nothing is written */
    assert_int_equal(reduce.axes, 7);
    assert_int_equal(collet_ops_defaults(rt, COLLET_OP_SUM, &reduce, 4, 3, &err), COLLET_INVALID);
    assert_int_equal(collet_ops_defaults(rt, COLLET_OP_SUM, &reduce, 64, 9, &err), COLLET_INVALID);
    assert_int_equal(collet_ops_defaults(rt, 255, &reduce, 64, 1, &err), COLLET_NOT_FOUND);
}

/* The typed wrapper of argmax. */
TEST(argmax_over_an_axis)
{
    const int64_t shape[] = {2, 3};
    const float values[] = {1, 9, 2, 8, 4, 8};
    OWNED(collet_array) *a = NULL, *out = NULL;
    int64_t found[2] = {-1, -1};
    assert_int_equal(collet_array_from(cx, &a, COLLET_F32, 2, shape, values), COLLET_OK);
    assert_int_equal(collet_array_create(cx, &out, COLLET_I64, 1, shape), COLLET_OK);
    assert_int_equal(collet_op_argmax(cx, out, a, (const int32_t[]){-1}, 1, 0), COLLET_OK);
    assert_int_equal(collet_array_read(cx, out, found, sizeof found), COLLET_OK);
    assert_int_equal(found[0], 1);
    assert_int_equal(found[1], 0);
}

/* Asserts that the op's operands have these names. `outs` and `ins` come from COLLET_CALL rows: the operands
 * there are the parameters of the typed call. */
static void same_operands(const char *op, const char *outs, const char *ins)
{
    collet_ops_info info = info_of(op);
    char names[512] = "";
    for (uint32_t k = 0; k < info.n_out + info.n_in; k++) {
        strcat(names, k == 0 ? "(" : k == info.n_out ? ")(" : ", ");
        strcat(names, info.operands[k].name);
    }
    strcat(names, ")");
    char row[512];
    snprintf(row, sizeof row, "%s%s", outs, ins);
    assert_string_equal(names, row);
}

TEST(typed_calls_have_the_operands_of_the_op)
{
#define TEXT(list) #list
#define TEXT_OF(list) TEXT(list)
#define COLLET_CALL(NAME, name, outs, ins) same_operands(#name, TEXT_OF(outs), TEXT_OF(ins));
#define COLLET_CALL_PARAMS(NAME, name, outs, ins, type) COLLET_CALL(NAME, name, outs, ins)
#include <collet/ops.def>
}

/* Specs of a program that was compiled against a later version. */
TEST(longer_specs)
{
    struct {
        collet_array_spec known;
        uint64_t more;
    } in[2] = {{spec_of(COLLET_F32, 2, 4, 1), 0}, {spec_of(COLLET_F32, 1, 5, 0), 0}},
      out = {{.ndim = COLLET_INFER}, 0};
    collet_error err;
    assert_int_equal(
        collet_ops_infer(rt, COLLET_OP_ADD, &out.known, &in->known, sizeof *in, NULL, &err),
        COLLET_OK);
    assert_true(out.known.ndim == 2 && out.known.shape[0] == 4 && out.known.shape[1] == 5 &&
                !out.more);
    in[1].more = 1;
    assert_error(
        collet_ops_infer(rt, COLLET_OP_ADD, &out.known, &in->known, sizeof *in, NULL, &err),
        COLLET_INVALID, err, "collet_ops_infer: spec_size: byte 72 of a struct is not 0");
    assert_error(collet_ops_infer(rt, COLLET_OP_ADD, &out.known, &in->known, SPEC - 8, NULL, &err),
                 COLLET_INVALID, err,
                 "spec_size is 64; set it to the size of an element, which has 72 bytes");

    OWNED(collet_expression) *e = NULL;
    const collet_argument x = {.name = "x", .spec = &in->known};
    assert_int_equal(collet_expression_parse(&e, "x + 1; sqrt(x)", &err), COLLET_OK);
    assert_int_equal(collet_expression_infer(e, &in[0].known, SPEC + 4, &x, 1, &err),
                     COLLET_INVALID);
    in[1] = in[0];
    assert_int_equal(collet_expression_infer(e, &in->known, sizeof *in, &x, 1, &err), COLLET_OK);
    assert_true(in[1].known.ndim == 2 && in[1].known.shape[0] == 4 && !in[1].more);
}

TEST_GROUP(set_up_scalar, tear_down)

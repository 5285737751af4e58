/* SPDX-License-Identifier: Apache-2.0 */

#include "op_call.h"

#define LETTER_OF(name, id, size, text, letter, ...) [id] = letter,
static const char letter_of[COLLET_DTYPE_COUNT] = {COLLET_DTYPE_LIST(LETTER_OF)};

static const int64_t dots[] = {2, 3}; /* the axes of "..." */

static int is_complex(collet_dtype d)
{
    return d == COLLET_C64 || d == COLLET_C128;
}

/* ---- Signatures ------------------------------------------------------------------------------ */

int op_call_accepts(const op_call *c)
{
    collet_dtype dtypes[COLLET_MAX_OPERANDS];
    for (size_t i = 0; collet_ops_signature(c->runtime, c->info.id, dtypes, i, NULL) == COLLET_OK;
         i++) {
        uint32_t k = 0;
        while (k < c->count && dtypes[k] == c->operand[k].dtype)
            k++;
        if (k == c->count)
            return 1;
    }
    return 0;
}

/* Whether the signature `dtypes` counts. If an operand accepts any real dtype, f32 counts and the other real dtypes do
 * not. */
static int is_counted(const op_call *c, const collet_dtype *dtypes)
{
    const char *letter = c->info.sigs;
    for (uint32_t k = 0; k < c->count; k++, letter++) {
        letter += *letter == ':';
        if ((*letter == '*' || *letter == '=') && dtypes[k] != COLLET_F32 && !is_complex(dtypes[k]))
            return 0;
    }
    return 1;
}

static int take_sig(op_call *c, int sig)
{
    collet_dtype dtypes[COLLET_MAX_OPERANDS];
    char *at = c->sig;
    for (size_t i = 0;; i++) {
        if (collet_ops_signature(c->runtime, c->info.id, dtypes, i, NULL) != COLLET_OK)
            return 0;
        if (is_counted(c, dtypes) && !sig--)
            break;
    }
    for (uint32_t k = 0; k < c->count; k++) {
        if (k == c->info.n_out)
            *at++ = ':';
        *at++ = letter_of[dtypes[k]];
        c->operand[k].dtype = dtypes[k];
    }
    return 1;
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static const collet_ops_field *field_at(const op_call *c, uint32_t k)
{
    const char *first = (const char *)c->info.fields;
    return (const collet_ops_field *)(const void *)(first + (size_t)k * c->info.field_size);
}

static void set_u32(op_call *c, const collet_ops_field *f, uint32_t index, uint32_t value)
{
    memcpy(c->params.bytes + f->offset + index * sizeof value, &value, sizeof value);
}

/* Sets parameters for inputs with the axes a and b. Reductions and shifts are over b; a permutation
 * swaps a and b. */
static void take_params(op_call *c)
{
    static const collet_scalar half = {.dtype = COLLET_F64, .value.f64 = 0.5};
    assert_true(c->info.params_size <= sizeof c->params);
    c->params.struct_size = c->info.params_size;
    for (uint32_t k = 0; k < c->info.field_count; k++) {
        const collet_ops_field *f = field_at(c, k);
        if (f->kind == COLLET_FIELD_SCALAR)
            memcpy(c->params.bytes + f->offset, &half, sizeof half);
        else if (f->kind == COLLET_FIELD_AXES || f->kind == COLLET_FIELD_RANK)
            set_u32(c, f, 0, 2);
        else if (f->kind == COLLET_FIELD_PERMUTATION)
            set_u32(c, f, 0, 1);
        else if (f->dtype == COLLET_U32)
            set_u32(c, f, 0, (uint32_t)f->default_value);
    }
    /* These values permit every optional operand. */
    if (c->info.id == COLLET_OP_TERNARY_QUANTIZE)
        c->params.quantize.mode = COLLET_TERNARY_ABSMEAN;
    if (c->info.id == COLLET_OP_TERNARY_PACK || c->info.id == COLLET_OP_TERNARY_UNPACK)
        c->params.format.format = COLLET_TERNARY_TQ2_0;
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

/* Number of weights in a block. The block's size in bytes depends on the format of `c`. */
#define WEIGHTS 256

static int is_ternary(const op_call *c)
{
    return !strcmp(c->info.family, "ternary");
}

/* K weights take B bytes and form G groups. If one of K, B and G is 0, all three are. */
static int64_t ternary_extent(const op_call *c, char letter, char empty)
{
    int has_format = c->info.params_size == sizeof c->params.format;
    uint32_t format = has_format ? c->params.format.format : COLLET_TERNARY_T2;
    int64_t weights = empty && strchr("KBG", empty) ? 0 : WEIGHTS;
    /* The K of a packed x counts bytes. */
    int packed = letter == 'K' && c->count > 2 && c->operand[2].dtype == COLLET_U8;
    return letter == 'G'             ? weights / WEIGHTS
           : letter == 'B' || packed ? collet_ternary_bytes(format, weights)
                                     : weights;
}

/* B bodies have O = B + 1 offsets. */
static int has_offsets(const op_call *c)
{
    return !strcmp(c->info.operands[c->count - 1].name, "offsets");
}

static int64_t extent_of(const op_call *c, char letter, char empty)
{
    /* The inferred output is as long as the mask. */
    if (c->info.id == COLLET_OP_COMPRESS && letter == 'K')
        letter = 'N';
    if (is_ternary(c) && strchr("KBG", letter))
        return ternary_extent(c, letter, empty);
    /* H is the half spectrum of X pixels. If one of X and H is 0, both are. */
    if (letter == 'H' && !strcmp(c->info.family, "scatter"))
        return empty && strchr("XH", empty) ? 0 : extent_of(c, 'X', 0) / 2 + 1;
    if (letter == 'X' && empty == 'H')
        return 0;
    if (has_offsets(c) && strchr("BO", letter))
        return (letter == 'O') + (empty && strchr("BO", empty) ? 0 : 3);
    return letter == empty ? 0 : 3 + letter % 3;
}

static void add_axis(op_operand *o, int64_t extent, char axis)
{
    o->axis[o->ndim] = axis;
    o->shape[o->ndim++] = extent;
}

static void take_pattern(op_call *c, uint32_t k, char empty)
{
    const collet_ops_pattern *p = &c->info.operands[k].pattern[has_offsets(c) && k < c->info.n_out];
    op_operand *o = &c->operand[k];
    o->optional = c->info.operands[k].optional;
    if (p->dots) {
        add_axis(o, empty == '.' ? 0 : dots[0], '.');
        add_axis(o, dots[1], '.');
    }
    for (int32_t i = 0; i < p->ndim; i++) {
        char letter = (char)p->axes[i].letter, other = (char)p->axes[i].other;
        int64_t a = extent_of(c, letter, empty), b = other ? extent_of(c, other, empty) : a;
        add_axis(o, letter ? (a < b ? a : b) : p->axes[i].extent,
                 !letter ? '#'
                 : other ? '?'
                         : letter);
    }
    if (p->any && k >= c->info.n_out) {
        add_axis(o, empty == 'a' ? 0 : 4, 'a');
        add_axis(o, empty == 'b' ? 0 : 6, 'b');
    }
}

static void take_specs(const op_call *c, collet_array_spec *specs)
{
    for (uint32_t k = 0; k < c->count; k++) {
        specs[k] = (collet_array_spec){.dtype = c->operand[k].dtype, .ndim = c->operand[k].ndim};
        memcpy(specs[k].shape, c->operand[k].shape, sizeof specs[k].shape);
    }
}

collet_status op_call_infer(const op_call *c, collet_array_spec *outs, collet_error *err)
{
    collet_array_spec specs[COLLET_MAX_OPERANDS];
    take_specs(c, specs);
    for (uint32_t k = 0; k < c->info.n_out; k++)
        outs[k] = (collet_array_spec){.dtype = c->operand[k].dtype, .ndim = COLLET_INFER};
    return collet_ops_infer(c->runtime, c->info.id, outs, specs + c->info.n_out, sizeof *specs,
                            &c->params, err);
}

collet_status op_call_infer_given(const op_call *c, collet_error *err)
{
    collet_array_spec specs[COLLET_MAX_OPERANDS];
    take_specs(c, specs);
    return collet_ops_infer(c->runtime, c->info.id, specs, specs + c->info.n_out, sizeof *specs,
                            &c->params, err);
}

/* Finds for each output axis the input axis that determines its extent: lengthens one input axis at a time and compares
 * the extents of the outputs. */
static void label_outputs(op_call *c)
{
    op_operand *in = &c->operand[c->info.n_out];
    collet_array_spec outs[COLLET_MAX_OPERANDS];
    collet_error err;
    for (int32_t axis = 0; axis < in->ndim; axis++) {
        in->shape[axis] += 2;
        if (op_call_infer(c, outs, &err) != COLLET_OK)
            fail_msg("%s (%s): %s", c->info.name, c->sig, err.text);
        in->shape[axis] -= 2;
        for (uint32_t k = 0; k < c->info.n_out; k++)
            for (int32_t i = 0; i < c->operand[k].ndim; i++)
                if (outs[k].shape[i] != c->operand[k].shape[i])
                    c->operand[k].axis[i] = in->axis[axis];
    }
}

/* Takes the shapes of the outputs from a rule. Tries both values of each flag, because the dtypes may
 * require one of the values. */
static void take_inferred(op_call *c)
{
    collet_array_spec outs[COLLET_MAX_OPERANDS];
    collet_error err;
    collet_status status = op_call_infer(c, outs, &err);
    for (uint32_t k = 0; k < c->info.field_count && status == COLLET_INVALID; k++) {
        if (field_at(c, k)->kind != COLLET_FIELD_FLAG)
            continue;
        set_u32(c, field_at(c, k), 0, 1);
        status = op_call_infer(c, outs, &err);
    }
    /* Empty reductions must fail, so the shape of their output is arbitrary. */
    for (uint32_t k = 0; k < c->info.n_out; k++) {
        op_operand *o = &c->operand[k];
        o->ndim = status == COLLET_OK ? outs[k].ndim : 1;
        o->shape[0] = 4;
        if (status == COLLET_OK)
            memcpy(o->shape, outs[k].shape, sizeof o->shape);
        memset(o->axis, '=', sizeof o->axis);
    }
    if (status == COLLET_OK)
        label_outputs(c);
}

int op_call_axis_count(const op_call *c, char letter)
{
    int count = 0;
    for (uint32_t k = 0; k < c->count; k++) {
        const collet_ops_pattern *p = &c->info.operands[k].pattern[0];
        count += memchr(c->operand[k].axis, letter, (size_t)c->operand[k].ndim) != NULL;
        for (int32_t i = 0; i < p->ndim; i++)
            count +=
                p->axes[i].other && (p->axes[i].letter == letter || p->axes[i].other == letter);
    }
    return count;
}

/* Sets *info to number `index` of the ops with signatures. Returns 0 if there are fewer ops. */
static int find_op(const collet_runtime *runtime, collet_ops_info *info, size_t index)
{
    collet_dtype dtypes[COLLET_MAX_OPERANDS];
    info->struct_size = sizeof *info;
    for (size_t i = 0; collet_ops_at(runtime, info, i, NULL) == COLLET_OK; i++)
        if (collet_ops_signature(runtime, info->id, dtypes, 0, NULL) == COLLET_OK && !index--)
            return 1;
    return 0;
}

size_t op_call_count(const collet_runtime *runtime)
{
    size_t count = collet_ops_count(runtime);
    collet_ops_info info;
    while (count && !find_op(runtime, &info, count - 1))
        count--;
    assert_true(count > 40);
    return count;
}

int op_call_describe(op_call *c, const collet_runtime *runtime, size_t index, int sig, char empty)
{
    memset(c, 0, sizeof *c);
    c->runtime = runtime;
    assert_true(find_op(runtime, &c->info, index));
    c->count = c->info.n_out + c->info.n_in;
    if (!take_sig(c, sig))
        return 0;
    take_params(c);
    for (uint32_t k = 0; k < c->count; k++)
        take_pattern(c, k, empty);
    if (c->info.id == COLLET_OP_HISTOGRAM)
        set_u32(c, field_at(c, 0), 0, (uint32_t)c->operand[0].shape[0]);
    if (op_call_by_rule(c))
        take_inferred(c);
    return 1;
}

int op_call_by_rule(const op_call *c)
{
    return c->info.operands[0].pattern[0].any;
}

void op_call_stretch(op_call *c, int64_t letters, int64_t others)
{
    int named = 0;
    letters = op_call_by_rule(c) ? others : letters;
    /* Each operand of `scatter` has several letters. */
    if (!strcmp(c->info.family, "scatter"))
        letters = 4;
    for (uint32_t k = 0; k < c->count; k++) {
        for (int32_t i = 0; i < c->operand[k].ndim; i++)
            named |= !strchr(".#=", c->operand[k].axis[i]);
    }
    for (uint32_t k = 0; k < c->count; k++) {
        op_operand *o = &c->operand[k];
        for (int32_t i = 0; i < o->ndim; i++) {
            if (!strchr(".#=", o->axis[i]))
                o->shape[i] *= letters;
            else if (o->axis[i] == '.' && !named)
                o->shape[i] *= others;
            if (o->axis[i] == 'H')
                o->shape[i] = extent_of(c, 'X', 0) * letters / 2 + 1;
            if (o->axis[i] == 'O' && has_offsets(c))
                o->shape[i] = extent_of(c, 'B', 0) * letters + 1;
        }
    }
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static int64_t count_of(const op_operand *o)
{
    int64_t count = 1;
    for (int32_t i = 0; i < o->ndim; i++)
        count *= o->shape[i];
    return count;
}

size_t op_call_bytes(const op_call *c, uint32_t k)
{
    return (size_t)count_of(&c->operand[k]) * collet_dtype_size(c->operand[k].dtype);
}

/* Small positive numbers; neighbours differ. Offsets ascend. */
void op_call_values(const op_call *c, uint32_t k, void *bytes)
{
    const op_operand *o = &c->operand[k];
    int64_t parts = count_of(o) * (is_complex(o->dtype) ? 2 : 1);
    for (int64_t i = 0; i < parts; i++) {
        double x = 0.25 + (double)((i * 7 + (int64_t)k * 3) % 13) * 0.125;
        if (o->dtype == COLLET_F64 || o->dtype == COLLET_C128)
            ((double *)bytes)[i] = x;
        else if (o->dtype == COLLET_F32 || o->dtype == COLLET_C64)
            ((float *)bytes)[i] = (float)x;
        else if (o->dtype == COLLET_I64 && !strcmp(c->info.operands[k].name, "offsets"))
            ((int64_t *)bytes)[i] = c->operand[c->info.n_out].shape[1] ? i / 2 : 0;
        else if (o->dtype == COLLET_BF16 || o->dtype == COLLET_F16)
            ((uint16_t *)bytes)[i] = (uint16_t)(0x3c00 + i % 13);
        else /* bits 11 are invalid in packed weights */
            memset((char *)bytes + i * (int64_t)collet_dtype_size(o->dtype),
                   (int)(i % (is_ternary(c) ? 3 : 5)), collet_dtype_size(o->dtype));
    }
}

void op_call_arrays(op_call *c, collet_context *cx)
{
    for (uint32_t k = 0; k < c->count; k++) {
        const op_operand *o = &c->operand[k];
        FREED(void) *bytes = malloc(op_call_bytes(c, k) + 1);
        assert_non_null(bytes);
        if (k < c->info.n_out)
            memset(bytes, OP_CALL_OLD, op_call_bytes(c, k));
        else
            op_call_values(c, k, bytes);
        assert_ok(cx, collet_array_from(cx, &c->array[k], o->dtype, o->ndim, o->shape, bytes));
    }
}

void op_call_free(op_call *c)
{
    for (uint32_t k = 0; k < c->count; k++) {
        collet_array_destroy(c->array[k]);
        c->array[k] = NULL;
    }
}

void op_call_assert_old(const op_call *c, collet_context *cx)
{
    static unsigned char bytes[OP_CALL_BYTES];
    for (uint32_t k = 0; k < c->info.n_out; k++) {
        const collet_array *a = c->array[k];
        if (!a)
            continue;
        size_t size = (size_t)collet_array_size(a) * collet_dtype_size(collet_array_dtype(a));
        assert_true(size <= sizeof bytes);
        assert_ok(cx, collet_array_read(cx, a, bytes, size));
        for (size_t i = 0; i < size; i++) {
            if (bytes[i] != OP_CALL_OLD)
                fail_msg("%s: a failed call wrote output %u", c->info.name, k);
        }
    }
}

collet_status op_call_run(const op_call *c, collet_context *cx)
{
    return collet_call(cx, c->info.id, c->array,
                       (const collet_array *const *)(c->array + c->info.n_out),
                       c->info.params_size ? &c->params : NULL);
}

const char *op_call_name(const op_call *c, uint32_t k, char text[48])
{
    int output = k < c->info.n_out;
    snprintf(text, 48, "%s (%s %u)", c->info.operands[k].name, output ? "output" : "input",
             output ? k : k - c->info.n_out);
    return text;
}

const char *op_call_shape(const op_operand *o, char text[128])
{
    int length = snprintf(text, 128, "%s", o->ndim ? "" : "()");
    for (int32_t i = 0; i < o->ndim; i++)
        length += snprintf(text + length, 128 - (size_t)length, "%s%lld", i ? " x " : "",
                           (long long)o->shape[i]);
    return text;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "op_call.h"

#include <ctype.h>
#include <stdlib.h>

#define LETTER_OF(name, id, size, text, letter) [id] = letter,
static const char letter_of[COLLET_DTYPE_COUNT] = {COLLET_DTYPE_LIST(LETTER_OF)};

static const int64_t dots[] = {2, 3}; /* what "..." stands for */

/* ---- Signatures ------------------------------------------------------------------------------ */

static collet_dtype dtype_of(char letter)
{
    for (collet_dtype d = 1; d < COLLET_DTYPE_COUNT; d++) {
        if (letter_of[d] == letter)
            return d;
    }
    return COLLET_DTYPE_NONE;
}

static const char *sig_at(const char *sigs, int index)
{
    for (; index > 0 && sigs; index--) {
        sigs = strchr(sigs, ' ');
        sigs += sigs != NULL;
    }
    return sigs;
}

static int is_complex(collet_dtype d)
{
    return d == COLLET_C64 || d == COLLET_C128;
}

static int sig_accepts(const op_call *c, const char *sig)
{
    for (uint32_t k = 0; k < c->count; k++, sig++) {
        sig += *sig == ':';
        collet_dtype d = c->operand[k].dtype;
        if (*sig == '*' ? is_complex(d)
                        : *sig != letter_of[d] && !(*sig == '=' && d == c->operand[0].dtype))
            return 0;
    }
    return 1;
}

int op_call_accepts(const op_call *c)
{
    for (int i = 0; sig_at(c->info.sigs, i); i++) {
        if (sig_accepts(c, sig_at(c->info.sigs, i)))
            return 1;
    }
    return 0;
}

static void take_sig(op_call *c, const char *sig)
{
    c->sig = sig;
    for (uint32_t k = 0; k < c->count; k++, sig++) {
        sig += *sig == ':';
        c->operand[k].dtype = *sig == '*'   ? COLLET_F32
                              : *sig == '=' ? c->operand[0].dtype
                                            : dtype_of(*sig);
    }
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

/* One block of weights, in the bytes that it takes in the format of `c`. */
#define WEIGHTS 256

static int is_ternary(const op_call *c)
{
    return !strcmp(c->info.family, "ternary");
}

/* K weights are B bytes and G groups of them: of no weights there are neither. */
static int64_t ternary_extent(const op_call *c, char letter, char empty)
{
    int has_format = c->info.params_size == sizeof c->params.format;
    uint32_t format = has_format ? c->params.format.format : COLLET_TERNARY_T2;
    int64_t weights = empty && strchr("KBG", empty) ? 0 : WEIGHTS;
    /* The K of a packed x is bytes. */
    int packed = letter == 'K' && c->count > 2 && c->operand[2].dtype == COLLET_U8;
    return letter == 'G'             ? weights / WEIGHTS
           : letter == 'B' || packed ? collet_ternary_bytes(format, weights)
                                     : weights;
}

static int64_t extent_of(const op_call *c, char letter, char empty)
{
    if (is_ternary(c) && strchr("KBG", letter))
        return ternary_extent(c, letter, empty);
    return letter == empty ? 0 : 3 + letter % 3;
}

static void add_axis(op_operand *o, int64_t extent, char axis)
{
    o->axis[o->ndim] = axis;
    o->shape[o->ndim++] = extent;
}

/* One operand's axes, up to a blank; returns what follows it. */
static const char *take_axes(const op_call *c, op_operand *o, const char *s, char empty)
{
    for (; *s && *s != ' ' && *s != '?' && *s != '|'; s++) {
        if (!strncmp(s, "...", 3)) {
            add_axis(o, empty == '.' ? 0 : dots[0], '.');
            add_axis(o, dots[1], '.');
            s += 2;
        } else if (isdigit((unsigned char)*s)) {
            add_axis(o, *s - '0', '#');
        } else if (isalpha((unsigned char)s[0]) && isalpha((unsigned char)s[1])) {
            int64_t a = extent_of(c, s[0], empty), b = extent_of(c, s[1], empty);
            add_axis(o, a < b ? a : b, '?');
            s++;
        } else if (isalpha((unsigned char)*s)) {
            add_axis(o, extent_of(c, *s, empty), *s);
        }
    }
    o->optional = *s == '?';
    return s + strcspn(s, " ");
}

static void take_patterns(op_call *c, char empty)
{
    const char *s = c->info.shapes;
    for (uint32_t k = 0; k < c->count; k++) {
        s += strspn(s, " :");
        s = take_axes(c, &c->operand[k], s, empty);
    }
}

/* What the rules behind patterns want: parameters with which every operand may be there. */
static void take_ternary_params(op_call *c)
{
    if (c->info.id == COLLET_OP_TERNARY_QUANTIZE)
        c->params.quantize.mode = COLLET_TERNARY_ABSMEAN;
    if (c->info.params_size == sizeof c->params.format)
        c->params.format.format = COLLET_TERNARY_TQ2_0;
}

static void set_shape(op_operand *o, int64_t a, int64_t b, const char *axes)
{
    add_axis(o, a, axes[0]);
    add_axis(o, b, axes[1]);
}

/* The rules of core/ops/, each with an axis that the output has from the input ('a', 'b'). */
static int take_rule(op_call *c, char empty)
{
    op_operand *out = &c->operand[0], *in = &c->operand[1];
    int64_t a = empty == 'a' ? 0 : 4, b = empty == 'b' ? 0 : 6;
    if (!strcmp(c->info.shapes, "@transpose")) {
        set_shape(in, a, b, "ab");
        set_shape(out, b, a, "ba");
        c->params.transpose.ndim = 2;
        c->params.transpose.perm[0] = 1;
    } else if (!strncmp(c->info.shapes, "@reduce", 7)) {
        set_shape(in, a, b, "ab");
        add_axis(out, a, 'a');
        c->params.reduce.axes = 2;
    } else if (!strcmp(c->info.shapes, "@fft")) {
        int half_in = is_complex(in->dtype) && !is_complex(out->dtype);
        int half_out = !is_complex(in->dtype) && is_complex(out->dtype);
        set_shape(in, a, half_in ? 4 : 6, "a?");
        set_shape(out, a, half_out ? 4 : 6, "a?");
        c->params.fft.axes = 1;
        c->params.fft.inverse = (uint32_t)half_in;
    } else if (!strcmp(c->info.shapes, "@fftshift")) {
        set_shape(in, a, b, "ab");
        set_shape(out, a, b, "ab");
        c->params.fftshift.axes = 3;
    } else {
        return 0;
    }
    return 1;
}

int op_call_axis_count(const op_call *c, char letter)
{
    int count = 0;
    for (uint32_t k = 0; k < c->count; k++)
        count += memchr(c->operand[k].axis, letter, (size_t)c->operand[k].ndim) != NULL;
    for (const char *s = c->info.shapes; *s && *s != '@'; s++) {
        int pair = isalpha((unsigned char)s[0]) && isalpha((unsigned char)s[1]);
        count += pair && (s[0] == letter || s[1] == letter);
    }
    return count;
}

size_t op_call_count(const collet_runtime *runtime)
{
    size_t count = collet_op_count(runtime);
    assert_true(count > 40);
    return count;
}

int op_call_describe(op_call *c, const collet_runtime *runtime, size_t index, int sig, char empty)
{
    memset(c, 0, sizeof *c);
    c->info.struct_size = sizeof c->info;
    assert_int_equal(collet_op_at(runtime, index, &c->info), COLLET_OK);
    c->count = c->info.n_out + c->info.n_in;
    if (!sig_at(c->info.sigs, sig))
        return 0;
    take_sig(c, sig_at(c->info.sigs, sig));
    assert_true(c->info.params_size <= sizeof c->params);
    c->params.struct_size = c->info.params_size;
    if (is_ternary(c))
        take_ternary_params(c);
    else if (c->info.shapes[0] != '@' && strchr(c->info.shapes, '@'))
        fail_msg("%s: op_call.c knows no rule behind %s", c->info.name, c->info.shapes);
    if (c->info.shapes[0] != '@')
        take_patterns(c, empty);
    else if (!take_rule(c, empty))
        fail_msg("%s: op_call.c knows no shapes for %s", c->info.name, c->info.shapes);
    if (c->info.id == COLLET_OP_FILL || c->info.id == COLLET_OP_AXPY) {
        c->params.fill.value.dtype = COLLET_F64;
        c->params.fill.value.value.f64 = 0.5;
    }
    return 1;
}

void op_call_stretch(op_call *c, int64_t letters, int64_t others)
{
    int named = 0;
    letters = c->info.shapes[0] == '@' ? others : letters;
    for (uint32_t k = 0; k < c->count; k++) {
        for (int32_t i = 0; i < c->operand[k].ndim; i++)
            named |= !strchr(".#", c->operand[k].axis[i]);
    }
    for (uint32_t k = 0; k < c->count; k++) {
        op_operand *o = &c->operand[k];
        for (int32_t i = 0; i < o->ndim; i++) {
            if (!strchr(".#", o->axis[i]))
                o->shape[i] *= letters;
            else if (o->axis[i] == '.' && !named)
                o->shape[i] *= others;
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

/* Small positive numbers, none twice in a row. */
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
        else if (o->dtype == COLLET_BF16 || o->dtype == COLLET_F16)
            ((uint16_t *)bytes)[i] = (uint16_t)(0x3c00 + i % 13);
        else /* packed weights have no bits 11 */
            memset((char *)bytes + i * (int64_t)collet_dtype_size(o->dtype),
                   (int)(i % (is_ternary(c) ? 3 : 5)), collet_dtype_size(o->dtype));
    }
}

void op_call_arrays(op_call *c, collet_context *cx)
{
    for (uint32_t k = 0; k < c->count; k++) {
        const op_operand *o = &c->operand[k];
        void *bytes = malloc(op_call_bytes(c, k) + 1);
        assert_non_null(bytes);
        if (k < c->info.n_out)
            memset(bytes, OP_CALL_OLD, op_call_bytes(c, k));
        else
            op_call_values(c, k, bytes);
        assert_ok(cx, collet_array_from(cx, &c->array[k], o->dtype, o->ndim, o->shape, bytes));
        free(bytes);
    }
}

void op_call_free(op_call *c)
{
    for (uint32_t k = 0; k < c->count; k++) {
        collet_array_free(c->array[k]);
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
                fail_msg("%s: output %u was written by a call that failed", c->info.name, k);
        }
    }
}

collet_status op_call_run(const op_call *c, collet_context *cx)
{
    return collet_call(cx, c->info.id, c->array,
                       (const collet_array *const *)(c->array + c->info.n_out),
                       c->info.params_size ? &c->params : NULL);
}

const char *op_call_name(const op_call *c, uint32_t k, char text[24])
{
    int output = k < c->info.n_out;
    snprintf(text, 24, "%s %u", output ? "output" : "input", output ? k : k - c->info.n_out);
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

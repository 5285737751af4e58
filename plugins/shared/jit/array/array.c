/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/array.c, conformance/array/arithmetic.c */
#include "array.h"

#include "shared/host/util/convert.h"
#include "shared/jit/texts.h"
#include "shared/jit/runtime/view.h"

static const jit_source real_source =
    JIT_SOURCE("elementwise", JIT_FUNCTIONS, jit_text_language_convert, jit_text_array_elementwise);
static const jit_source complex_source =
    JIT_SOURCE("complex", jit_text_language_complex, jit_text_array_elementwise);

/* ---- Options of the programs --------------------------------------------------------------- */

#define FLOAT_OPTIONS(op, inputs)                                                                  \
    [COLLET_F16] = "-DAPPLY=" #op "_f32 -DTO=f16 -DFROM=f16 -DINPUTS=" #inputs,                    \
    [COLLET_BF16] = "-DAPPLY=" #op "_f32 -DTO=bf16 -DFROM=bf16 -DINPUTS=" #inputs,                 \
    [COLLET_F32] = "-DAPPLY=" #op "_f32 -DTO=f32 -DFROM=f32 -DINPUTS=" #inputs,                    \
    [COLLET_F64] = "-DAPPLY=" #op "_f64 -DTO=f64 -DFROM=f64 -DINPUTS=" #inputs
/* Sign changes work on the bits of 16-bit types. */
#define SIGN_OPTIONS(op)                                                                           \
    [COLLET_F16] = "-DAPPLY=" #op "_u16 -DTO=u16 -DFROM=u16 -DINPUTS=1",                           \
    [COLLET_BF16] = "-DAPPLY=" #op "_u16 -DTO=u16 -DFROM=u16 -DINPUTS=1",                          \
    [COLLET_F32] = "-DAPPLY=" #op "_f32 -DTO=f32 -DFROM=f32 -DINPUTS=1",                           \
    [COLLET_F64] = "-DAPPLY=" #op "_f64 -DTO=f64 -DFROM=f64 -DINPUTS=1"
#define OF_C64 " -DCOMPLEX=c64 -DREAL=f32"
#define OF_C128 " -DCOMPLEX=c128 -DREAL=f64"
#define COMPLEX_OPTIONS(op, inputs)                                                                \
    [COLLET_C64] = "-DAPPLY=" #op "_complex -DTO=c64 -DFROM=c64 -DINPUTS=" #inputs OF_C64,         \
    [COLLET_C128] = "-DAPPLY=" #op "_complex -DTO=c128 -DFROM=c128 -DINPUTS=" #inputs OF_C128

/* Options by input type. */
typedef const char *const by_type[COLLET_DTYPE_COUNT];

static by_type op_options[] = {
    [COLLET_OP_ADD] = {FLOAT_OPTIONS(add, 2), COMPLEX_OPTIONS(add, 2)},
    [COLLET_OP_SUB] = {FLOAT_OPTIONS(sub, 2), COMPLEX_OPTIONS(sub, 2)},
    [COLLET_OP_MUL] = {FLOAT_OPTIONS(mul, 2), COMPLEX_OPTIONS(mul, 2)},
    [COLLET_OP_DIV] = {FLOAT_OPTIONS(div, 2), COMPLEX_OPTIONS(div, 2)},
    [COLLET_OP_NEG] = {SIGN_OPTIONS(neg)},
    [COLLET_OP_ABS] = {SIGN_OPTIONS(abs),
                       [COLLET_C64] = "-DAPPLY=abs_complex -DTO=f32 -DFROM=c64 -DINPUTS=1" OF_C64,
                       [COLLET_C128] =
                           "-DAPPLY=abs_complex -DTO=f64 -DFROM=c128 -DINPUTS=1" OF_C128},
    [COLLET_OP_CONJ] = {COMPLEX_OPTIONS(conj, 1)},
    [COLLET_OP_EXP] = {FLOAT_OPTIONS(exp, 1)},
    [COLLET_OP_LOG] = {FLOAT_OPTIONS(log, 1)},
    [COLLET_OP_SQRT] = {FLOAT_OPTIONS(sqrt, 1)},
    [COLLET_OP_SIN] = {FLOAT_OPTIONS(sin, 1)},
    [COLLET_OP_COS] = {FLOAT_OPTIONS(cos, 1)},
    [COLLET_OP_TANH] = {FLOAT_OPTIONS(tanh, 1)},
    [COLLET_OP_AXPY] = {[COLLET_F32] = "-DAPPLY=axpy -DTO=f32 -DFROM=f32 -DINPUTS=2 -DSCALAR=1",
                        [COLLET_F64] = "-DAPPLY=axpy -DTO=f64 -DFROM=f64 -DINPUTS=2 -DSCALAR=1"},
};

/* Copies of 1, 2, 4, 8 and 16 bytes, by the logarithm of the size. */
static const char *const fill_options[] = {
    "-DFILL=1 -DTO=u8 -DINPUTS=0", "-DFILL=1 -DTO=u16 -DINPUTS=0", "-DFILL=1 -DTO=u32 -DINPUTS=0",
    "-DFILL=1 -DTO=u64 -DINPUTS=0", "-DFILL=1 -DTO=b128 -DINPUTS=0"};
static const char *const move_options[] = {
    "-DMOVE=1 -DTO=u8 -DFROM=u8 -DINPUTS=1", "-DMOVE=1 -DTO=u16 -DFROM=u16 -DINPUTS=1",
    "-DMOVE=1 -DTO=u32 -DFROM=u32 -DINPUTS=1", "-DMOVE=1 -DTO=u64 -DFROM=u64 -DINPUTS=1",
    "-DMOVE=1 -DTO=b128 -DFROM=b128 -DINPUTS=1"};

#define CAST_OPTION(NAME, from, to)                                                                \
    [COLLET_##NAME] = "-DCAST=1 -DTO=" #to " -DFROM=" #from " -DINPUTS=1",
#define CAST_OPTIONS(NAME, to, ...) [COLLET_##NAME] = {COLLET_EACH_REAL_AGAIN(CAST_OPTION, to)},
static by_type cast_options[COLLET_DTYPE_COUNT] = {
    COLLET_EACH_REAL(CAST_OPTIONS,
                     0)[COLLET_C64] = {[COLLET_C128] =
                                           "-DCAST_PARTS=1 -DTO=c64 -DFROM=c128 -DINPUTS=1" OF_C64},
    [COLLET_C128] = {[COLLET_C64] = "-DCAST_PARTS=1 -DTO=c128 -DFROM=c64 -DINPUTS=1" OF_C128},
};

static uint32_t log2_size(collet_dtype dtype)
{
    uint32_t bits = 0;
    while (1u << bits < cpu_dtype_size(dtype))
        bits++;
    return bits;
}

/* ---- Running ------------------------------------------------------------------------------- */

/* `scalar`: `size` bytes that follow the operands in the kernel's arguments, none when 0. */
static collet_status launch(collet_device *device, collet_queue *queue,
                            const collet_kernel_call *call, const jit_source *source,
                            const char *options, const void *scalar, uint32_t size)
{
    const jit_traits *t = jit_traits_of(device);
    uint32_t count = call->n_out + call->n_in;
    int flat = 1;
    for (uint32_t i = 0; i < count; i++)
        flat = flat && jit_contiguous(operand_of(call, i));
    jit_launch l;
    jit_view view;
    jit_launch_begin(&l, source, options, flat ? "flat" : "strided");
    for (uint32_t i = 0; i < count; i++)
        jit_pass_operand(&l, operand_of(call, i));
    if (size)
        jit_pass_value(&l, scalar, size);
    uint64_t groups;
    if (flat) {
        uint64_t n = (uint64_t)operand_count(operand_of(call, 0));
        groups = jit_groups_per_item(t, n);
        jit_pass_i64(&l, (int64_t)n);
    } else {
        groups = jit_view_of(&view, t, call, count);
        jit_pass_block(&l, &view, sizeof view);
    }
    return jit_enqueue(device, queue, &l, groups, call->err);
}

JIT_KERNEL(elementwise)
{
    collet_dtype from = operand_of(call, call->n_out)->dtype;
    const jit_source *source = cpu_dtype_is_complex(from) ? &complex_source : &real_source;
    return launch(device, queue, call, source, op_options[call->op][from], NULL, 0);
}

JIT_KERNEL(axpy)
{
    const collet_axpy_params *params = call->params;
    collet_dtype dtype = operand_of(call, 0)->dtype, from = params->alpha.dtype;
    _Alignas(16) char alpha[16];
    cpu_convert(alpha, dtype, 0, (const char *)params->alpha.value.bytes, from, 0, 1);
    return launch(device, queue, call, &real_source, op_options[COLLET_OP_AXPY][dtype], alpha,
                  (uint32_t)cpu_dtype_size(dtype));
}

JIT_KERNEL(fill)
{
    const collet_fill_params *params = call->params;
    collet_dtype dtype = operand_of(call, 0)->dtype, from = params->value.dtype;
    _Alignas(16) char element[16];
    cpu_convert(element, dtype, 0, (const char *)params->value.value.bytes, from, 0, 1);
    return launch(device, queue, call, &real_source, fill_options[log2_size(dtype)], element,
                  (uint32_t)cpu_dtype_size(dtype));
}

JIT_KERNEL(copy)
{
    collet_dtype to = operand_of(call, 0)->dtype, from = operand_of(call, 1)->dtype;
    if (to == from)
        return launch(device, queue, call, &real_source, move_options[log2_size(to)], NULL, 0);
    const jit_source *source = cpu_dtype_is_complex(to) ? &complex_source : &real_source;
    return launch(device, queue, call, source, cast_options[to][from], NULL, 0);
}

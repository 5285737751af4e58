/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/*
 * collet/ops/typed.h - how rows COLLET_CALL of the .def files become inline functions.
 *
 *   COLLET_CALL(NAME, name, (outputs), (inputs))
 *       collet_status collet_op_name(collet_context *context, collet_array *output, ...,
 *                                    const collet_array *input, ...);
 *   COLLET_CALL_PARAMS(NAME, name, (outputs), (inputs), type)
 *       the same with `const type *params` at the end
 */
#ifndef COLLET_OPS_TYPED_H
#define COLLET_OPS_TYPED_H

#define COLLET_TYPED_COUNT_(a, b, c, d, e, f, g, h, i, n, ...) n
#define COLLET_TYPED_COUNT(...) COLLET_TYPED_COUNT_(__VA_ARGS__, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define COLLET_TYPED_PASTE_(a, b) a##b
#define COLLET_TYPED_PASTE(a, b) COLLET_TYPED_PASTE_(a, b)

/* The parameters of a list of up to 9 operands, a comma before each. */
#define COLLET_TYPED_OUTS_1(a) , collet_array *a
#define COLLET_TYPED_OUTS_2(a, ...) , collet_array *a COLLET_TYPED_OUTS_1(__VA_ARGS__)
#define COLLET_TYPED_OUTS_3(a, ...) , collet_array *a COLLET_TYPED_OUTS_2(__VA_ARGS__)
#define COLLET_TYPED_OUTS_4(a, ...) , collet_array *a COLLET_TYPED_OUTS_3(__VA_ARGS__)
#define COLLET_TYPED_OUTS_5(a, ...) , collet_array *a COLLET_TYPED_OUTS_4(__VA_ARGS__)
#define COLLET_TYPED_OUTS_6(a, ...) , collet_array *a COLLET_TYPED_OUTS_5(__VA_ARGS__)
#define COLLET_TYPED_OUTS_7(a, ...) , collet_array *a COLLET_TYPED_OUTS_6(__VA_ARGS__)
#define COLLET_TYPED_OUTS_8(a, ...) , collet_array *a COLLET_TYPED_OUTS_7(__VA_ARGS__)
#define COLLET_TYPED_OUTS_9(a, ...) , collet_array *a COLLET_TYPED_OUTS_8(__VA_ARGS__)
#define COLLET_TYPED_OUTS(...) \
    COLLET_TYPED_PASTE(COLLET_TYPED_OUTS_, COLLET_TYPED_COUNT(__VA_ARGS__))(__VA_ARGS__)

#define COLLET_TYPED_INS_1(a) , const collet_array *a
#define COLLET_TYPED_INS_2(a, ...) , const collet_array *a COLLET_TYPED_INS_1(__VA_ARGS__)
#define COLLET_TYPED_INS_3(a, ...) , const collet_array *a COLLET_TYPED_INS_2(__VA_ARGS__)
#define COLLET_TYPED_INS_4(a, ...) , const collet_array *a COLLET_TYPED_INS_3(__VA_ARGS__)
#define COLLET_TYPED_INS_5(a, ...) , const collet_array *a COLLET_TYPED_INS_4(__VA_ARGS__)
#define COLLET_TYPED_INS_6(a, ...) , const collet_array *a COLLET_TYPED_INS_5(__VA_ARGS__)
#define COLLET_TYPED_INS_7(a, ...) , const collet_array *a COLLET_TYPED_INS_6(__VA_ARGS__)
#define COLLET_TYPED_INS_8(a, ...) , const collet_array *a COLLET_TYPED_INS_7(__VA_ARGS__)
#define COLLET_TYPED_INS_9(a, ...) , const collet_array *a COLLET_TYPED_INS_8(__VA_ARGS__)
#define COLLET_TYPED_INS(...) \
    COLLET_TYPED_PASTE(COLLET_TYPED_INS_, COLLET_TYPED_COUNT(__VA_ARGS__))(__VA_ARGS__)

#define COLLET_TYPED_NAMES(...) __VA_ARGS__
#define COLLET_TYPED_BODY(NAME, outs, ins, params) \
    collet_array *const to[] = {COLLET_TYPED_NAMES outs}; \
    const collet_array *const from[] = {COLLET_TYPED_NAMES ins}; \
    return collet_call(context, COLLET_OP_##NAME, to, from, params);

#define COLLET_TYPED_CALL(NAME, name, outs, ins) \
    static inline collet_status collet_op_##name(collet_context *context COLLET_TYPED_OUTS outs \
                                                 COLLET_TYPED_INS ins) \
    { \
        COLLET_TYPED_BODY(NAME, outs, ins, NULL) \
    }
#define COLLET_TYPED_CALL_PARAMS(NAME, name, outs, ins, type) \
    static inline collet_status collet_op_##name(collet_context *context COLLET_TYPED_OUTS outs \
                                                 COLLET_TYPED_INS ins, const type *params) \
    { \
        COLLET_TYPED_BODY(NAME, outs, ins, params) \
    }

#endif

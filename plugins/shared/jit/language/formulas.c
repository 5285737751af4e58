/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/elementwise.c */
#include "formulas.h"

#include "shared/jit/texts.h"

#define NAMES(type) "#define T " #type "\n#define F(x) x##_" #type "\n"
#define REAL(type, bits)                                                                           \
    {                                                                                              \
        NAMES(type) "#define U u" #bits "\n", jit_text_formula_real, jit_text_formula_composed     \
    }
#define SIGNED "((x) < 0)"
/* Always 0, but not a constant: compilers warn of constant conditions. */
#define UNSIGNED "((x) & 0)"
#define INTEGER(type, computed, bits, negative)                                                    \
    {                                                                                              \
        NAMES(type)                                                                                \
        "#define C " #computed "\n#define BITS " #bits "\n#define NEGATIVE(x) " negative "\n",     \
            jit_text_formula_integer, NULL                                                         \
    }
#define COMPLEX(type, part)                                                                        \
    {                                                                                              \
        NAMES(type)                                                                                \
        "#define P " #part "\n#define R(x) x##_" #part "\n#define WORD word_" #part                \
        "\n#define DIGITS digits_" #part "\n#define SMALLEST smallest_" #part                      \
        "\n#define LARGE large_" #part "\n",                                                       \
            jit_text_formula_complex, jit_text_formula_functions_complex                           \
    }

const jit_formula jit_formulas[COLLET_DTYPE_COUNT] = {
    [COLLET_BOOL] = {"", jit_text_formula_bool, NULL},
    [COLLET_F32] = REAL(f32, 32),
    [COLLET_F64] = REAL(f64, 64),
    [COLLET_I8] = INTEGER(i8, u32, 8, SIGNED),
    [COLLET_I16] = INTEGER(i16, u32, 16, SIGNED),
    [COLLET_I32] = INTEGER(i32, u32, 32, SIGNED),
    [COLLET_I64] = INTEGER(i64, u64, 64, SIGNED),
    [COLLET_U8] = INTEGER(u8, u32, 8, UNSIGNED),
    [COLLET_U16] = INTEGER(u16, u32, 16, UNSIGNED),
    [COLLET_U32] = INTEGER(u32, u32, 32, UNSIGNED),
    [COLLET_U64] = INTEGER(u64, u64, 64, UNSIGNED),
    [COLLET_C64] = COMPLEX(c64, f32),
    [COLLET_C128] = COMPLEX(c128, f64),
};

const uint8_t jit_formula_order[JIT_FORMULA_COUNT] = {
    COLLET_BOOL, COLLET_F32, COLLET_F64, COLLET_I8,  COLLET_I16, COLLET_I32, COLLET_I64,
    COLLET_U8,   COLLET_U16, COLLET_U32, COLLET_U64, COLLET_C64, COLLET_C128};

/* SPDX-License-Identifier: Apache-2.0 */
/* formulas.h - the formulas of plugins/shared/formula as texts of device sources. For each dtype a source has a text
 * that defines the macros of the dtype, the formulas, the elementary functions if they are needed, and
 * JIT_FORMULA_END. common.dev must precede them. */
#pragma once

#include <collet/types.h>

typedef struct jit_formula {
    const char *begin, *text;
    const char *elementary; /* elementary functions; NULL: the dtype has none */
} jit_formula;

/* The index is a dtype; f16 and bf16 have no formulas. The formulas of a complex dtype use the formulas of its real
 * dtype. */
extern const jit_formula jit_formulas[COLLET_DTYPE_COUNT];

/* The dtypes in an order in which their texts can be compiled. */
#define JIT_FORMULA_COUNT 13
extern const uint8_t jit_formula_order[JIT_FORMULA_COUNT];

#define JIT_FORMULA_END                                                                            \
    "#undef T\n#undef P\n#undef F\n#undef R\n#undef U\n#undef C\n#undef BITS\n#undef NEGATIVE\n"   \
    "#undef WORD\n#undef DIGITS\n#undef SMALLEST\n#undef LARGE\n"

/* Texts for a jit_source: the complex formulas NAME_complex. The options COMPLEX and PART are the complex type and
 * the type of its parts. */
#define JIT_COMPLEX_TEXTS                                                                          \
    "#define T PART\n#define F(x) PASTE(x##_, PART)\n", jit_text_formula_real, JIT_FORMULA_END,    \
        "#define T COMPLEX\n#define P PART\n#define F(x) x##_complex\n"                            \
        "#define R(x) PASTE(x##_, PART)\n#define WORD PASTE(word_, PART)\n"                        \
        "#define DIGITS PASTE(digits_, PART)\n#define SMALLEST PASTE(smallest_, PART)\n",          \
        jit_text_formula_complex, JIT_FORMULA_END

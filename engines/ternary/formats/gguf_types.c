/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_weights.c, tests/engines/test_ternary_q2_0.c */
#include "gguf_types.h"
#include "tensor_faults.h"

#include <stddef.h>
#include <stdio.h>

#define READ NULL
#define MANY                                                                                       \
    "weights of this type have more values than -1, 0 and 1; use a file of the model with TQ2_0, " \
    "Q2_0, F16 or BF16 weights"
#define REMOVED "GGUF files no longer have this type: llama.cpp removed it; convert the model again"
#define HADAMARD                                                                                   \
    "PrismML stores such weights after a Hadamard transform, and Collet does not transform the "   \
    "activations; without that every result would be wrong"
#define BITNET_CPP                                                                                 \
    "bitnet.cpp lays such weights out for the kernels of one kind of CPU, and the file does not "  \
    "tell which; use the model's safetensors file, or a GGUF file with TQ2_0"

static const ternary_gguf_type types[] = {
    {TERNARY_GGUF_F32, 1, 4, "F32", READ},
    {TERNARY_GGUF_F16, 1, 2, "F16", READ},
    {2, 32, 0, "Q4_0", MANY},
    {3, 32, 0, "Q4_1", MANY},
    {4, 1, 0, "Q4_2", REMOVED},
    {5, 1, 0, "Q4_3", REMOVED},
    {6, 32, 0, "Q5_0", MANY},
    {7, 32, 0, "Q5_1", MANY},
    {8, 32, 0, "Q8_0", MANY},
    {9, 32, 0, "Q8_1", MANY},
    {10, 256, 0, "Q2_K", MANY},
    {11, 256, 0, "Q3_K", MANY},
    {12, 256, 0, "Q4_K", MANY},
    {13, 256, 0, "Q5_K", MANY},
    {14, 256, 0, "Q6_K", MANY},
    {15, 256, 0, "Q8_K", MANY},
    {16, 256, 0, "IQ2_XXS", MANY},
    {17, 256, 0, "IQ2_XS", MANY},
    {18, 256, 0, "IQ3_XXS", MANY},
    {19, 256, 0, "IQ1_S",
     "it has three values, but they are shifted by an amount for each group of 32 weights, so they are not "
     "-s, 0 and s; use a file of the model with TQ2_0, F16 or BF16 weights"},
    {20, 32, 0, "IQ4_NL", MANY},
    {21, 256, 0, "IQ3_S", MANY},
    {22, 256, 0, "IQ2_S", MANY},
    {23, 256, 0, "IQ4_XS", MANY},
    {TERNARY_GGUF_I8, 1, 1, "I8", READ},
    {25, 1, 0, "I16", TERNARY_WHOLE_NUMBERS},
    {26, 1, 0, "I32", TERNARY_WHOLE_NUMBERS},
    {27, 1, 0, "I64", TERNARY_WHOLE_NUMBERS},
    {TERNARY_GGUF_F64, 1, 8, "F64", READ},
    {29, 256, 0, "IQ1_M",
     "it has three values, but they are shifted by an amount for each group of 8 weights, so they are not "
     "-s, 0 and s; use a file of the model with TQ2_0, F16 or BF16 weights"},
    {TERNARY_GGUF_BF16, 1, 2, "BF16", READ},
    {31, 1, 0, "Q4_0_4_4", REMOVED},
    {32, 1, 0, "Q4_0_4_8", REMOVED},
    {33, 1, 0, "Q4_0_8_8", REMOVED},
    {TERNARY_GGUF_TQ1_0, 256, 54, "TQ1_0", READ},
    {TERNARY_GGUF_TQ2_0, 256, 66, "TQ2_0", READ},
    /* llama.cpp had 36 to 38 too, for types that were only in memory. */
    {36, 1, 0, "I2_S", BITNET_CPP},
    {37, 1, 0, "I8_S", BITNET_CPP},
    {38, 1, 0, "TL1", BITNET_CPP},
    {39, 1, 0, "MXFP4",
     "its weights are 4-bit floating-point numbers (E2M1) with an exponent for each 32 weights, so they "
     "have more values than -1, 0 and 1; bitnet.cpp has the same number for TL2, which is not read "
     "either"},
    {40, 64, 0, "NVFP4",
     "its weights are 4-bit floating-point numbers (E2M1) with a scale for each 16 weights, so they have "
     "more values than -1, 0 and 1"},
    {41, 128, 0, "Q1_0",
     "its weights are -s and s in one bit, with a scale for each 128 weights; Collet has one scale for "
     "each row, and no binary format"},
    {TERNARY_GGUF_Q2_0, 64, 0, "Q2_0", READ},
    {142, 128, 0, "PQ2_0", HADAMARD},
    {143, 128, 0, "PTQ1_0", HADAMARD},
};

const ternary_gguf_type *ternary_gguf_type_find(uint32_t id)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].id == id)
            return &types[i];
    return NULL;
}

const char *ternary_gguf_type_reason(uint32_t id)
{
    const ternary_gguf_type *known = ternary_gguf_type_find(id);

    return known ? known->reason
                 : "this version of Collet does not know the number of the type; use a file of the "
                   "model with TQ2_0, Q2_0, F16 or BF16 weights";
}

const char *ternary_gguf_type_name(uint32_t id, char text[24])
{
    const ternary_gguf_type *known = ternary_gguf_type_find(id);

    if (known)
        return known->name;
    snprintf(text, 24, "type %u", (unsigned)id);
    return text;
}

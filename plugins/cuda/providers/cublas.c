/* SPDX-License-Identifier: Apache-2.0 */
#include "cublas.h"

#define SYMBOL(type, name, symbol, parameters) CUDA_SYMBOL(cuda_blas, name, symbol),
static const cuda_symbol symbols[] = {CUBLAS_FUNCTIONS(SYMBOL)};
#undef SYMBOL

const cuda_library_facts cuda_blas_facts = {
    .name = "libcublas.so",
    .setting = "cuda.cublas",
    .version = "cublasGetProperty",
    .instead = "Collet's own kernel multiplies matrices",
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "cublas.h"

#define LINE(name, symbol) CUDA_SYMBOL(cuda_blas, name, symbol),
static const cuda_symbol symbols[] = {CUBLAS_FUNCTIONS(LINE)};
#undef LINE

const cuda_library_facts cuda_blas_facts = {
    .name = "libcublas.so",
    .setting = "cuda.cublas",
    .version = "cublasGetProperty",
    .instead = "matrices are multiplied by Collet's own kernel",
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
};

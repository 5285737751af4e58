/* SPDX-License-Identifier: Apache-2.0 */
#include "cufft.h"

#define SYMBOL(type, name, symbol, parameters) CUDA_SYMBOL(cuda_fourier, name, symbol),
static const cuda_symbol symbols[] = {CUFFT_FUNCTIONS(SYMBOL)};
#undef SYMBOL

const cuda_library_facts cuda_fourier_facts = {
    .name = "libcufft.so",
    .setting = "cuda.cufft",
    .version = "cufftGetProperty",
    .instead = "transforms use Collet's own kernels",
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
};

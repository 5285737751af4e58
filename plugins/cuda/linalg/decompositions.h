/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decompositions.h - `run` and `accepts` (plugin.h) of the rows of all decompositions: by
 * cuSOLVER if it is installed and the matrices are large, or small and many, else by
 * plugins/shared/jit.
 */
#ifndef PLUGINS_CUDA_LINALG_DECOMPOSITIONS_H
#define PLUGINS_CUDA_LINALG_DECOMPOSITIONS_H

#include "shared/jit/runtime/rows.h"

jit_run cuda_decompose;
jit_accepts cuda_decompose_accepts;

#endif

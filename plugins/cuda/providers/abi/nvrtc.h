/* SPDX-License-Identifier: Apache-2.0 */
/* The part of NVRTC's ABI that is used: shared/jit/runtime/abi.h. */
#pragma once

#include <stddef.h>

#include "shared/jit/runtime/abi.h"

#define NVRTC_CONSTANTS(X)                                                                         \
    X(NVRTC_ERROR_OUT_OF_MEMORY, 1)                                                                \
    X(NVRTC_ERROR_INVALID_INPUT, 3)                                                                \
    X(NVRTC_ERROR_COMPILATION, 6)                                                                  \
    X(NVRTC_ERROR_INTERNAL_ERROR, 11)                                                              \
    X(NVRTC_SUCCESS, 0)

#ifndef COLLET_CUDA_TOOLKIT
enum { NVRTC_CONSTANTS(ABI_CONSTANT) };
typedef int nvrtcResult;
typedef struct _nvrtcProgram *nvrtcProgram;
#endif

#define NVRTC_FUNCTIONS(X)                                                                         \
    X(nvrtcResult, Version, nvrtcVersion, (int *major, int *minor))                                \
    X(const char *, GetErrorString, nvrtcGetErrorString, (nvrtcResult error))                      \
    X(nvrtcResult, GetNumSupportedArchs, nvrtcGetNumSupportedArchs, (int *count))                  \
    X(nvrtcResult, GetSupportedArchs, nvrtcGetSupportedArchs, (int *architectures))                \
    X(nvrtcResult, CreateProgram, nvrtcCreateProgram,                                              \
      (nvrtcProgram * program, const char *source, const char *name, int header_count,             \
       const char *const *headers, const char *const *header_names))                               \
    X(nvrtcResult, DestroyProgram, nvrtcDestroyProgram, (nvrtcProgram * program))                  \
    X(nvrtcResult, CompileProgram, nvrtcCompileProgram,                                            \
      (nvrtcProgram program, int option_count, const char *const *options))                        \
    X(nvrtcResult, GetProgramLogSize, nvrtcGetProgramLogSize,                                      \
      (nvrtcProgram program, size_t * bytes))                                                      \
    X(nvrtcResult, GetProgramLog, nvrtcGetProgramLog, (nvrtcProgram program, char *log))           \
    X(nvrtcResult, GetCUBINSize, nvrtcGetCUBINSize, (nvrtcProgram program, size_t * bytes))        \
    X(nvrtcResult, GetCUBIN, nvrtcGetCUBIN, (nvrtcProgram program, char *code))                    \
    X(nvrtcResult, GetPTXSize, nvrtcGetPTXSize, (nvrtcProgram program, size_t * bytes))            \
    X(nvrtcResult, GetPTX, nvrtcGetPTX, (nvrtcProgram program, char *code))

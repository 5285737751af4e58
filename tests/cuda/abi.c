/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled, never run: compares plugins/cuda/providers/abi with the toolkit's headers. */
#include <cublas_v2.h>
#include <cuda.h>
#include <cufftXt.h>
#include <cusolverDn.h>
#include <nvrtc.h>

#define COLLET_CUDA_TOOLKIT
#include "cuda/providers/abi/cublas.h"
#include "cuda/providers/abi/cuda.h"
#include "cuda/providers/abi/cufft.h"
#include "cuda/providers/abi/cusolver.h"
#include "cuda/providers/abi/nvrtc.h"

#define SAME_VALUE(name, value) _Static_assert((int)(name) == (value), #name " is not " #value);
CUDA_CONSTANTS(SAME_VALUE)
NVRTC_CONSTANTS(SAME_VALUE)
CUBLAS_CONSTANTS(SAME_VALUE)
CUFFT_CONSTANTS(SAME_VALUE)
CUSOLVER_CONSTANTS(SAME_VALUE)

#define IS_SAME(a, b) _Static_assert(__builtin_types_compatible_p(a, b), #a " is not " #b);
#define SAME_FUNCTION(type, name, symbol, parameters) IS_SAME(__typeof__(symbol), type parameters)
CUDA_FUNCTIONS(SAME_FUNCTION)
#if CUDA_VERSION >= 12000
CUDA_GRAPH_FUNCTIONS(SAME_FUNCTION)
_Static_assert(CUDA_NODE_IS_LAID_OUT, "the parameters of a kernel in a graph have another layout");
#endif
NVRTC_FUNCTIONS(SAME_FUNCTION)
CUBLAS_FUNCTIONS(SAME_FUNCTION)
CUFFT_FUNCTIONS(SAME_FUNCTION)
CUSOLVER_FUNCTIONS(SAME_FUNCTION)

/* Enumerations that the plugin declares as int. */
#define AS_INT(type) _Static_assert(sizeof(type) == sizeof(int), #type " is not as large as int");
AS_INT(CUresult)
AS_INT(CUdevice_attribute)
AS_INT(CUpointer_attribute)
AS_INT(nvrtcResult)
AS_INT(cublasStatus_t)
AS_INT(cublasOperation_t)
AS_INT(cublasFillMode_t)
AS_INT(cublasMath_t)
AS_INT(cublasComputeType_t)
AS_INT(cublasGemmAlgo_t)
AS_INT(cudaDataType)
AS_INT(cufftResult)
AS_INT(cusolverStatus_t)
AS_INT(cusolverEigMode_t)

/* Structs that the plugin declares as complex numbers of C. */
_Static_assert(sizeof(cuComplex) == sizeof(float _Complex), "cuComplex is not two floats");
_Static_assert(sizeof(cuDoubleComplex) == sizeof(double _Complex), "cuDoubleComplex is not two doubles");

IS_SAME(CUdevice, int)
IS_SAME(CUdeviceptr, unsigned long long)
IS_SAME(CUcontext, struct CUctx_st *)
IS_SAME(CUmodule, struct CUmod_st *)
IS_SAME(CUfunction, struct CUfunc_st *)
IS_SAME(CUevent, struct CUevent_st *)
IS_SAME(CUstream, struct CUstream_st *)
IS_SAME(cudaStream_t, struct CUstream_st *)
IS_SAME(cublasHandle_t, struct cublasContext *)
IS_SAME(cufftHandle, int)
IS_SAME(cusolverDnHandle_t, struct cusolverDnContext *)
IS_SAME(syevjInfo_t, struct syevjInfo *)
IS_SAME(gesvdjInfo_t, struct gesvdjInfo *)
IS_SAME(nvrtcProgram, struct _nvrtcProgram *)
_Static_assert(sizeof(CUuuid) == 16 && offsetof(CUuuid, bytes) == 0, "CUuuid is not 16 bytes");

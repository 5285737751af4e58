/* SPDX-License-Identifier: Apache-2.0 */
/*
 * abi.h - declarations of drivers and libraries that are opened at run time; the build does not need their headers.
 * Each library has a header of constants, types and functions: plugins/cuda/providers/abi, plugins/opencl/abi.h.
 * tests/cuda/abi.c and tests/opencl/abi.c compare them with the libraries' own headers; they include both, so
 * COLLET_CUDA_TOOLKIT and COLLET_OPENCL_HEADERS omit the types and constants here.
 *
 * A list of functions has entries X(type, name, symbol, (parameters)): type, symbol and parameters as the
 * library declares them; `name` is the member of a struct of pointers. Enumerations are int.
 */
#pragma once

#define ABI_CONSTANT(name, value) name = (value),
#define ABI_MEMBER(type, name, symbol, parameters) type(*name) parameters;
#define ABI_PROTOTYPE(type, name, symbol, parameters) type symbol parameters;

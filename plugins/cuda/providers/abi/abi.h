/* SPDX-License-Identifier: Apache-2.0 */
/*
 * abi.h - declarations of the CUDA driver and of libraries of the toolkit, all of which are opened
 * at run time: no header of the toolkit is needed to build. One header a library: its constants and
 * functions as lists, and types. tests/cuda/abi.c compares them with the toolkit's headers; it
 * includes both, for which COLLET_CUDA_TOOLKIT leaves out the types and constants.
 *
 * A list of functions has X(type, name, symbol, (parameters)): type, symbol and parameters as the
 * library has them, `name` for the member of a struct of pointers. Enumerations are int here.
 */
#ifndef COLLET_CUDA_ABI_H
#define COLLET_CUDA_ABI_H

#define ABI_CONSTANT(name, value) name = (value),
#define ABI_MEMBER(type, name, symbol, parameters) type(*name) parameters;
#define ABI_PROTOTYPE(type, name, symbol, parameters) type symbol parameters;

#endif

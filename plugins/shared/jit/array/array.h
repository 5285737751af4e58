/* SPDX-License-Identifier: Apache-2.0 */
/* array.h - a kernel of the array family that other kernels call. */
#ifndef PLUGINS_SHARED_JIT_ARRAY_ARRAY_H
#define PLUGINS_SHARED_JIT_ARRAY_ARRAY_H

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

jit_run jit_copy;

#endif

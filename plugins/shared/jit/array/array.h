/* SPDX-License-Identifier: Apache-2.0 */
/* array.h - a kernel of the array family that other kernels call. */
#pragma once

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

jit_run jit_copy;

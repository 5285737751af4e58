/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.h - the random family on devices: rows for a backend's table of kernels. Run functions as
 * in plugin.h.
 */
#ifndef PLUGINS_SHARED_JIT_RANDOM_RANDOM_H
#define PLUGINS_SHARED_JIT_RANDOM_RANDOM_H

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

jit_run jit_random; /* uniform, normal */

#define JIT_RANDOM_ROWS                                                                            \
    JIT_ROW(UNIFORM, random, F), JIT_ROW(UNIFORM, random, D), JIT_ROW(NORMAL, random, F),          \
        JIT_ROW(NORMAL, random, D)

#endif

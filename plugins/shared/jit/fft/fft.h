/* SPDX-License-Identifier: Apache-2.0 */
/* fft.h - the kernel `fft`, which a backend's own functions may call. */
#pragma once

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

jit_run jit_fft;
jit_accepts jit_fft_accepts;

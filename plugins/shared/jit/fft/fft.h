/* SPDX-License-Identifier: Apache-2.0 */
/* fft.h - the kernel `fft`, which a backend's own functions may call. */
#ifndef PLUGINS_SHARED_JIT_FFT_FFT_H
#define PLUGINS_SHARED_JIT_FFT_FFT_H

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

jit_run jit_fft;
jit_accepts jit_fft_accepts;

#endif

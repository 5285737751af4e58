/* SPDX-License-Identifier: Apache-2.0 */
/* fft.h - the fft family on devices: rows for a backend's table of kernels. */
#ifndef PLUGINS_SHARED_JIT_FFT_FFT_H
#define PLUGINS_SHARED_JIT_FFT_FFT_H

#include "shared/jit/array/array.h"

jit_run jit_fft, jit_fftshift;
jit_accepts jit_fft_accepts;

/* `fft`: a backend's function, jit_fft or another. */
#define JIT_FFT_ROWS(fft)                                                                          \
    JIT_ROW_BY(FFT, fft, C, C), JIT_ROW_BY(FFT, fft, Z, Z), JIT_ROW_BY(FFT, fft, C, F),            \
        JIT_ROW_BY(FFT, fft, Z, D), JIT_ROW_BY(FFT, fft, F, C), JIT_ROW_BY(FFT, fft, D, Z),        \
        JIT_MOVES(FFTSHIFT, fftshift)

#endif

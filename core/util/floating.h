/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floating - the thread's floating-point control: rounding, flush-to-zero, exception masks. Opening
 * a library that was linked with -ffast-math changes it for the whole host.
 */
#ifndef COLLET_CORE_FLOATING_H
#define COLLET_CORE_FLOATING_H

#include <stdint.h>

typedef struct floating_state {
    uint64_t control; /* of the vector unit: MXCSR, FPCR; without sticky flags */
    uint64_t legacy;  /* x87 control word */
} floating_state;

floating_state floating_save(void);
void floating_restore(floating_state state);
int floating_equal(floating_state a, floating_state b);

#endif

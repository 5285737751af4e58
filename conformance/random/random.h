/* SPDX-License-Identifier: Apache-2.0 */
/* random.h - the kit's own implementation of Philox4x32-10, from the paper. */
#pragma once

#include <stdint.h>

/* The block at a counter of four 32-bit numbers: the two halves of `counter`, the low one first, `third` and `fourth`. */
void kit_philox(uint64_t seed, uint64_t counter, uint32_t third, uint32_t fourth, uint32_t x[4]);

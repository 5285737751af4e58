/* SPDX-License-Identifier: Apache-2.0 */
/* colour.h - perceptually uniform maps from numbers to colours. */
#pragma once

#include <stdint.h>

/* Returns the colour 0xRRGGBB for t from 0 to 1: from dark blue through red to light yellow, with evenly
 * growing lightness. */
uint32_t rsoxs_colour(double t);
/* Returns the colour of an angle, where t = 1 is a whole turn: all hues, with the same lightness. */
uint32_t rsoxs_colour_cyclic(double t);

#define RSOXS_COLOUR_NAN 0xc8c8c8u

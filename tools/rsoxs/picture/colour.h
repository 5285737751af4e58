/* SPDX-License-Identifier: Apache-2.0 */
/* colour.h - maps from numbers to colours, perceptually uniform. */
#ifndef TOOLS_RSOXS_PICTURE_COLOUR_H
#define TOOLS_RSOXS_PICTURE_COLOUR_H

#include <stdint.h>

/* 0xRRGGBB of t from 0 to 1: from dark blue by red to light yellow, the lightness growing evenly.
 */
uint32_t rsoxs_colour(double t);
/* The colour of an angle, 1 a whole turn: all hues, with the same lightness. */
uint32_t rsoxs_colour_cyclic(double t);

#define RSOXS_COLOUR_NAN 0xc8c8c8u

#endif

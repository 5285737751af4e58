/* SPDX-License-Identifier: Apache-2.0 */
/* elements.h - the atomic weights of the elements. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct trajectory_element {
    char symbol[3];
    double mass; /* amu */
} trajectory_element;

#define TRAJECTORY_ELEMENTS 86
/* Element `index` < TRAJECTORY_ELEMENTS, in the order of atomic numbers; the last is a virtual site, "". */
const trajectory_element *trajectory_element_at(size_t index);

/* Returns the element with that symbol, in upper or lower case; NULL if there is no such element, or if it has no
 * standard atomic weight (technetium and other short-lived elements). D is deuterium. */
const trajectory_element *trajectory_element_find(const char *symbol, size_t length);

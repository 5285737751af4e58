/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of elementwise ops share: kinds of values, the plan, where an element is found. */
#ifndef COLLET_KIT_ARRAY_H
#define COLLET_KIT_ARRAY_H

#include "kit.h"

/* Kinds of values: EDGES are those of an op's own range. */
enum { ORDINARY, SPECIAL, BITS, EDGES };

/* Lengths, shapes, layouts, broadcasts, sharing of memory, parts and big arrays, of all kinds. */
void kit_plan_elementwise(kit_plan *plan);

/* All inputs by the case's kind; EDGES as BITS. */
void kit_generate_any(kit_case *c, kit_rng *rng);

/* Where element i of output 0 finds input k. */
int64_t kit_source(const kit_case *c, uint32_t k, int64_t i);

#endif

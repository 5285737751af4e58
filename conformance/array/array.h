/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the elementwise ops: kinds of values, the plan, index mapping of broadcast inputs. */
#ifndef COLLET_KIT_ARRAY_H
#define COLLET_KIT_ARRAY_H

#include "kit.h"

/* Kinds of values; EDGES are arguments near the limits of an op's range. */
enum { ORDINARY, SPECIAL, BITS, EDGES };

/* Plans lengths, shapes, layouts, broadcasts, memory sharing, parts and big arrays, of all
 * kinds. */
void kit_plan_elementwise(kit_plan *plan);

/* Fills all inputs by the case's kind; EDGES is as BITS. */
void kit_generate_any(kit_case *c, kit_rng *rng);

/* The element of input k that corresponds to element i of output 0. */
int64_t kit_source(const kit_case *c, uint32_t k, int64_t i);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the elementwise ops: kinds of values, the plan, index mapping of broadcast inputs. */
#ifndef CONFORMANCE_ARRAY_ARRAY_H
#define CONFORMANCE_ARRAY_ARRAY_H

#include "kit.h"

/* Kinds of values; EDGES are arguments near the limits of an op's range, or of the dtype's. A
 * SCALAR's case has its scalar when it is planned. */
enum { ORDINARY, SPECIAL, BITS, EDGES, SCALAR };

/* Plans lengths, shapes, layouts, broadcasts, memory sharing, parts and big arrays, of all
 * kinds. */
void kit_plan_elementwise(kit_plan *plan);

/* Plans a case for each edge value of each dtype that a scalar parameter of the op may have:
 * complex only where output 0 is. `scalar` is the parameter in c->params. */
void kit_plan_scalars(kit_plan *plan, collet_scalar *(*scalar)(kit_case *c));

/* Fills all inputs by the case's kind; EDGES are the edges of the dtype, SCALAR is as ORDINARY. */
void kit_generate_any(kit_case *c, kit_rng *rng);

/* The element of input k that corresponds to element i of output 0. */
int64_t kit_source(const kit_case *c, uint32_t k, int64_t i);

#endif

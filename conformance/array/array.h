/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for all elementwise ops: kinds of values, the plan, indices into broadcast inputs. */
#pragma once

#include "kit.h"

/* Kinds of values. EDGES: arguments near the limits of the op's range, or the dtype's edge values.
 * SCALAR: the scalar of the case is set when the case is planned. STORED: the arguments of conformance/vectors.
 * EVERY: every value of a dtype of 8 or 16 bits. MIRRORED: an identity derives the second half of the arguments from
 * the first half. */
enum { ORDINARY, SPECIAL, BITS, EDGES, SCALAR, STORED, EVERY, MIRRORED };

/* Plans cases of all kinds: lengths, shapes, layouts, broadcasts, memory sharing, parts, big
 * arrays. */
void kit_plan_elementwise(kit_plan *plan);

/* Plans a case for each edge value of each dtype that a scalar parameter of the op may have. Complex values
 * are used only if output 0 is complex. `scalar` is the parameter in c->params. */
void kit_plan_scalars(kit_plan *plan, collet_scalar *(*scalar)(kit_case *c));

/* Fills all inputs as the case's kind requires; EDGES are the dtype's edge values, SCALAR is
 * treated as ORDINARY. */
void kit_generate_any(kit_case *c, kit_rng *rng);

/* The element of input k that corresponds to element i of output 0. */
int64_t kit_source(const kit_case *c, uint32_t k, int64_t i);

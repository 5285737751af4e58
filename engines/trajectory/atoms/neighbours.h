/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbours.h - finds points that are near to other points in a periodic box.
 *
 * The box is any parallelepiped; a vector of length 0 is an axis without a period. The distance of two points is the
 * smallest distance to any periodic image, even if it is above half the box. The search uses cell lists, so time
 * grows with the number of points.
 */
#pragma once

#include <collet/collet.h>

/* Memory of a search, kept for the next search. One thread at a time. */
typedef struct trajectory_neighbours trajectory_neighbours;

/* NULL if out of memory. */
trajectory_neighbours *trajectory_neighbours_create(void);
/* NULL is allowed. */
void trajectory_neighbours_free(trajectory_neighbours *neighbours);

/* For each of n_targets points sets near[i] to 1 if the point is at most `distance` from one of the n_sources points,
 * computed in double precision, else to 0. Points are 3 numbers each, in the unit of box[9] and `distance` >= 0; a
 * point that is not finite is near no point. To save memory, the coordinates of points outside the box are
 * overwritten by their image in the box. COLLET_FORMAT for a box that is flat, not finite or thousands of times
 * longer than wide; COLLET_OVERFLOW for more than INT32_MAX points; COLLET_NO_MEMORY. */
collet_status trajectory_neighbours_find(trajectory_neighbours *neighbours, const double box[9],
                                         double distance, double *sources, int64_t n_sources,
                                         double *targets, int64_t n_targets, uint8_t *near,
                                         collet_error *err);

/* Receives a pair of points, and the vector from the near image of the first point to the second point. Returns 0 if
 * out of memory. */
typedef int trajectory_neighbours_pair(void *user, int64_t first, int64_t second,
                                       const double difference[3]);

/* Visits all pairs of two of the n points that are at most `distance` apart: each pair once for every image that is
 * near enough. A point and its own images are no pairs. Points and errors are as in the function above; coordinates are
 * overwritten. COLLET_FORMAT also if so many points are in the same place that the search would take too long; some
 * pairs were visited then. */
collet_status trajectory_neighbours_pairs(trajectory_neighbours *neighbours, const double box[9],
                                          double distance, double *points, int64_t n,
                                          trajectory_neighbours_pair *visit, void *user,
                                          collet_error *err);

/* SPDX-License-Identifier: Apache-2.0 */
/* paths.h - centres of mass on paths without jumps (--pbc nojump) that lead through all parts. */
#pragma once

#include "order.h"

/* 1 if the merge computes the array `key` of the parts anew, by merge_paths_join. */
int merge_paths_has(const merge_part *part, const char *key);

/* Returns INVALID if the paths of a part cannot be continued; the text says why. */
collet_status merge_paths_check(const merge_part *part, collet_error *err);

/* Computes the centres of mass of the kept rows of n parts, in the order of time, as one run over all their frames does,
 * from the arrays com_wrapped, molecule_wrapped and box. `take` receives them. A remark is added if a body moves so
 * far between two parts that the shortest path may not be the true path. */
collet_status merge_paths_join(const merge_part *parts, size_t n, merge_remarks *remarks, merge_take take, void *user,
                               collet_error *err);

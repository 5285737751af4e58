/* SPDX-License-Identifier: Apache-2.0 */
/* planes.h - the adjoint of scatter_slices. */
#pragma once

#include "scatter/adjoint/adjoint.h"

/* Writes the cotangents of the half spectra of layers first .. first+count-1 of material m to `planes`
 * [fields, count, Y, X / 2 + 1]. Their inverse transform is the cotangents of the fields. */
void scatter_adjoint_planes(scatter_adjoint *a, int64_t m, int64_t first, int64_t count,
                            void *planes);

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/scatter/fields.c, conformance/scatter/sphere.c,
 * conformance/scatter/average.c */
#include "device.h"

#include "shared/host/scatter/scatter.h"

KERNEL(scatter)
{
    int64_t rows;
    cpu_scatter(call, &rows)(call, 0, rows);
    return COLLET_OK;
}

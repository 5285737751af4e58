/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel rows that a device offers. */
#pragma once

#include "device.h"

/* Sets d->first and d->rows from the open device's table. NO_MEMORY. */
collet_status rows_index(device *d, collet_error *err);
void rows_free(device *d);

/* The row for (op, sig), without comparing operands outside `mask`; NULL if none matches. The
 * device must be open. */
const collet_kernel_row *device_find_row(const device *d, uint32_t op, uint64_t sig, uint64_t mask);

/* SPDX-License-Identifier: Apache-2.0 */
/* devices.h - several devices that share the energies of a scattering. */
#pragma once

#include "scatter/state.h"

/* Has one collet_scatter for each device. Each device computes blocks of energies. */
typedef struct scatter_devices scatter_devices;

/* Opens scatterings for the options' devices, in the runtime. The voxels must have been checked. */
collet_status scatter_devices_open(collet_runtime *runtime, const collet_scatter_options *options,
                                   scatter_devices **out, collet_error *err);
/* NULL is allowed. */
void scatter_devices_close(scatter_devices *devices);
const collet_scatter_plan *scatter_devices_plan(const scatter_devices *devices);
/* Like collet_scatter_next. Callbacks are called here, on the caller's thread. */
collet_status scatter_devices_next(scatter_devices *devices, const collet_scatter_pattern **out,
                                   collet_error *err);
/* NOT_FOUND beyond the devices. */
collet_status scatter_devices_share(const scatter_devices *devices, collet_device_share *share,
                                    size_t index);

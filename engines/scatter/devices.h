/* SPDX-License-Identifier: Apache-2.0 */
/* devices.h - several devices that share the energies of a scattering. */
#ifndef ENGINES_SCATTER_DEVICES_H
#define ENGINES_SCATTER_DEVICES_H

#include "scatter/state.h"

/* A thread a device; each computes blocks of energies by its own scattering. */
typedef struct scatter_devices scatter_devices;

/* With the options' further contexts. What is wrong with the voxels was checked. */
collet_status scatter_devices_open(collet_context *context,
                                   const collet_scattering_options *options, scatter_devices **out,
                                   collet_error *err);
/* NULL is allowed. */
void scatter_devices_close(scatter_devices *devices);
const collet_scattering_plan *scatter_devices_plan(const scatter_devices *devices);
/* As collet_scattering_next. Callbacks are called here, on the caller's thread. */
collet_status scatter_devices_next(scatter_devices *devices, const collet_scattering_pattern **out,
                                   collet_error *err);

#endif

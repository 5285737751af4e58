/* SPDX-License-Identifier: Apache-2.0 */
/* checks.h - options and voxels before hours are spent on them. */
#ifndef COLLET_ENGINES_SCATTER_CHECKS_H
#define COLLET_ENGINES_SCATTER_CHECKS_H

#include <collet/scatter.h>

/* INVALID, with what is wrong and where. */
collet_status scatter_check_options(const collet_scattering_options *options, collet_error *err);
collet_status scatter_check_voxels(const collet_scattering_options *options, collet_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* plot.h - the option --plot: pictures of the results over time, one for each group of quantities. */
#pragma once

#include "series.h"

/* A check before the work: IO if a picture exists and `force` is 0; REFUSED without cairo; NO_MEMORY. */
collet_status extract_plot_check(const collet_trajectory *trajectory, const char *directory,
                                 int force, collet_error *err);

/* Draws DIRECTORY/NAME.png for each group that the series have. Fails with NO_MEMORY; with REFUSED without cairo;
 * with IO, also if a picture exists and `force` is 0. */
collet_status extract_plot(const extract_series *series, const char *directory, int force,
                           collet_error *err);

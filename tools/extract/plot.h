/* SPDX-License-Identifier: Apache-2.0 */
/* plot.h - pictures of the results over time, one for each group of quantities: --plot. */
#ifndef TOOLS_EXTRACT_PLOT_H
#define TOOLS_EXTRACT_PLOT_H

#include "series.h"

/*
 * Draws DIRECTORY/NAME.png for each group that the series have, and makes the directory if it is
 * missing. `force`: pictures that exist are replaced. IO, NO_MEMORY; REFUSED without cairo.
 */
collet_status extract_plot(const extract_series *series, const char *directory, int force,
                           collet_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_clock.c */
#include "index.h"
#include "parts.h"
#include "places.h"
#include "scan.h"

#include <collet/floating.h>
#include <collet/trajectory.h>
#include <math.h>

/* Reads heads of frames up to the end, or to the first head that cannot be read. */
static collet_status read_times(trajectory_reader *t, double *times, size_t capacity, int64_t *n,
                                collet_error *err)
{
    collet_error own = {0};

    for (*n = 0;; ++*n) {
        trajectory_frame_head head = {.lacking = -1};
        int at_end;

        collet_status status = trajectory_scan_head(t, &head, &at_end, &own);
        if (status == COLLET_FORMAT || (status == COLLET_OK && at_end))
            return COLLET_OK;
        if (status != COLLET_OK)
            return collet_fail(err, status, "%s", own.text);
        const trajectory_clock stored = {0};
        const trajectory_clock *clock =
            t->places ? trajectory_places_clock(t->places, t->index) : &stored;
        if ((size_t)*n < capacity)
            times[*n] = head.has_time && isfinite(head.time)
                            ? trajectory_clock_time(clock, t->index, head.step, head.time)
                            : (double)NAN;
        trajectory_scan_step(t, &head);
    }
}

collet_status collet_trajectory_times(double *times, size_t capacity, int64_t *n,
                                      const char *const *paths, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    trajectory_reader *t = NULL;
    int64_t n_paths = 0, counted;

    if (!paths || !paths[0] || !n || (capacity > 0 && !times))
        return collet_fail(err, COLLET_INVALID, "collet_trajectory_times: %s",
                           !paths || !paths[0] ? "there is no path" : "n or times is NULL");
    while (paths[n_paths])
        n_paths++;
    collet_status status = trajectory_parts_open(paths, n_paths, NULL, &t, err);
    if (status == COLLET_OK && trajectory_reader_get_info(t)->rounds_times)
        status = trajectory_reader_count(t, NULL, NULL, &counted, err);
    if (status == COLLET_OK)
        status = read_times(t, times, capacity, n, err);
    trajectory_reader_close(t);
    return status;
}

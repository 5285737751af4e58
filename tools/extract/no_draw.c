/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces draw.c in a build without cairo.
 * Tests: tests/tools/test_extract_plot.c */
#include "draw.h"

collet_status extract_draw_check(const char *path, int force, collet_error *err)
{
    (void)force;
    return collet_fail(err, COLLET_REFUSED,
                       "%s: no pictures, because collet was built without cairo: install "
                       "libcairo2-dev and build it again",
                       path);
}

collet_status extract_draw(const extract_picture *picture, const char *path, int force,
                           collet_error *err)
{
    (void)force;
    (void)picture;
    return extract_draw_check(path, 1, err);
}

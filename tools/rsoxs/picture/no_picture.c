/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces picture.c in a build without cairo.
 * Tests: tests/tools/rsoxs/test_rsoxs_view.c, tests/tools/rsoxs/test_rsoxs_results.c */
#include "picture.h"

const int rsoxs_has_pictures = 0;

collet_status rsoxs_picture_write(const rsoxs_picture *picture, const char *path, int replace,
                                  collet_error *err)
{
    (void)picture;
    return collet_fail(err, COLLET_REFUSED,
                       "%s: no pictures, because collet was built without cairo: install "
                       "libcairo2-dev and build it again",
                       path);
}

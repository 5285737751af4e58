/* SPDX-License-Identifier: Apache-2.0 */
/* In a build without collet-rsoxs.
 * Tests: tests/tools/test_merge.c */
#include "rsoxs.h"

int merge_is_rsoxs(const char *path)
{
    (void)path;
    return 0;
}

int merge_rsoxs(const char *path, const char *directory, int quiet)
{
    (void)path;
    (void)directory;
    (void)quiet;
    return 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs.c */
#include "files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

collet_status rsoxs_make_directory(const char *path, int *made, collet_error *err)
{
    struct stat found;
    *made = mkdir(path, 0777) == 0;
    int failed = errno;
    if (*made || (stat(path, &found) == 0 && S_ISDIR(found.st_mode)))
        return COLLET_OK;
    return collet_fail(err, COLLET_IO, "%s: cannot be created: %s", path, strerror(failed));
}

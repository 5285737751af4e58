/* SPDX-License-Identifier: Apache-2.0 */
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
    return collet_fail(err, COLLET_IO, "%s: cannot be made: %s", path, strerror(failed));
}

collet_status rsoxs_check_output(const char *output, const char *input, collet_error *err)
{
    struct stat first, second;
    if (stat(output, &first) != 0 || stat(input, &second) != 0 || first.st_dev != second.st_dev ||
        first.st_ino != second.st_ino)
        return COLLET_OK;
    return collet_fail(err, COLLET_INVALID,
                       "the output %s would replace the input %s; choose another with -o", output,
                       input);
}

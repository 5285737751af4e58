/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs.c */
#include "directory.h"

#include "common/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

collet_status tool_make_directory(const char *path, int *made, collet_error *err)
{
    struct stat found;
    *made = mkdir(path, 0777) == 0;
    int failed = errno;
    if (*made || (stat(path, &found) == 0 && S_ISDIR(found.st_mode)))
        return COLLET_OK;
    return collet_fail(err, COLLET_IO, "%s: cannot be created: %s", path, strerror(failed));
}

/* Measures the disk of the directory. If the directory does not exist, measures the disk where it will be created. */
static int measure(const char *directory, struct statvfs *disk)
{
    if (statvfs(*directory ? directory : ".", disk) == 0)
        return 1;
    char *parent = strdup(directory);
    if (!parent)
        return 0;
    for (size_t end = strlen(parent); end && parent[end - 1] == '/';)
        parent[--end] = '\0';
    char *slash = strrchr(parent, '/');
    if (slash)
        slash[1] = '\0';
    int known = statvfs(slash ? parent : ".", disk) == 0;
    free(parent);
    return known;
}

collet_status tool_check_space(const char *directory, double bytes, const char *what,
                               collet_error *err)
{
    struct statvfs disk;
    char has[TOOL_SIZE_TEXT], needs[TOOL_SIZE_TEXT];
    if (!measure(directory, &disk) || disk.f_blocks == 0 || /* as /proc */
        (double)disk.f_bavail * (double)disk.f_frsize >= bytes)
        return COLLET_OK;
    return collet_fail(err, COLLET_IO, "%s: no space left: %s need about %s, and there are %s",
                       *directory ? directory : ".", what, tool_size_format(needs, bytes),
                       tool_size_format(has, (double)disk.f_bavail * (double)disk.f_frsize));
}

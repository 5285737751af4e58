/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a program: writes to files in directories of shards fail as if the disk were
 * full. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    char link[48], path[512];

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    if (strstr(path, ".shards/") != NULL) {
        errno = ENOSPC;
        return -1;
    }
    return (ssize_t)syscall(SYS_pwrite64, fd, bytes, n, at);
}

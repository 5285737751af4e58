/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a program: file locks fail, as on NFS without its lock daemon. */
#include <errno.h>
#include <sys/file.h>

int flock(int fd, int operation)
{
    (void)fd, (void)operation;
    errno = ENOLCK;
    return -1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a program: kills it at its call number KILL_AT of rename, counted from 1. If
 * KILL_AT is 0, kills it when it flushes a directory. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int rename(const char *from, const char *to)
{
    static int calls;
    int at = atoi(getenv("KILL_AT"));
    if (++calls == abs(at))
        raise(at < 0 ? SIGSTOP : SIGKILL);
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int fsync(int fd)
{
    struct stat st;
    if (atoi(getenv("KILL_AT")) == 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
        raise(SIGKILL);
    return (int)syscall(SYS_fsync, fd);
}

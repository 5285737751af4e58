/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/worker/test_worker.c */
#include "wire.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FDS_MAX 4

typedef union ancillary {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
} ancillary;

int wire_send(int socket, const void *message, size_t bytes, const int *fds, int fd_count)
{
    ancillary extra;
    struct iovec part = {(void *)(uintptr_t)message, bytes};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd_count) {
        size_t size = (size_t)fd_count * sizeof *fds;
        memset(&extra, 0, sizeof extra);
        m.msg_control = extra.bytes;
        m.msg_controllen = CMSG_SPACE(size);
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(c), fds, size);
    }
    for (;;) {
        if (sendmsg(socket, &m, MSG_NOSIGNAL) >= 0)
            return 0;
        if (errno != EINTR)
            return errno;
    }
}

static void take_descriptors(struct msghdr *m, int *fds, int *fd_count)
{
    int capacity = fd_count ? *fd_count : 0, count = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (count < capacity)
                fds[count++] = fd;
            else
                close(fd);
        }
    }
    if (fd_count)
        *fd_count = count;
}

long wire_receive(int socket, void *message, size_t bytes, int *fds, int *fd_count, int flags)
{
    ancillary extra;
    struct iovec part = {message, bytes};
    struct msghdr m;
    long got;
    do {
        m = (struct msghdr){.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = extra.bytes,
                            .msg_controllen = sizeof extra.bytes};
        got = recvmsg(socket, &m, MSG_CMSG_CLOEXEC | flags);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return -errno;
    take_descriptors(&m, fds, fd_count);
    return m.msg_flags & MSG_TRUNC ? -EMSGSIZE : got;
}

void wire_text(char *to, const char *from)
{
    size_t i = 0;
    for (; i < WIRE_TEXT - 1 && from[i]; i++)
        to[i] = (char)((unsigned char)from[i] < 0x20 || from[i] == 0x7f ? ' ' : from[i]);
    to[i] = '\0';
}

void wire_futex_wait(_Atomic uint32_t *word, uint32_t seen, int64_t nanoseconds)
{
    struct timespec limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    syscall(SYS_futex, word, FUTEX_WAIT, seen, nanoseconds < 0 ? NULL : &limit, NULL, 0);
}

void wire_futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

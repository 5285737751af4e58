/* SPDX-License-Identifier: Apache-2.0 */
/* collet-worker - serves one device of one backend to the backend `worker` of another process,
 * which starts it: collet-worker NAME[:DEVICE] THREADS PARENT KEY=VALUE...
 * Tests: tests/worker/test_worker.c */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "serve.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* Closes all inherited descriptors except the two sockets and the standard error of the program. */
static void close_inherited(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3 && null >= 0; fd++)
        if (fd < 2 || fcntl(fd, F_GETFD) < 0)
            dup2(null, fd);
    fcntl(WIRE_CONTROL, F_SETFD, FD_CLOEXEC);
    fcntl(WIRE_EVENTS, F_SETFD, FD_CLOEXEC);
    if (!syscall(SYS_close_range, WIRE_EVENTS + 1, ~0u, 0))
        return;
    DIR *directory = opendir("/proc/self/fd");
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        long fd = strtol(entry->d_name, NULL, 10);
        if (fd > WIRE_EVENTS && fd != dirfd(directory))
            close((int)fd);
    }
    if (directory)
        closedir(directory);
}

/* A handler that does nothing. Programs that the backend starts do not inherit a handler, but they inherit SIG_IGN. */
static void leave_to_program(int number)
{
    (void)number;
}

/* Resets the signals, because the thread that started the worker had blocked all of them. SIGHUP, SIGINT and SIGTERM
 * have no effect: a terminal or scheduler sends them to every process of a job, but the program ends the worker. */
static void signals_default(void)
{
    static const int asked[] = {SIGHUP, SIGINT, SIGTERM};
    sigset_t none;
    for (int i = 1; i < 32; i++)
        signal(i, SIG_DFL);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        signal(asked[i], leave_to_program);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
}

int main(int argc, char **argv)
{
    static server s;
    int type;
    socklen_t size = sizeof type;
    if (argc < 4 || getsockopt(WIRE_CONTROL, SOL_SOCKET, SO_TYPE, &type, &size) ||
        type != SOCK_SEQPACKET) {
        fprintf(stderr, "collet-worker is started by the backend worker: collet-worker "
                        "NAME[:DEVICE] THREADS PARENT KEY=VALUE...\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != (pid_t)strtol(argv[3], NULL, 10))
        return 1;
    signals_default();
    close_inherited();
    s.threads = (int32_t)strtol(argv[2], NULL, 10);
    int served = serve_open(&s, argv[1], (const char *const *)argv + 4);
    if (served)
        serve_control(&s);
    /* _exit() skips destructors: the operating system frees all that the backend left. */
    _exit(!served);
}

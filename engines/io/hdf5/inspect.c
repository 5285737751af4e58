/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs_damaged.c, tests/tools/test_extract_damaged.c */
#include "inspect.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The path of collet-inspect: in the folder of the plugins, next to this library. 0: unknown. */
static int find_program(char *path, size_t size)
{
    Dl_info info;
    const char *slash;
    if (!dladdr((const void *)(uintptr_t)io_hdf5_inspect, &info) || !info.dli_fname ||
        !(slash = strrchr(info.dli_fname, '/')))
        return 0;
    int length = snprintf(path, size, "%.*s/collet/collet-inspect", (int)(slash - info.dli_fname),
                          info.dli_fname);
    return length > 0 && (size_t)length < size;
}

/* collet-inspect gets its own process group, because Ctrl-C is for the caller. If Ctrl-C ended collet-inspect, the
 * file would seem damaged. */
static int spawn(const char *program, const char *kind, const char *path, const int64_t *numbers,
                 int report, pid_t *pid)
{
    const char *arguments[3 + IO_HDF5_ARGUMENTS + 1] = {program, kind, path};
    char texts[IO_HDF5_ARGUMENTS][24];
    char *const nothing[] = {NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    for (int i = 0; i < IO_HDF5_ARGUMENTS; i++) {
        snprintf(texts[i], sizeof texts[i], "%" PRId64, numbers[i]);
        arguments[3 + i] = texts[i];
    }
    sigemptyset(&none);
    sigfillset(&all);
    if (posix_spawn_file_actions_init(&actions))
        return ENOMEM;
    if (posix_spawnattr_init(&attributes)) {
        posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    int error = posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    error |= posix_spawnattr_setsigmask(&attributes, &none);
    error |= posix_spawnattr_setsigdefault(&attributes, &all);
    error |= posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    error |= posix_spawn_file_actions_adddup2(&actions, report, 1);
    error |= posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    error = error ? ENOMEM
                  : posix_spawn(pid, program, &actions, &attributes, (char *const *)arguments,
                                getauxval(AT_SECURE) ? nothing : environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* If the program reaps or ignores its children, there is no exit status, and only the byte shows success. */
static collet_status wait_for(pid_t pid, int report, const char *path, collet_error *err)
{
    char byte;
    int status = 0;
    ssize_t count;
    while ((count = read(report, &byte, 1)) < 0 && errno == EINTR)
        ;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (count == 1)
        return COLLET_OK;
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM))
        return collet_fail(err, COLLET_IO,
                           "%s: the process that tests the file was ended by signal %d: too little "
                           "memory?",
                           path, WTERMSIG(status));
    return collet_fail(
        err, COLLET_FORMAT, "%s: the file is damaged: libhdf5 %s while it reads the datasets", path,
        WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF ? "does not end" : "crashes");
}

collet_status io_hdf5_inspect(const io_hdf5_inspection *inspection, const char *path,
                              const int64_t arguments[IO_HDF5_ARGUMENTS], collet_error *err)
{
    char program[PATH_MAX];
    int report[2];
    pid_t pid;
    if (!find_program(program, sizeof program) || pipe2(report, O_CLOEXEC) != 0)
        return COLLET_OK;
    int error = spawn(program, inspection->kind, path, arguments, report[1], &pid);
    close(report[1]);
    collet_status status = error ? COLLET_OK : wait_for(pid, report[0], path, err);
    close(report[0]);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "failing_calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    char name[40];
    long before; /* successful calls before the failure; negative: the call has failed */
    int error;
} failing;

void call_fails(const char *name, long n, int error)
{
    snprintf(failing.name, sizeof failing.name, "%s", name ? name : "");
    failing.before = n;
    failing.error = error;
}

int call_failed(void)
{
    return failing.before < 0;
}

__attribute__((constructor)) static void from_environment(void)
{
    char name[40];
    long n;
    int error;
    const char *text = getenv("FAILING_CALL");
    if (text && sscanf(text, "%39[^:]:%ld:%d", name, &n, &error) == 3)
        call_fails(name, n, error);
}

/* The errno value with which this call must fail; 0: make the call. */
static int failure(const char *name)
{
    if (strcmp(name, failing.name) || failing.before < 0 || failing.before-- > 0)
        return 0;
    errno = failing.error;
    return failing.error;
}

/* The number of bytes to read or write, half of n for CALL_SHORT; 0: the call fails. */
static size_t part(const char *name, size_t n)
{
    int error = failure(name);
    return error == CALL_SHORT ? n / 2 : error ? 0 : n;
}

/* The wrappers are exported so that ld also resolves references of shared libraries to them. */
#pragma GCC visibility push(default)

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __real_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st);
int __real_fstatat(int fd, const char *path, struct stat *st, int flags);
int __wrap_fstatat(int fd, const char *path, struct stat *st, int flags);
ssize_t __real_readlinkat(int fd, const char *path, char *out, size_t size);
ssize_t __wrap_readlinkat(int fd, const char *path, char *out, size_t size);
int __real_pipe2(int *ends, int flags);
int __wrap_pipe2(int *ends, int flags);
FILE *__real_fdopen(int fd, const char *mode);
FILE *__wrap_fdopen(int fd, const char *mode);
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
DIR *__real_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd);
int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
int __real_renameat(int from, const char *old, int to, const char *path);
int __wrap_renameat(int from, const char *old, int to, const char *path);
char *__real_getcwd(char *out, size_t size);
char *__wrap_getcwd(char *out, size_t size);
pid_t __real_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);
pid_t __real_fork(void);
pid_t __wrap_fork(void);
int __real_poll(struct pollfd *ends, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *ends, nfds_t count, int timeout);
int __real_signalfd(int fd, const sigset_t *mask, int flags);
int __wrap_signalfd(int fd, const sigset_t *mask, int flags);
pid_t __real_getppid(void);
pid_t __wrap_getppid(void);
int __real_posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions);
int __wrap_posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions);
int __real_posix_spawnattr_init(posix_spawnattr_t *attributes);
int __wrap_posix_spawnattr_init(posix_spawnattr_t *attributes);
int __real_posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int fd, int to);
int __wrap_posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int fd, int to);
int __real_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const *arguments,
                       char *const *variables);
int __wrap_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const *arguments,
                       char *const *variables);

int __wrap_fstat(int fd, struct stat *st)
{
    return failure("fstat") ? -1 : __real_fstat(fd, st);
}

int __wrap_stat(const char *path, struct stat *st)
{
    return failure("stat") ? -1 : __real_stat(path, st);
}

int __wrap_fstatat(int fd, const char *path, struct stat *st, int flags)
{
    return failure("fstatat") ? -1 : __real_fstatat(fd, path, st, flags);
}

ssize_t __wrap_readlinkat(int fd, const char *path, char *out, size_t size)
{
    return failure("readlinkat") ? -1 : __real_readlinkat(fd, path, out, size);
}

int __wrap_pipe2(int *ends, int flags)
{
    return failure("pipe2") ? -1 : __real_pipe2(ends, flags);
}

FILE *__wrap_fdopen(int fd, const char *mode)
{
    return failure("fdopen") ? NULL : __real_fdopen(fd, mode);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    return failure("fopen") ? NULL : __real_fopen(path, mode);
}

DIR *__wrap_fdopendir(int fd)
{
    return failure("fdopendir") ? NULL : __real_fdopendir(fd);
}

int __wrap_mkdir(const char *path, mode_t mode)
{
    return failure("mkdir") ? -1 : __real_mkdir(path, mode);
}

int __wrap_renameat(int from, const char *old, int to, const char *path)
{
    return failure("renameat") ? -1 : __real_renameat(from, old, to, path);
}

char *__wrap_getcwd(char *out, size_t size)
{
    return failure("getcwd") ? NULL : __real_getcwd(out, size);
}

pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
    return failure("waitpid") ? -1 : __real_waitpid(pid, status, options);
}

pid_t __wrap_fork(void)
{
    return failure("fork") ? -1 : __real_fork();
}

int __wrap_poll(struct pollfd *ends, nfds_t count, int timeout)
{
    return failure("poll") ? -1 : __real_poll(ends, count, timeout);
}

int __wrap_signalfd(int fd, const sigset_t *mask, int flags)
{
    return failure("signalfd") ? -1 : __real_signalfd(fd, mask, flags);
}

pid_t __wrap_getppid(void)
{
    return failure("getppid") ? -1 : __real_getppid();
}

int __wrap_posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions)
{
    int error = failure("posix_spawn_file_actions_init");
    return error ? error : __real_posix_spawn_file_actions_init(actions);
}

int __wrap_posix_spawnattr_init(posix_spawnattr_t *attributes)
{
    int error = failure("posix_spawnattr_init");
    return error ? error : __real_posix_spawnattr_init(attributes);
}

int __wrap_posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int fd, int to)
{
    int error = failure("posix_spawn_file_actions_adddup2");
    return error ? error : __real_posix_spawn_file_actions_adddup2(actions, fd, to);
}

int __wrap_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const *arguments,
                       char *const *variables)
{
    int error = failure("posix_spawn");
    return error ? error : __real_posix_spawn(pid, path, actions, attributes, arguments, variables);
}

int __real_close(int fd);
int __wrap_close(int fd);
/* Closes the descriptor even if the call fails. */
int __wrap_close(int fd)
{
    int error = failure("close"), code = __real_close(fd);
    return error ? -1 : code;
}

/* ---- Calls with variable arguments -------------------------------------------------------- */

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_openat(int fd, const char *path, int flags, ...);
int __wrap_openat(int fd, const char *path, int flags, ...);
int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

int __wrap_open(const char *path, int flags, ...)
{
    return failure("open") ? -1 : __real_open(path, flags);
}

int __wrap_openat(int fd, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return failure("openat") ? -1 : __real_openat(fd, path, flags, mode);
}

int __wrap_fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    int value = va_arg(arguments, int);
    va_end(arguments);
    return failure("fcntl") ? -1 : __real_fcntl(fd, command, value);
}

/* close_range */
long __wrap_syscall(long number, ...)
{
    va_list arguments;
    va_start(arguments, number);
    unsigned first = va_arg(arguments, unsigned), last = va_arg(arguments, unsigned);
    va_end(arguments);
    return failure("syscall") ? -1 : __real_syscall(number, first, last, 0);
}

/* ---- Transfers ----------------------------------------------------------------------------- */

ssize_t __real_read(int fd, void *bytes, size_t n);
ssize_t __wrap_read(int fd, void *bytes, size_t n);
ssize_t __real_write(int fd, const void *bytes, size_t n);
ssize_t __wrap_write(int fd, const void *bytes, size_t n);
ssize_t __real_pread(int fd, void *bytes, size_t n, off_t offset);
ssize_t __wrap_pread(int fd, void *bytes, size_t n, off_t offset);

/* Code that is compiled with _FILE_OFFSET_BITS=64 calls these names. */
ssize_t __real_pread64(int fd, void *bytes, size_t n, off_t offset);
ssize_t __wrap_pread64(int fd, void *bytes, size_t n, off_t offset);
ssize_t __real_pwrite64(int fd, const void *bytes, size_t n, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t n, off_t offset);
void *__real_mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset);
int __real_fstat64(int fd, void *st);
int __wrap_fstat64(int fd, void *st);

ssize_t __wrap_read(int fd, void *bytes, size_t n)
{
    n = part("read", n);
    return n ? __real_read(fd, bytes, n) : -1;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t n)
{
    n = part("write", n);
    return n ? __real_write(fd, bytes, n) : -1;
}

ssize_t __wrap_pread(int fd, void *bytes, size_t n, off_t offset)
{
    n = part("pread", n);
    return n ? __real_pread(fd, bytes, n, offset) : -1;
}

ssize_t __wrap_pread64(int fd, void *bytes, size_t n, off_t offset)
{
    n = part("pread64", n);
    return n ? __real_pread64(fd, bytes, n, offset) : -1;
}

ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t n, off_t offset)
{
    n = part("pwrite64", n);
    return n ? __real_pwrite64(fd, bytes, n, offset) : -1;
}

void *__wrap_mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    return failure("mmap64") ? MAP_FAILED : __real_mmap64(at, n, protection, flags, fd, offset);
}

int __wrap_fstat64(int fd, void *st)
{
    return failure("fstat64") ? -1 : __real_fstat64(fd, st);
}

#pragma GCC visibility pop

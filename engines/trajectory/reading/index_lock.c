/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_index_file.c */
#include "index_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define HOLDER 96 /* bytes of "process 7 of node3 (120 frames, 37 %)" */
#define PATIENCE 300.
#define LONGEST 60.
#define PAUSE_NS 20000000

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* 1 if it is time for a message: after a second, then after pauses that double up to a minute. A minute is far below
 * the time for which other processes wait (patience_s). */
static int is_time(trajectory_index_lock *lock)
{
    double t = now();
    int is_due = lock->due > 0 && t >= lock->due;

    if (lock->due == 0)
        lock->pause = 1;
    else if (is_due)
        lock->pause = 2 * lock->pause < LONGEST ? 2 * lock->pause : LONGEST;
    if (lock->due == 0 || is_due)
        lock->due = t + lock->pause;
    return is_due;
}

/* Returns 1 to cancel. */
static int tell(trajectory_index_lock *lock, const char *format, ...) COLLET_PRINTF(2, 3);

static int tell(trajectory_index_lock *lock, const char *format, ...)
{
    char text[COLLET_ERROR_TEXT];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return lock->watch.tell && lock->watch.tell(lock->watch.user, text) != 0;
}

/* Writes into the lock file which process has the lock and how far the work is. Other processes read this text only
 * for messages, so a failed write is not an error. */
static void sign(const trajectory_index_lock *lock, int64_t frames, int percent)
{
    char holder[HOLDER] = "";
    struct utsname system = {0};

    uname(&system);
    snprintf(holder, sizeof holder, "process %ld of %.40s (%lld frames, %d %%)", (long)getpid(),
             system.nodename, (long long)frames, percent);
    (void)!pwrite(lock->fd, holder, sizeof holder, 0);
}

/* ---- Waiting ----------------------------------------------------------------------------- */

/* A wait for another process. */
typedef struct wait {
    char holder[HOLDER]; /* text of the lock file; "": not read yet */
    double since;        /* time of the last change of the text */
    double pause;        /* seconds until the next try */
} wait;

static void read_holder(int fd, wait *w)
{
    char text[HOLDER] = "";

    if (pread(fd, text, sizeof text - 1, 0) <= 0 || strcmp(text, w->holder) == 0)
        return;
    memcpy(w->holder, text, sizeof text);
    w->since = now();
}

static collet_status check_wait(trajectory_index_lock *lock, int fd, wait *w, collet_error *err)
{
    const double patience = lock->watch.patience_s > 0 ? lock->watch.patience_s : PATIENCE;

    read_holder(fd, w);
    const char *holder = w->holder[0] ? w->holder : "another process";
    if (is_time(lock) &&
        tell(lock, "%s: waiting for its index, which %s makes", lock->name, holder))
        return collet_fail(err, COLLET_CANCELLED, "%s: cancelled", lock->name);
    if (now() - w->since > patience)
        return collet_fail(err, COLLET_IO,
                           "%s: waited %.0f s for its index, which %s makes without progress: end "
                           "that process, or remove %s",
                           lock->name, patience, holder, lock->path);
    return COLLET_OK;
}

/* Waits before the next try to get the lock: over NFS each try is a request to the server, and a thousand processes
 * may be waiting. The function `poll` is called more often, so that the program can cancel at once. */
static collet_status pause_for(const trajectory_index_lock *lock, wait *w, const io_poll *poll,
                               collet_error *err)
{
    for (double end = now() + w->pause; now() < end;) {
        if (io_poll_stops(poll))
            return collet_fail(err, COLLET_CANCELLED, "%s: cancelled", lock->name);
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    w->pause = w->pause < .5 ? 2 * w->pause : 1;
    return COLLET_OK;
}

/* 1 if the last holder has removed the lock file. Then a lock on this file has no effect. */
static int is_removed(int fd)
{
    struct stat st;

    return fstat(fd, &st) != 0 || st.st_nlink == 0;
}

static collet_status await(trajectory_index_lock *lock, int fd, const io_poll *poll, int *again,
                           collet_error *err)
{
    wait w = {.since = now(), .pause = .02};

    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            close(fd);
            return COLLET_OK;
        }
        collet_status status = check_wait(lock, fd, &w, err);
        if (status == COLLET_OK)
            status = pause_for(lock, &w, poll, err);
        if (status != COLLET_OK) {
            close(fd);
            return status;
        }
    }
    *again = is_removed(fd);
    if (*again) {
        close(fd);
        return COLLET_OK;
    }
    lock->fd = fd;
    sign(lock, 0, 0);
    return COLLET_OK;
}

collet_status trajectory_index_enter(trajectory_index_lock *lock, const char *path,
                                     const io_poll *poll, int *again, collet_error *err)
{
    size_t n = strlen(path) + sizeof ".lock";

    *again = 0;
    lock->fd = -1;
    if (!lock->path)
        lock->path = malloc(n);
    if (!lock->path)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for its index", lock->name);
    snprintf(lock->path, n, "%s.lock", path);
    int fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    return fd < 0 ? COLLET_OK : await(lock, fd, poll, again, err);
}

/* ---- Working ----------------------------------------------------------------------------- */

int trajectory_index_progress(trajectory_index_lock *lock, int64_t frames, int percent)
{
    if (!is_time(lock))
        return 0;
    if (lock->fd >= 0)
        sign(lock, frames, percent);
    return tell(lock, "%s: making its index: %lld frames, %d %%", lock->name, (long long)frames,
                percent);
}

void trajectory_index_leave(trajectory_index_lock *lock)
{
    if (lock->fd >= 0) {
        unlink(lock->path);
        close(lock->fd);
    }
    free(lock->path);
    lock->path = NULL;
    lock->fd = -1;
}

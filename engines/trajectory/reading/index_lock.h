/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_lock.h - lets one process make an index file while others wait.
 *
 * The lock (flock, also over NFS) is on a file PATH.lock. Its text says which process has the lock and how far the
 * work is. The kernel frees the lock of a process that ends.
 */
#pragma once

#include "io/source.h"

/* Messages while frames are counted, which may take long. */
typedef struct trajectory_index_watch {
    /* Called on the thread that counts, while heads are read or while the process waits for another process: first
     * after a second, then at increasing intervals of at most a minute. `text` describes the progress. A return value
     * other than 0 cancels. May be NULL. */
    int32_t (*tell)(void *user, const char *text);
    void *user;
    double patience_s; /* how long to wait for a process that makes no progress; 0: 300 s */
} trajectory_index_watch;

typedef struct trajectory_index_lock {
    const char *name; /* name of the trajectory, for messages */
    trajectory_index_watch watch;
    char *path;   /* path of the lock file; NULL: there is none */
    int fd;       /* -1: not locked */
    double due;   /* time of the next text; 0: not set yet */
    double pause; /* seconds from the last text to the next */
} trajectory_index_lock;

/* Waits for the lock of the index file `path`. *again = 1: the caller does not have the lock; another process
 * had it and is done, so the index file may exist now. *again = 0: the caller has the lock; or, if lock->fd <
 * 0, the directory cannot be written or its file system has no locks. COLLET_IO after a wait without progress,
 * COLLET_CANCELLED, COLLET_NO_MEMORY. */
collet_status trajectory_index_enter(trajectory_index_lock *lock, const char *path,
                                     const io_poll *poll, int *again, collet_error *err);

/* Reports from time to time how far the work is: the number of frames so far, and 0 to 100 %. Returns 1 if the work is
 * to be cancelled. */
int trajectory_index_progress(trajectory_index_lock *lock, int64_t frames, int percent);

/* Removes the lock file and frees the lock, if they exist. */
void trajectory_index_leave(trajectory_index_lock *lock);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_lock.h - lets one process make an index file while others wait.
 *
 * The lock (flock, also over NFS) is on a file PATH.lock, which says who has it and how far the work is. The
 * kernel frees the lock of a process that ends.
 */
#ifndef ENGINES_TRAJECTORY_READING_INDEX_LOCK_H
#define ENGINES_TRAJECTORY_READING_INDEX_LOCK_H

#include "io/source.h"

/* What a long count tells, on the thread that counts. */
typedef struct trajectory_index_watch {
    /* Called after a second, and then less and less often, up to once a minute, while heads are read
     * or another process is waited for: `text` says so. Any value but 0 cancels. NULL: nobody is
     * told. */
    int32_t (*tell)(void *user, const char *text);
    void *user;
    double patience_s; /* how long to wait for a process that makes no progress; 0: 300 s */
} trajectory_index_watch;

typedef struct trajectory_index_lock {
    const char *name; /* of the trajectory, for messages */
    trajectory_index_watch watch;
    char *path;   /* of the lock file; NULL: there is none */
    int fd;       /* -1: not locked */
    double due;   /* when the next text is; 0: none was */
    double pause; /* seconds before it */
} trajectory_index_lock;

/*
 * Waits for the lock of the index file `path`. *again = 1, without the lock: another process had it and is done, so
 * that the index file may exist now. *again = 0 with lock->fd < 0: the directory cannot be written, or its
 * file system has no locks. COLLET_IO after a wait without progress, COLLET_CANCELLED, COLLET_NO_MEMORY.
 */
collet_status trajectory_index_enter(trajectory_index_lock *lock, const char *path,
                                     const io_poll *poll, int *again, collet_error *err);

/* Tells now and then how far the work is: the number of frames so far, and 0 to 100 %. Returns 1 to
 * cancel it. */
int trajectory_index_progress(trajectory_index_lock *lock, int64_t frames, int percent);

/* Removes the lock file and frees the lock; both may be missing. */
void trajectory_index_leave(trajectory_index_lock *lock);

#endif

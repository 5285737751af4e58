/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file - which file it is, and whether its owner and permissions allow to run what it holds.
 */
#ifndef COLLET_CORE_FILE_H
#define COLLET_CORE_FILE_H

#include <collet/types.h>

/* All of it the same: the same file with the same contents, as far as the system tells. */
typedef struct file_identity {
    uint64_t device, inode, size;
    int64_t mtime_s, mtime_ns, ctime_s, ctime_ns;
} file_identity;

int file_identity_equal(const file_identity *a, const file_identity *b);

/* Of an open file, and of the one that a path leads to. 0 or an errno. */
int file_identify(int fd, file_identity *out);
int file_identify_path(const char *path, file_identity *out);

/*
 * Opens a plugin's file for reading when policy allows to load it: a regular file that only its
 * owner (and group) can write, in a directory likewise, both owned by root, this process's user or
 * the owner of libcore. The directories are the one that `path` names and the one that the file is
 * really in. The caller closes *fd. *code is "unreadable", "not-regular", "world-writable",
 * "world-writable-directory" or "foreign-owner". IO, INVALID, NO_MEMORY.
 */
collet_status file_open_trusted(const char *path, int *fd, const char **code, collet_error *err);

/* The directory of libcore's own file, absolute; the caller frees it. NULL when it is not known. */
char *file_core_directory(void);

/* FNV-1a over bytes, continued from `hash` (FILE_HASH_START at first): for keys, no protection. */
#define FILE_HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t file_hash(uint64_t hash, const void *bytes, size_t count);

#endif

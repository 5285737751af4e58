/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file - the identity of a file, and whether its owner and permissions allow its code to run.
 */
#ifndef COLLET_CORE_FILE_H
#define COLLET_CORE_FILE_H

#include <collet/types.h>

#include "refusal.h"

/* Equal in all members: the same file with the same contents, as far as the system shows. */
typedef struct file_identity {
    uint64_t device, inode, size;
    int64_t mtime_s, mtime_ns, ctime_s, ctime_ns;
} file_identity;

int file_identity_equal(const file_identity *a, const file_identity *b);

/* Of an open file, and of the one that a path leads to. 0 or an errno. */
int file_identify(int fd, file_identity *out);
int file_identify_path(const char *path, file_identity *out);

/*
 * Opens a plugin's file for reading if policy allows loading it: a regular file, in directories
 * (the one in `path` and the one of the file itself), that others cannot write and that are owned
 * by root, this process's user or the owner of libcore. The caller closes *fd. "unreadable": IO;
 * "not-regular", "world-writable", "world-writable-directory", "foreign-owner": FORMAT; NO_MEMORY.
 */
collet_status file_open_trusted(const char *path, int *fd, refusal *why);

/* The absolute directory of libcore's own file; the caller frees it. NULL if unknown. */
char *file_core_directory(void);

/* FNV-1a over bytes, continued from `hash` (FILE_HASH_START at first): for keys, not for security.
 */
#define FILE_HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t file_hash(uint64_t hash, const void *bytes, size_t count);

#endif

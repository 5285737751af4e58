/* SPDX-License-Identifier: Apache-2.0 */
/* file - the identity of a file, and the place of libcore's own file. */
#pragma once

#include <sys/types.h>

#include <collet/types.h>

/* If all members of two identities are equal, both are the same file with the same contents, as far as the system
 * shows. */
typedef struct file_identity {
    uint64_t device, inode, size;
    int64_t mtime_s, mtime_ns, ctime_s, ctime_ns;
} file_identity;

int file_identity_equal(const file_identity *a, const file_identity *b);

/* Identify an open file, and the file at a path. 0 or an errno. */
int file_identify(int fd, file_identity *out);
int file_identify_path(const char *path, file_identity *out);

/* 0 if the system can map code of the open file, else the errno: EPERM or EACCES if its file system
 * is mounted noexec or a security module forbids it. */
int file_cannot_run(int fd);
/* 1 if the file's file system is mounted noexec. */
int file_is_noexec(const char *path);

/* The absolute directory of libcore's own file; the caller frees it. NULL if unknown. */
char *file_core_directory(void);
/* The owner of libcore's own file; 0 if unknown. */
int file_core_owner(uid_t *owner);

/* FNV-1a over bytes, continued from `hash` (FILE_HASH_START at first): for keys, not for security.
 */
#define FILE_HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t file_hash(uint64_t hash, const void *bytes, size_t count);

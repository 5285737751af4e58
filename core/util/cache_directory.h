/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_directory - a directory of files that a process keeps for later processes. The directory belongs to this
 * user, and other users have no access (0700). Its files are regular files of this user with one link, and other
 * users have no access to them. Anything else is not used. Any thread and any number of processes at once.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A descriptor, or -1, also under raised privilege (AT_SECURE). `make`: creates the directory and the directories
 * above it if they are missing. */
int cache_directory_open(const char *path, int make);

/* Whether cache_directory_open finds or makes a directory that can be written. If not, *why has the reason and, after
 * its last ": ", the remedy. `path` = "": there is no cache. Raised privilege alone is not reported. */
int cache_directory_check(const char *path, char *why, size_t capacity);

/* Reads a file of 1 to `most` bytes; the caller frees the text, which has no NUL. *written (may be
 * NULL): when the file was written, in seconds since 1970. Returns NULL with errno ENOENT (no file), ENODATA (an empty
 * file), EFBIG (a larger file), EPERM (not a file as described above), ENOMEM or another value. */
char *cache_file_read(int directory, const char *name, size_t most, size_t *length,
                      int64_t *written);

/* Writes the text under another name and renames that file, so a reader finds either the complete old file or the
 * complete new file. Returns 0, or the number of the error (errno); after an error the old file remains. */
int cache_file_replace(int directory, const char *name, const char *text);

/* Whether cache_file_replace could write `length` bytes: creates such a file and removes it. 0 or errno. */
int cache_file_try(int directory, const char *name, size_t length);

/* Removes files that killed writers left behind, and the oldest file whose name begins with
 * `prefix` if there are more than `most`: removing one file is enough, because this is called after each write. The
 * file `kept`, which was just written, is not removed, because other files may have dates in the future. */
void cache_directory_prune(int directory, const char *prefix, int most, const char *kept);

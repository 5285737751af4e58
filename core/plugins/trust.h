/* SPDX-License-Identifier: Apache-2.0 */
/* trust - checks that only trusted users could have written a file, because code in it, or code
 * that its settings name, will run. */
#pragma once

#include <collet/types.h>

#include "record.h"

/*
 * Opens a regular file for reading if only trusted users may write to the file and to every directory from the root
 * to it, including directories on the way of symbolic links. Each of them must belong to root, this process's user or
 * the owner of libcore. Nobody else may have write permission: neither all users, nor a group except root's and the
 * user's own, nor anybody through an access control list. The groups in `groups` (names or numbers, separated by
 * commas; "" for none), and users who are members of such a group, are trusted, too. For directories above the file's
 * own the sticky bit is enough. In a user namespace all users outside of the namespace, including root, have the same
 * number. That number is trusted for directories above the file's directory, and in the directory of plugins next to
 * libcore if libcore belongs to that number. So only trusted users can put another file at the path before it is used
 * again.
 * `path` is absolute. The caller closes *fd. "unreadable": IO; "not-regular", "world-writable", "group-writable",
 * "world-writable-directory", "group-writable-directory", "foreign-owner": FORMAT; NO_MEMORY.
 */
collet_status trust_open(const char *path, const char *groups, int *fd, refusal *why);

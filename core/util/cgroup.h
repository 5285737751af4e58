/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup.h - the control groups of this process, of version 1 and 2: a limit of any of them or of
 * their parents applies. Allocates nothing. Any thread. */
#pragma once

#include <limits.h>
#include <stddef.h>

#define CGROUP_ROOT "/sys/fs/cgroup"

/* A group: its directory is under `root`, where the hierarchy is mounted. In a container the mounted
 * root is often the group itself, and its path does not exist there. So the root is visited, too, after all
 * groups. */
typedef struct cgroup {
    int version;
    char directory[PATH_MAX];
    const char *name; /* the directory without root: "/a/b", or "/" */
} cgroup;

/* Visits the groups of `controller` ("cpu", "memory") and their parents, the innermost first. `self`
 * is the text of /proc/self/cgroup; NULL: reads it. */
void cgroup_visit(const char *root, const char *self, const char *controller,
                  void (*visit)(void *user, const cgroup *group), void *user);
/* Reads a file of the group, or of any directory. 0: the file does not exist, or is longer than the buffer. */
int cgroup_read(const char *directory, const char *file, char *text, size_t size);

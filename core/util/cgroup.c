/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_memory_limit.c, tests/core/test_util.c */
#include "cgroup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROC_TEXT_MAX 6144

int cgroup_read(const char *directory, const char *file, char *text, size_t size)
{
    int in = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC); /* joining both paths would need more stack */
    int fd = in < 0 ? -1 : openat(in, file, O_RDONLY | O_CLOEXEC);
    if (in >= 0)
        close(in);
    if (fd < 0)
        return 0;
    size_t length = 0;
    ssize_t more;
    while ((more = read(fd, text + length, size - 1 - length)) > 0)
        length += (size_t)more;
    text[length] = '\0';
    close(fd);
    return length > 0;
}

static int names(const char *controllers, const char *end, const char *wanted)
{
    size_t length = strlen(wanted);
    for (const char *c = controllers; c < end; c += strcspn(c, ",:") + 1)
        if (!strncmp(c, wanted, length) && (c[length] == ',' || c[length] == ':'))
            return 1;
    return 0;
}

/* Visits the group whose path is the first `length` bytes of `path`, and its parents. */
static void visit_upwards(const char *mount, const char *path, int length, int version,
                          void (*visit)(void *user, const cgroup *group), void *user)
{
    cgroup g = {.version = version};
    for (;;) {
        int bytes = snprintf(g.directory, sizeof g.directory, "%s%.*s", mount, length, path);
        if (bytes > 0 && bytes < (int)sizeof g.directory) {
            g.name = length > 1 ? g.directory + strlen(mount) : "/";
            visit(user, &g);
        }
        const char *slash = memrchr(path, '/', (size_t)length);
        if (!slash)
            return;
        length = (int)(slash - path);
    }
}

void cgroup_visit(const char *root, const char *self, const char *controller,
                  void (*visit)(void *user, const cgroup *group), void *user)
{
    char text[PROC_TEXT_MAX], mount[PATH_MAX];
    if (!self && cgroup_read("/proc/self", "cgroup", text, sizeof text))
        self = text;
    for (const char *line = self ? self : "", *end; *line; line = end + (*end == '\n')) {
        end = line + strcspn(line, "\n");
        const char *controllers = memchr(line, ':', (size_t)(end - line));
        const char *group =
            controllers ? memchr(controllers + 1, ':', (size_t)(end - controllers - 1)) : NULL;
        if (!group)
            continue;
        int version = controllers + 1 < group ? 1 : 2;
        if (version == 1 && !names(controllers + 1, group, controller))
            continue;
        snprintf(mount, sizeof mount, "%s%s%s", root, version == 1 ? "/" : "",
                 version == 1 ? controller : "");
        visit_upwards(mount, group + 1, (int)(end - group - 1), version, visit, user);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "trust.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <collet/collet.h>

#include "file.h"

#define MAX_LINKS 40

/* A way from the root to a file, one component at a time, so that every directory on it, and on the
 * way of every symbolic link, is checked by the descriptor through which it is used. */
typedef struct walk {
    const char *path;
    int directory;        /* O_PATH */
    char rest[PATH_MAX];  /* of the way, below `directory` */
    char place[PATH_MAX]; /* of `directory`, for texts */
    int links;
    struct stat st; /* of `directory` */
    refusal *why;
} walk;

static collet_status unreadable(int error, refusal *why)
{
    return error == ENOMEM
               ? REFUSE_NO_MEMORY("out of memory for a path")
               : refuse_with(why, COLLET_IO, "unreadable", "cannot be opened: %s", strerror(error));
}

/* ---- Who may write ----------------------------------------------------------------------- */

/* Whether `id` stands for all users of other user namespaces (user_namespaces(7)). */
static int is_anyone(uid_t id)
{
    unsigned overflow = 65534, first, outside, count = 0;
    FILE *file = fopen("/proc/sys/kernel/overflowuid", "re");
    if (file && fscanf(file, "%u", &overflow) != 1)
        overflow = 65534;
    if (file)
        fclose(file);
    file = id == overflow ? fopen("/proc/self/uid_map", "re") : NULL;
    if (!file)
        return 0;
    if (fscanf(file, "%u %u %u", &first, &outside, &count) != 3)
        count = 0;
    fclose(file);
    return count != UINT32_MAX;
}

/* The directory of plugins beside libcore. */
static int is_own_place(const char *place)
{
    char *core = file_core_directory();
    size_t length = core ? strlen(core) : 0;
    int own = core && !strncmp(place, core, length) && !strcmp(place + length, "/collet");
    free(core);
    return own;
}

/* Of what is in the directory of `w`, or, `on_the_way`, of a directory above that of the file: what
 * may belong to anyone is trusted there, and beside libcore if libcore itself is so. */
static int owner_trusted(const walk *w, uid_t owner, int on_the_way)
{
    uid_t core;
    if (owner == 0)
        return 1;
    if (is_anyone(owner) && (on_the_way || !is_own_place(w->place)))
        return on_the_way;
    return owner == geteuid() || (file_core_owner(&core) && owner == core);
}

/* Root's group, and one that has this user's name and no other member. */
static int group_trusted(gid_t id)
{
    char group_text[4096], user_text[4096];
    struct group group, *g = NULL;
    struct passwd user, *u = NULL;
    if (id == 0)
        return 1;
    if (getgrgid_r(id, &group, group_text, sizeof group_text, &g) || !g ||
        getpwuid_r(geteuid(), &user, user_text, sizeof user_text, &u) || !u ||
        strcmp(g->gr_name, u->pw_name))
        return 0;
    for (char **member = g->gr_mem; *member; member++)
        if (strcmp(*member, u->pw_name))
            return 0;
    return 1;
}

/* Then the group's bits are its mask: what it may allow others. */
static int has_access_list(int fd)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return getxattr(path, "system.posix_acl_access", NULL, 0) > 0;
}

/* Why others could change what `fd` and `st` are of; NULL: they could not. */
static const char *writable(int fd, const struct stat *st)
{
    if (st->st_mode & S_IWOTH)
        return "world-writable";
    return (st->st_mode & S_IWGRP) && (!group_trusted(st->st_gid) || has_access_list(fd))
               ? "group-writable"
               : NULL;
}

/* In the directory of `w`; `fd` is -1 before it is opened. */
static collet_status check_file(const walk *w, int fd, const struct stat *st)
{
    refusal *why = w->why;
    const char *open = writable(fd, st);
    if (!S_ISREG(st->st_mode))
        return REFUSE("not-regular", "not a regular file");
    if (open)
        return REFUSE(open, "%s may write to it: chmod %s it",
                      open[0] == 'w' ? "anyone" : "others of its group",
                      open[0] == 'w' ? "o-w" : "g-w");
    if (!owner_trusted(w, st->st_uid, 0))
        return REFUSE("foreign-owner",
                      "it belongs to user %u%s: only root, this user and the owner of libcore are "
                      "trusted",
                      (unsigned)st->st_uid,
                      is_anyone(st->st_uid) ? ", here any user outside of this user namespace"
                                            : "");
    return COLLET_OK;
}

/* The one with the file is `last`: elsewhere the sticky bit keeps others from replacing what is not
 * theirs, and whose that is the next step checks. */
static collet_status check_directory(const walk *w, int last)
{
    refusal *why = w->why;
    const char *open = writable(w->directory, &w->st), *place = w->place[0] ? w->place : "/";
    if (open && (last || !(w->st.st_mode & S_ISVTX)))
        return open[0] == 'w'
                   ? REFUSE("world-writable-directory",
                            "anyone may write to %s, on the way to it: chmod o-w that", place)
                   : REFUSE("group-writable-directory",
                            "others of group %u may write to %s, on the way to it: "
                            "chmod g-w that",
                            (unsigned)w->st.st_gid, place);
    if (!owner_trusted(w, w->st.st_uid, !last))
        return REFUSE("foreign-owner", "the directory %s, on the way to it, belongs to user %u",
                      place, (unsigned)w->st.st_uid);
    return COLLET_OK;
}

/* ---- The way ----------------------------------------------------------------------------- */

static void leave(walk *w)
{
    if (w->directory >= 0)
        close(w->directory);
    w->directory = -1;
}

static collet_status enter(walk *w, int directory)
{
    leave(w);
    w->directory = directory;
    return directory < 0 || fstat(directory, &w->st) ? unreadable(errno, w->why) : COLLET_OK;
}

static collet_status enter_root(walk *w)
{
    w->place[0] = '\0';
    return enter(w, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* The next component, or "" at the end. */
static void next_name(walk *w, char name[NAME_MAX + 1])
{
    size_t skip = strspn(w->rest, "/"), length = strcspn(w->rest + skip, "/");
    size_t kept = length > NAME_MAX ? NAME_MAX : length;
    memcpy(name, w->rest + skip, kept);
    name[kept] = '\0';
    memmove(w->rest, w->rest + skip + length, strlen(w->rest + skip + length) + 1);
}

/* What a link leads to comes before the rest. */
static collet_status follow(walk *w, const char *name)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(w->directory, name, target, sizeof target);
    if (n < 0)
        return unreadable(errno, w->why);
    if (++w->links > MAX_LINKS)
        return unreadable(ELOOP, w->why);
    size_t rest = strlen(w->rest);
    if ((size_t)n + 1 + rest >= sizeof w->rest)
        return unreadable(ENAMETOOLONG, w->why);
    memmove(w->rest + n + 1, w->rest, rest + 1);
    memcpy(w->rest, target, (size_t)n);
    w->rest[n] = '/';
    return target[0] == '/' ? enter_root(w) : COLLET_OK;
}

static collet_status enter_named(walk *w, const char *name)
{
    collet_status status =
        enter(w, openat(w->directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!strcmp(name, "..")) {
        char *slash = strrchr(w->place, '/');
        *(slash ? slash : w->place) = '\0';
    } else if (strlen(w->place) + strlen(name) + 2 < sizeof w->place) {
        strcat(strcat(w->place, "/"), name);
    }
    return status;
}

/* By the descriptor: opening a device may have effects, so it is examined first. */
static collet_status open_file(walk *w, const char *name, int *fd)
{
    struct stat st;
    collet_status status = check_directory(w, 1);
    if (status != COLLET_OK)
        return status;
    int found =
        openat(w->directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (found < 0)
        return unreadable(errno, w->why);
    status = fstat(found, &st) ? unreadable(errno, w->why) : check_file(w, found, &st);
    if (status != COLLET_OK)
        close(found);
    else
        *fd = found;
    return status;
}

static int only_slashes(const char *text)
{
    return text[strspn(text, "/")] == '\0';
}

/* One component; *fd is set at the file. */
static collet_status step(walk *w, int *fd)
{
    char name[NAME_MAX + 1];
    struct stat st;
    next_name(w, name);
    if (!strcmp(name, ".") && !only_slashes(w->rest))
        return COLLET_OK;
    if (fstatat(w->directory, name, &st, AT_SYMLINK_NOFOLLOW))
        return unreadable(errno, w->why);
    int last = only_slashes(w->rest) && !S_ISLNK(st.st_mode);
    collet_status status = check_directory(w, last);
    if (status != COLLET_OK)
        return status;
    if (S_ISLNK(st.st_mode)) {
        refusal *why = w->why;
        return (w->st.st_mode & S_ISVTX) && !owner_trusted(w, st.st_uid, 0)
                   ? REFUSE("foreign-owner", "the link %s/%s, on the way to it, belongs to user %u",
                            w->place, name, (unsigned)st.st_uid)
                   : follow(w, name);
    }
    if (!last)
        return enter_named(w, name);
    status = check_file(w, -1, &st);
    return status == COLLET_OK ? open_file(w, name, fd) : status;
}

collet_status trust_open(const char *path, int *fd, refusal *why)
{
    walk w = {.path = path, .directory = -1, .why = why};
    int file = -1;
    why->code = "ok";
    if (path[0] != '/' || strlen(path) >= sizeof w.rest)
        return unreadable(path[0] == '/' ? ENAMETOOLONG : EINVAL, why);
    strcpy(w.rest, path);
    collet_status status = enter_root(&w);
    while (status == COLLET_OK && file < 0)
        status = step(&w, &file);
    leave(&w);
    if (status == COLLET_OK)
        *fd = file;
    return status;
}

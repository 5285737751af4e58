/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/fault/trust.sh, tests/fault/test_loader_search.c */
#include "trust.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <collet/collet.h>

#include "file.h"
#include "util/text.h"

#define MAX_LINKS 40
#define MAX_NAME 256 /* bytes of names of users and groups: LOGIN_NAME_MAX of Linux */

/* A path from the root to a file. It is walked one component at a time, so that every directory on the path, and on
 * the path of every symbolic link, is checked by the descriptor through which it is used. */
typedef struct walk {
    const char *path, *groups; /* as in trust_open */
    int directory;             /* O_PATH */
    char rest[PATH_MAX];       /* the rest of the path, below `directory` */
    char place[PATH_MAX];      /* path of `directory`, for messages */
    int links;
    struct stat st; /* status of `directory` */
    refusal *why;
} walk;

static collet_status unreadable(int error, refusal *why)
{
    return error == ENOMEM
               ? REFUSE_NO_MEMORY("out of memory for a path")
               : refuse_with(why, COLLET_IO, "unreadable", "cannot be opened: %s", strerror(error));
}

/* ---- Users and groups -------------------------------------------------------------------- */

/* 1 if `id` stands for all users of other user namespaces (user_namespaces(7)). */
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

/* The directory of plugins next to libcore. */
static int is_own_place(const char *place)
{
    char *core = file_core_directory();
    size_t length = core ? strlen(core) : 0;
    int own = core && !strncmp(place, core, length) && !strcmp(place + length, "/collet");
    free(core);
    return own;
}

/* Looks a group up. The caller frees *text, which is long for a large group. 0: no such group. */
static int find_group(gid_t id, struct group *group, char **text)
{
    struct group *found = NULL;
    int error = ERANGE;
    *text = NULL;
    for (size_t size = 4096; error == ERANGE && size <= 1 << 22; size *= 4) {
        free(*text);
        *text = malloc(size);
        if (!*text)
            return 0;
        error = getgrgid_r(id, group, *text, size, &found);
    }
    return !error && found;
}

static int find_user(uid_t id, struct passwd *user, char text[4096])
{
    struct passwd *found = NULL;
    return !getpwuid_r(id, user, text, 4096, &found) && found;
}

/* Writes the name of a user; the number if it has no name. */
static void name_user(uid_t id, char name[MAX_NAME])
{
    char text[4096];
    struct passwd user;
    if (!is_anyone(id) && find_user(id, &user, text))
        snprintf(name, MAX_NAME, "%s", user.pw_name);
    else
        snprintf(name, MAX_NAME, "%u", (unsigned)id);
}

static void name_group(gid_t id, char name[MAX_NAME])
{
    char *text;
    struct group group;
    if (find_group(id, &group, &text))
        snprintf(name, MAX_NAME, "%s", group.gr_name);
    else
        snprintf(name, MAX_NAME, "%u", (unsigned)id);
    free(text);
}

/* ---- Who is trusted ---------------------------------------------------------------------- */

static int group_listed(const walk *w, gid_t id)
{
    char number[16], name[MAX_NAME];
    if (!*w->groups)
        return 0;
    snprintf(number, sizeof number, "%u", (unsigned)id);
    name_group(id, name);
    return text_list_has(w->groups, number) || text_list_has(w->groups, name);
}

static int is_member(const walk *w, uid_t id)
{
    char text[4096];
    struct passwd user;
    gid_t groups[1024];
    int count = sizeof groups / sizeof *groups;
    if (!*w->groups || !find_user(id, &user, text) ||
        getgrouplist(user.pw_name, user.pw_gid, groups, &count) < 0)
        return 0;
    for (int i = 0; i < count; i++)
        if (group_listed(w, groups[i]))
            return 1;
    return 0;
}

/* 1 if the owner of an entry of w's directory is trusted. The number that stands for all users of
 * other namespaces is trusted for directories above the file's own (`on_the_way`), and next to
 * libcore if libcore belongs to it. */
static int owner_trusted(const walk *w, uid_t owner, int on_the_way)
{
    uid_t core;
    if (owner == 0)
        return 1;
    if (is_anyone(owner) && (on_the_way || !is_own_place(w->place)))
        return on_the_way;
    return owner == geteuid() || (file_core_owner(&core) && owner == core) || is_member(w, owner);
}

/* 1 if the group is the group of this user and has no other member. */
static int is_own_group(gid_t id)
{
    char *group_text, user_text[4096];
    struct group group;
    struct passwd user;
    int own = find_group(id, &group, &group_text) && find_user(geteuid(), &user, user_text) &&
              !strcmp(group.gr_name, user.pw_name);
    for (char **member = own ? group.gr_mem : NULL; own && *member; member++)
        own = !strcmp(*member, user.pw_name);
    free(group_text);
    return own;
}

static int group_trusted(const walk *w, gid_t id)
{
    return id == 0 || is_own_group(id) || group_listed(w, id);
}

/* ---- Who may write ----------------------------------------------------------------------- */

/* A user or group that is not trusted. */
typedef struct writer {
    char class; /* for chmod: 'o' or 'g' */
    char who[MAX_NAME + 32];
    char group[MAX_NAME]; /* a group that can be added to trust_group, or "" */
} writer;

static int write_group(const walk *w, gid_t id, writer *by)
{
    if (group_trusted(w, id))
        return 0;
    by->class = 'g';
    name_group(id, by->group);
    snprintf(by->who, sizeof by->who, "members of the group %s", by->group);
    return 1;
}

/* Finds a user or group that may write by an access control list, in the format of Linux. With such a list, the group
 * bits of the mode are the list's mask. -1: there is no list. */
static int write_listed(const walk *w, int fd, const struct stat *st, writer *by)
{
    enum { USER = 2, GROUP = 4, NAMED_GROUP = 8, WRITE = 2, MAX_ENTRIES = 128 };
    struct {
        uint32_t version;
        struct {
            uint16_t tag, may;
            uint32_t id;
        } entries[MAX_ENTRIES];
    } list;
    char path[32], name[MAX_NAME];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t bytes = getxattr(path, "system.posix_acl_access", &list, sizeof list);
    if (bytes < 0 && errno != ERANGE)
        return -1;
    by->class = 'g';
    by->group[0] = '\0';
    snprintf(by->who, sizeof by->who, "users of its access control list");
    if (bytes < 0 || le32toh(list.version) != 2)
        return 1;
    for (size_t i = 0; i < ((size_t)bytes - sizeof list.version) / sizeof *list.entries; i++) {
        uint32_t id = le32toh(list.entries[i].id);
        int tag = le16toh(list.entries[i].tag);
        if (!(le16toh(list.entries[i].may) & WRITE))
            continue;
        if ((tag == GROUP && write_group(w, st->st_gid, by)) ||
            (tag == NAMED_GROUP && write_group(w, id, by)))
            return 1;
        if (tag == USER && !owner_trusted(w, id, 0)) {
            name_user(id, name);
            snprintf(by->who, sizeof by->who, "the user %s", name);
            return 1;
        }
    }
    return 0;
}

/* 1 if users who are not trusted could change the file with `fd` and `st`. `fd` is -1 before the file is opened; the
 * group is not checked at that time. */
static int write_others(const walk *w, int fd, const struct stat *st, writer *by)
{
    *by = (writer){.class = 'o', .who = "anyone"};
    if (st->st_mode & S_IWOTH)
        return 1;
    if (fd < 0 || !(st->st_mode & S_IWGRP))
        return 0;
    int listed = write_listed(w, fd, st, by);
    return listed < 0 ? write_group(w, st->st_gid, by) : listed;
}

/* Checks a word of trust_group. A number needs no name; a group that cannot be looked up now may
 * still exist. */
static int may_be_group(const char *word, size_t length)
{
    char name[MAX_NAME], text[4096];
    struct group group, *found = NULL;
    if (strspn(word, "0123456789") >= length)
        return 1;
    snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : 0, word);
    return getgrnam_r(name, &group, text, sizeof text, &found) == ERANGE || found;
}

/* Adds a remark about the first word of trust_group that has no effect. */
static void add_unknown_group(const walk *w, text_buffer *text)
{
    size_t length;
    for (const char *word = w->groups; *word; word += length) {
        word += strspn(word, ", \t");
        length = strcspn(word, ", \t");
        if (length && !may_be_group(word, length)) {
            text_add(text, "'%.*s' in trust_group is not a group of this system; ",
                     length < MAX_NAME ? (int)length : MAX_NAME, word);
            return;
        }
    }
}

/* Adds how the user can trust the writers: by an environment variable, because the file may be the
 * configuration file itself. The suggested value includes the present value of the setting. */
static void how_to_trust(const walk *w, const writer *by, text_buffer *text)
{
    text_clear(text);
    if (!by->group[0] || getauxval(AT_SECURE))
        return;
    add_unknown_group(w, text);
    text_add(text, "if you trust them, set COLLET_TRUST_GROUP=");
    for (const char *word = w->groups + strspn(w->groups, ", \t"); *word;) {
        size_t length = strcspn(word, ", \t");
        if (may_be_group(word, length))
            text_add(text, "%.*s,", (int)length, word);
        word += length + strspn(word + length, ", \t");
    }
    text_add(text, "%s in the environment, else ", by->group);
}

/* Checks the file in the directory of `w`; `fd` is -1 before it is opened. */
static collet_status check_file(const walk *w, int fd, const struct stat *st)
{
    refusal *why = w->why;
    writer by;
    text_buffer trust;
    char name[MAX_NAME];
    if (!S_ISREG(st->st_mode))
        return REFUSE("not-regular", "not a regular file");
    if (write_others(w, fd, st, &by)) {
        how_to_trust(w, &by, &trust);
        return REFUSE(by.class == 'o' ? "world-writable" : "group-writable",
                      "%s may write to it: %schmod %c-w %s", by.who, trust.bytes, by.class,
                      w->path);
    }
    if (owner_trusted(w, st->st_uid, 0))
        return COLLET_OK;
    name_user(st->st_uid, name);
    text_clear(&trust);
    add_unknown_group(w, &trust);
    return REFUSE("foreign-owner",
                  "it belongs to user %s%s: only root, this user, the owner of libcore and members "
                  "of the groups in COLLET_TRUST_GROUP are trusted: %schown it, or copy it to a "
                  "directory of your own",
                  name,
                  is_anyone(st->st_uid) ? ", here any user outside of this user namespace" : "",
                  trust.bytes);
}

/* Never suggests chmod of a sticky directory, because such a directory is meant for all users, like /tmp. */
static collet_status refuse_directory(const walk *w, const char *place, const writer *by)
{
    refusal *why = w->why;
    const char *code = by->class == 'o' ? "world-writable-directory" : "group-writable-directory";
    text_buffer trust;
    how_to_trust(w, by, &trust);
    if (w->st.st_mode & S_ISVTX)
        return REFUSE(code,
                      "%s may create files in %s: %smove it to a directory that only you may write "
                      "to",
                      by->who, place, trust.bytes);
    return REFUSE(code,
                  "%s may write to %s, on the way to it: %schmod %c-w %s (%s can then no longer "
                  "write there)",
                  by->who, place, trust.bytes, by->class, place,
                  by->class == 'o' ? "others"
                  : by->group[0]   ? "the group"
                                   : "they");
}

/* Checks a directory. `last` = 1: the directory with the file. In directories above the file's directory the sticky
 * bit is enough: it keeps users from replacing files of other users, and the next step checks the owner
 * of the entry. */
static collet_status check_directory(const walk *w, int last)
{
    refusal *why = w->why;
    const char *place = w->place[0] ? w->place : "/";
    writer by;
    char name[MAX_NAME];
    text_buffer trust;
    if ((last || !(w->st.st_mode & S_ISVTX)) && write_others(w, w->directory, &w->st, &by))
        return refuse_directory(w, place, &by);
    if (owner_trusted(w, w->st.st_uid, !last))
        return COLLET_OK;
    name_user(w->st.st_uid, name);
    text_clear(&trust);
    add_unknown_group(w, &trust);
    return REFUSE("foreign-owner",
                  "the directory %s, on the way to it, belongs to user %s: only root, this user, "
                  "the owner of libcore and members of the groups in COLLET_TRUST_GROUP are "
                  "trusted: %schown that directory, or copy the file to one of your own",
                  place, name, trust.bytes);
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

/* Takes the next component; "" at the end. */
static void next_name(walk *w, char name[NAME_MAX + 1])
{
    size_t skip = strspn(w->rest, "/"), length = strcspn(w->rest + skip, "/");
    size_t kept = length > NAME_MAX ? NAME_MAX : length;
    memcpy(name, w->rest + skip, kept);
    name[kept] = '\0';
    memmove(w->rest, w->rest + skip + length, strlen(w->rest + skip + length) + 1);
}

/* Puts the target of a link in front of the rest of the path. */
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

/* Opens the file. An O_PATH descriptor is examined first, because opening a device may have
 * effects. */
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

/* Walks one component; sets *fd when it is the file. */
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
                   ? REFUSE("foreign-owner",
                            "the link %s/%s, on the way to it, belongs to user %u: name the file "
                            "without that link",
                            w->place, name, (unsigned)st.st_uid)
                   : follow(w, name);
    }
    if (!last)
        return enter_named(w, name);
    status = check_file(w, -1, &st);
    return status == COLLET_OK ? open_file(w, name, fd) : status;
}

collet_status trust_open(const char *path, const char *groups, int *fd, refusal *why)
{
    walk w = {.path = path, .groups = groups, .directory = -1, .why = why};
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <collet/collet.h>

/* ---- Identity ---------------------------------------------------------------------------- */

int file_identity_equal(const file_identity *a, const file_identity *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->mtime_s == b->mtime_s && a->mtime_ns == b->mtime_ns && a->ctime_s == b->ctime_s &&
           a->ctime_ns == b->ctime_ns;
}

static void identity_set(file_identity *out, const struct stat *st)
{
    *out = (file_identity){
        .device = (uint64_t)st->st_dev,
        .inode = (uint64_t)st->st_ino,
        .size = (uint64_t)st->st_size,
        .mtime_s = (int64_t)st->st_mtim.tv_sec,
        .mtime_ns = (int64_t)st->st_mtim.tv_nsec,
        .ctime_s = (int64_t)st->st_ctim.tv_sec,
        .ctime_ns = (int64_t)st->st_ctim.tv_nsec,
    };
}

int file_identify(int fd, file_identity *out)
{
    struct stat st;
    if (fstat(fd, &st))
        return errno;
    identity_set(out, &st);
    return 0;
}

int file_identify_path(const char *path, file_identity *out)
{
    struct stat st;
    if (stat(path, &st))
        return errno;
    identity_set(out, &st);
    return 0;
}

uint64_t file_hash(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* ---- libcore's own file ------------------------------------------------------------------ */

/* Resolved: the name may be relative to the directory in which the program was started. */
static char *core_path(void)
{
    static const char here = 0;
    Dl_info info;
    if (!dladdr(&here, &info) || !info.dli_fname)
        return NULL;
    return realpath(info.dli_fname, NULL);
}

char *file_core_directory(void)
{
    char *path = core_path();
    char *slash = path ? strrchr(path, '/') : NULL;
    if (slash)
        *(slash == path ? slash + 1 : slash) = '\0';
    return path;
}

static int core_owner(uid_t *owner)
{
    struct stat st;
    char *path = core_path();
    int known = path && !stat(path, &st);
    if (known)
        *owner = st.st_uid;
    free(path);
    return known;
}

/* ---- Policy ------------------------------------------------------------------------------ */

static int owner_trusted(uid_t owner)
{
    uid_t core;
    return owner == 0 || owner == geteuid() || (core_owner(&core) && owner == core);
}

static collet_status check_directory(const char *path, refusal *why)
{
    struct stat st;
    char *copy = strdup(path);
    if (!copy)
        return REFUSE_NO_MEMORY("out of memory for a path");
    const char *directory = dirname(copy);
    collet_status status = COLLET_OK;
    if (stat(directory, &st))
        status = REFUSE("unreadable", "its directory %s cannot be examined: %s", directory,
                        strerror(errno));
    else if (st.st_mode & S_IWOTH)
        status = REFUSE("world-writable-directory",
                        "anyone may write to its directory %s: chmod o-w it", directory);
    else if (!owner_trusted(st.st_uid))
        status = REFUSE("foreign-owner", "its directory %s belongs to user %u", directory,
                        (unsigned)st.st_uid);
    free(copy);
    return status;
}

static collet_status check_file(const struct stat *st, refusal *why)
{
    if (!S_ISREG(st->st_mode))
        return REFUSE("not-regular", "not a regular file");
    if (st->st_mode & S_IWOTH)
        return REFUSE("world-writable", "anyone may write to it: chmod o-w it");
    if (!owner_trusted(st->st_uid))
        return REFUSE("foreign-owner",
                      "it belongs to user %u: only root, this user and the owner of "
                      "libcore are trusted",
                      (unsigned)st->st_uid);
    return COLLET_OK;
}

static collet_status unreadable(int error, refusal *why)
{
    return error == ENOMEM
               ? REFUSE_NO_MEMORY("out of memory for a path")
               : refuse_with(why, COLLET_IO, "unreadable", "cannot be opened: %s", strerror(error));
}

collet_status file_open_trusted(const char *path, int *fd, refusal *why)
{
    struct stat st;
    why->code = "ok";
    /* Checked before it is opened: opening a device may have effects. */
    if (stat(path, &st))
        return unreadable(errno, why);
    collet_status status = check_file(&st, why);
    if (status != COLLET_OK)
        return status;
    char *real = realpath(path, NULL);
    if (!real)
        return unreadable(errno, why);
    status = check_directory(path, why);
    if (status == COLLET_OK)
        status = check_directory(real, why);
    free(real);
    if (status != COLLET_OK)
        return status;
    int opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (opened < 0)
        return unreadable(errno, why);
    if (fstat(opened, &st))
        status = unreadable(errno, why);
    else
        status = check_file(&st, why);
    if (status != COLLET_OK) {
        close(opened);
        return status;
    }
    *fd = opened;
    return COLLET_OK;
}

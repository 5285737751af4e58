/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/fault/test_loader_search.c, tests/fault/test_failing_calls.c */
#include "file.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
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

int file_cannot_run(int fd)
{
    size_t bytes = 1;
    void *code = mmap(NULL, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    if (code == MAP_FAILED)
        return errno;
    munmap(code, bytes);
    return 0;
}

int file_is_noexec(const char *path)
{
    struct statvfs fs;
    return !statvfs(path, &fs) && (fs.f_flag & ST_NOEXEC);
}

uint64_t file_hash(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* ---- libcore's own file ------------------------------------------------------------------ */

static const char here = 0;

/* The path of the mapping that contains this code; *there: 1 if the path leads to the mapped file.
 * NULL: /proc is missing. */
static char *mapped_path(int *there)
{
    char line[PATH_MAX + 128], *path = NULL;
    uintptr_t low, high, own = (uintptr_t)&here;
    unsigned device[2];
    uintmax_t inode;
    struct stat st;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && !path && fgets(line, sizeof line, maps)) {
        const char *name = strchr(line, '/');
        if (name &&
            sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %x:%x %ju", &low, &high, &device[0],
                   &device[1], &inode) == 5 &&
            low <= own && own < high)
            path = strndup(name, strcspn(name, "\n"));
    }
    if (maps)
        fclose(maps);
    *there = path && !stat(path, &st) && st.st_ino == inode &&
             st.st_dev == makedev(device[0], device[1]);
    return path;
}

/* The dynamic linker's name may be relative to a former working directory of the program, so the
 * path of the mapping is preferred. With overlay file systems that path may not lead to the file,
 * because it is a path of a lower layer, or because device numbers differ. Then the linker's name is used if it is
 * absolute. */
static char *core_path(void)
{
    Dl_info info;
    void *linked = NULL;
    int there = 0;
    char *path = mapped_path(&there);
    if (!there && dladdr1(&here, &info, &linked, RTLD_DL_LINKMAP) && linked &&
        ((struct link_map *)linked)->l_name[0] == '/') {
        free(path);
        path = strdup(((struct link_map *)linked)->l_name);
    }
    char *real = path ? realpath(path, NULL) : NULL;
    free(path);
    return real;
}

char *file_core_directory(void)
{
    char *path = core_path();
    char *slash = path ? strrchr(path, '/') : NULL;
    if (slash)
        *(slash == path ? slash + 1 : slash) = '\0';
    return path;
}

int file_core_owner(uid_t *owner)
{
    struct stat st;
    char *path = core_path();
    int known = path && !stat(path, &st);
    if (known)
        *owner = st.st_uid;
    free(path);
    return known;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Output files are unnamed until they are complete. If the file system does not support unnamed
 * files or cannot link them, the files get temporary names, which are removed later. The linker wraps the
 * system calls. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "directory.h"
#include "npz_reader.h"
#include "io/results.h"
#include "io/source.h"
#include "io/spool.h"

static int without_unnamed;    /* open(O_TMPFILE) fails, as on many network file systems */
static int without_link;       /* linking an unnamed file fails, as on systems without /proc */
static size_t most = SIZE_MAX; /* largest number of bytes that one call writes or reads */
static int flush_error;        /* the errno with which fsync of a directory fails; 0: it succeeds */

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_linkat(int from, const char *old, int to, const char *path, int flags);
int __wrap_linkat(int from, const char *old, int to, const char *path, int flags);

int __wrap_open64(const char *path, int flags, ...)
{
    va_list arguments;

    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    /* Child programs must not inherit the file, and a created file must be new. */
    assert_int_equal(flags & O_CLOEXEC, O_CLOEXEC);
    assert_true(!(flags & O_CREAT) || flags & O_EXCL);
    if (without_unnamed && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return __real_open64(path, flags, mode);
}

int __wrap_fsync(int fd)
{
    struct stat st;

    if (flush_error && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        errno = flush_error;
        return -1;
    }
    return __real_fsync(fd);
}

int __wrap_linkat(int from, const char *old, int to, const char *path, int flags)
{
    if (without_link) {
        errno = ENOENT;
        return -1;
    }
    return __real_linkat(from, old, to, path, flags);
}

static int without_group; /* a file's group cannot be changed: the user is not in it */
static int without_list;  /* no access control list can be set */

int __real_fchown(int file, uid_t user, gid_t group);
int __wrap_fchown(int file, uid_t user, gid_t group);
int __real_fsetxattr(int file, const char *name, const void *value, size_t size, int flags);
int __wrap_fsetxattr(int file, const char *name, const void *value, size_t size, int flags);

int __wrap_fchown(int file, uid_t user, gid_t group)
{
    errno = EPERM;
    return without_group ? -1 : __real_fchown(file, user, group);
}

int __wrap_fsetxattr(int file, const char *name, const void *value, size_t size, int flags)
{
    errno = ENOTSUP;
    return without_list ? -1 : __real_fsetxattr(file, name, value, size, flags);
}

ssize_t __real_pwrite64(int file, const void *bytes, size_t n, off_t at);
ssize_t __wrap_pwrite64(int file, const void *bytes, size_t n, off_t at);
ssize_t __real_pread64(int file, void *bytes, size_t n, off_t at);
ssize_t __wrap_pread64(int file, void *bytes, size_t n, off_t at);

ssize_t __wrap_pwrite64(int file, const void *bytes, size_t n, off_t at)
{
    return __real_pwrite64(file, bytes, n < most ? n : most, at);
}

ssize_t __wrap_pread64(int file, void *bytes, size_t n, off_t at)
{
    return __real_pread64(file, bytes, n < most ? n : most, at);
}

/* ---- Permissions ----------------------------------------------------------------------------- */

/* The permissions of a file of mode `old` after it is replaced. */
static mode_t replaced(const char *path, mode_t old)
{
    struct stat st;
    assert_int_equal(chmod(path, old), 0);
    assert_int_equal(io_make_spool(path, "new", 3, NULL), COLLET_OK);
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 0777;
}

TEST(a_group_that_cannot_be_kept)
{
    const char *path = io_path(directory, "group");
    assert_int_equal(io_make_spool(path, "old", 3, NULL), COLLET_OK);
    without_group = 1;
    assert_int_equal(replaced(path, 0644), 0644);
    assert_int_equal(replaced(path, 0640), 0600);
    assert_int_equal(replaced(path, 0604), 0600);
    without_group = 0;
    assert_int_equal(replaced(path, 0604), 0604);
    remove(path);
}

/* The permissions of an existing file that belongs to another user do not apply to the new file. */
TEST(a_file_of_another_user)
{
    const char *path = io_path(directory, "theirs");
    static const mode_t modes[][2] = {{0666, 0644}, {0640, 0640}, {0600, 0600}};
    if (geteuid())
        skip();
    mode_t mask = umask(022);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(io_make_spool(path, "old", 3, NULL), COLLET_OK);
        assert_int_equal(chown(path, 54321, (gid_t)-1), 0);
        assert_int_equal(replaced(path, modes[i][0]), modes[i][1]);
    }
    umask(mask);
    remove(path);
}

enum { OWNER = 1, USER = 2, GROUP = 4, MASK = 16, OTHERS = 32 };
typedef struct access_list {
    uint32_t version;
    struct {
        uint16_t tag, may;
        uint32_t user;
    } entries[5];
} access_list;

#define LIST "system.posix_acl_access"

/* If a file has an access control list, the group bits of its mode are the mask of the list. They do not
 * state the permissions of the file's group. */
TEST(access_control_lists)
{
    const access_list list = {
        2, {{OWNER, 6, ~0u}, {USER, 4, 54321}, {GROUP, 0, ~0u}, {MASK, 4, ~0u}, {OTHERS, 0, ~0u}}};
    access_list found;
    const char *path = io_path(directory, "list");
    assert_int_equal(io_make_spool(path, "old", 3, NULL), COLLET_OK);
    if (setxattr(path, LIST, &list, sizeof list, 0) != 0)
        skip();
    assert_int_equal(replaced(path, 0640), 0640);
    assert_int_equal(getxattr(path, LIST, &found, sizeof found), sizeof found);
    assert_memory_equal(&found, &list, sizeof list);
    without_list = 1;
    assert_int_equal(replaced(path, 0640), 0600);
    without_list = 0;
    if (geteuid() == 0) { /* only root can give the file to another user */
        assert_int_equal(setxattr(path, LIST, &list, sizeof list, 0), 0);
        assert_int_equal(chown(path, 54321, (gid_t)-1), 0);
        assert_int_equal(replaced(path, 0640), 0600);
        assert_int_equal(getxattr(path, LIST, NULL, 0), -1);
    }
    /* A default access control list of the directory does not give its group access to a private file. */
    assert_int_equal(setxattr(directory, "system.posix_acl_default", &list, sizeof list, 0), 0);
    assert_int_equal(replaced(path, 0640), 0640);
    assert_int_equal(getxattr(path, LIST, NULL, 0), -1);
    assert_int_equal(removexattr(directory, "system.posix_acl_default"), 0);
    remove(path);
}

/* No other user can open the new file before it has the permissions of the file that it
 * replaces. */
TEST(private_from_the_start)
{
    const char *path = io_path(directory, "private");
    io_spool *spool;
    struct stat st;
    assert_int_equal(io_make_spool(path, "old", 3, NULL), COLLET_OK);
    assert_int_equal(io_spool_create(path, IO_SPOOL_NAMED, &spool, NULL), COLLET_OK);
    assert_int_equal(stat(io_spool_temporary(spool), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    io_spool_free(spool);
    remove(path);
}

static void write_and_finish(const char *path, int32_t form, int finish)
{
    io_results *results;
    int32_t column;

    assert_int_equal(io_results_create(path, form, &results, NULL), COLLET_OK);
    assert_int_equal(io_results_add(results, "a", 0, NULL, &column, NULL), COLLET_OK);
    assert_int_equal(io_results_append(results, column, 1, &(double){7.5}, NULL), COLLET_OK);
    /* The output has a temporary name; the file for an archive's rows has no name. */
    assert_int_equal(io_count_entries(form == IO_RESULTS_NPZ ? directory : path), 1);
    if (finish) {
        assert_int_equal(io_results_link(results, NULL), COLLET_OK);
        assert_int_equal(io_results_rename(results, NULL, 1, NULL), COLLET_OK);
    }
    io_results_free(results);
}

static void check_both_forms(void)
{
    FREED(char) *path = strdup(io_path(directory, "out"));

    for (int32_t form = 0; form < 2; form++) {
        write_and_finish(path, form, 0);
        assert_int_equal(io_count_entries(directory), 0);
    }
    write_and_finish(path, IO_RESULTS_NPZ, 1);
    assert_int_equal(io_count_entries(directory), 1);
    io_bytes file = io_load(path);
    npy_array array = npz_find(file.data, file.size, "a");
    assert_true(array.size == 8 && memcmp(array.data, &(double){7.5}, 8) == 0);
    free(file.data);
    remove(path);
    write_and_finish(path, IO_RESULTS_DIRECTORY, 1);
    assert_int_equal(io_count_entries(path), 1);
    remove(io_path(path, "a.npy"));
    remove(path);
}

TEST(no_unnamed_files)
{
    without_unnamed = 1;
    check_both_forms();
    without_unnamed = 0;
}

TEST(no_names_for_unnamed_files)
{
    without_link = 1;
    check_both_forms();
    without_link = 0;
}

/* Once the output has its name, other programs may lock and read it, as HDF5 does. */
TEST(locked_for_reading)
{
    io_spool *spool;
    const char *path = io_path(directory, "read");

    assert_int_equal(io_spool_create(path, IO_SPOOL_OUTPUT, &spool, NULL), COLLET_OK);
    assert_int_equal(io_spool_publish(spool, 1, NULL), COLLET_OK);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_SH | LOCK_NB), 0);
    close(fd);
    io_spool_free(spool);
    remove(path);
}

/* It is not an error if the file system cannot flush directories. A failure of the disk is reported. */
TEST(directories_that_are_not_flushed)
{
    static const struct {
        int error;
        collet_status status;
    } cases[] = {{0, COLLET_OK}, {EINVAL, COLLET_OK}, {ENOTSUP, COLLET_OK}, {EIO, COLLET_IO}};
    const char *path = io_path(directory, "flushed");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        io_spool *spool;
        collet_error err = {0};
        assert_int_equal(io_spool_create(path, IO_SPOOL_OUTPUT, &spool, NULL), COLLET_OK);
        flush_error = cases[i].error;
        assert_int_equal(io_spool_publish(spool, 1, &err), cases[i].status);
        flush_error = 0;
        assert_true(cases[i].status == COLLET_OK ||
                    strstr(err.text, "cannot be flushed to the disk: Input/output error"));
        io_spool_free(spool);
        remove(path);
    }
}

/* Publishing a directory fails between its two steps, linking and renaming. */
TEST(linked_but_not_renamed)
{
    io_spool *spool;
    const char *path = io_path(directory, "half");

    assert_int_equal(io_spool_create(path, IO_SPOOL_OUTPUT, &spool, NULL), COLLET_OK);
    assert_int_equal(io_count_entries(directory), 0);
    assert_int_equal(io_spool_write(spool, "half", 4, NULL), COLLET_OK);
    assert_int_equal(io_spool_link(spool, NULL), COLLET_OK);
    assert_int_equal(io_count_entries(directory), 1);
    io_spool_free(spool);
    assert_int_equal(io_count_entries(directory), 0);
}

static void leave_one(const char *path)
{
    io_spool *spool;
    pid_t child = fork();

    if (child == 0) {
        io_spool_create(path, IO_SPOOL_OUTPUT, &spool, NULL);
        io_spool_link(spool, NULL);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* The next program removes the temporary files of a killed program, but not files that another
 * program is still writing. */
TEST(leftovers_are_removed)
{
    FREED(char) *path = strdup(io_path(directory, "out"));
    io_spool *first, *second;

    for (without_unnamed = 0; without_unnamed < 2; without_unnamed++) {
        leave_one(path);
        assert_int_equal(io_count_entries(directory), 1);
        assert_int_equal(io_spool_create(path, IO_SPOOL_OUTPUT, &first, NULL), COLLET_OK);
        assert_int_equal(io_count_entries(directory), without_unnamed);
        assert_int_equal(io_spool_link(first, NULL), COLLET_OK);
        assert_int_equal(io_spool_create(path, IO_SPOOL_OUTPUT, &second, NULL), COLLET_OK);
        assert_int_equal(io_count_entries(directory), 1 + without_unnamed);
        io_spool_free(second);
        assert_int_equal(io_spool_rename(first, 1, NULL), COLLET_OK);
        io_spool_free(first);
        assert_int_equal(io_count_entries(directory), 1);
        remove(path);
    }
    without_unnamed = 0;
}

/* If another program creates the files after this program has checked that they do not exist, they are
 * replaced only on request. */
TEST(a_set_that_exists_meanwhile)
{
    static const char *const names[2] = {"a", "b"};
    io_spool *set[2];
    collet_error err;
    for (int i = 0; i < 2; i++) {
        const char *path = io_path(directory, names[i]);
        assert_int_equal(io_spool_create(path, IO_SPOOL_OUTPUT, &set[i], NULL), COLLET_OK);
        assert_int_equal(io_spool_link(set[i], NULL), COLLET_OK);
    }
    io_save(io_path(directory, "b"), "theirs", 6);
    assert_error(io_spool_rename_all(set, 2, 0, &err), COLLET_IO, err, "/b was not replaced");
    assert_int_equal(access(io_path(directory, "a"), F_OK), -1);
    io_bytes theirs = io_load(io_path(directory, "b"));
    assert_int_equal(theirs.size, 6);
    free(theirs.data);
    mkdir(io_path(directory, "a"), 0777);
    assert_error(io_spool_rename_all(set, 2, 1, &err), COLLET_IO, err, "nothing was replaced");
    rmdir(io_path(directory, "a"));
    theirs = io_load(io_path(directory, "b"));
    assert_int_equal(theirs.size, 6);
    free(theirs.data);
    assert_int_equal(io_count_entries(directory), 3); /* two of them have temporary names */
    assert_int_equal(io_spool_rename_all(set, 2, 1, &err), COLLET_OK);
    assert_int_equal(io_count_entries(directory), 2);
    for (int i = 0; i < 2; i++) {
        io_spool_free(set[i]);
        assert_int_equal(remove(io_path(directory, names[i])), 0);
    }
}

static void write_and_read(size_t bytes_at_once)
{
    io_spool *spool;
    uint8_t bytes[200], big[70000];

    most = bytes_at_once;
    memset(big, 'b', sizeof big);
    assert_int_equal(io_spool_create(io_path(directory, "x"), IO_SPOOL_SCRATCH, &spool, NULL),
                     COLLET_OK);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(io_spool_write(spool, "0123456789", 10, NULL), COLLET_OK);
    assert_int_equal(io_spool_write(spool, big, sizeof big, NULL), COLLET_OK);
    assert_int_equal(io_spool_write(spool, "end", 3, NULL), COLLET_OK);
    assert_int_equal(io_spool_size(spool), 80003);
    assert_int_equal(io_spool_seek(spool, 5, NULL), COLLET_OK);
    assert_int_equal(io_spool_write(spool, "xyz", 3, NULL), COLLET_OK);
    assert_int_equal(io_spool_position(spool), 8);
    assert_int_equal(io_spool_flush(spool, NULL), COLLET_OK);
    assert_int_equal(io_spool_size(spool), 80003);
    assert_int_equal(io_spool_read(spool, 0, bytes, 12, NULL), COLLET_OK);
    assert_memory_equal(bytes, "01234xyz8901", 12);
    assert_int_equal(io_spool_read(spool, 5000, bytes, 10, NULL), COLLET_OK);
    assert_memory_equal(bytes, "0123456789", 10);
    assert_int_equal(io_spool_read(spool, 79998, bytes, 5, NULL), COLLET_OK);
    assert_memory_equal(bytes, "bbend", 5);
    assert_int_equal(io_spool_read(spool, 80000, bytes, 5, NULL), COLLET_IO);
    io_spool_free(spool);
    assert_int_equal(io_count_entries(directory), 0);
    most = SIZE_MAX;
}

TEST(written_and_read_at_any_place)
{
    write_and_read(SIZE_MAX);
    write_and_read(997); /* in parts */
}

TEST(read_in_parts)
{
    static uint8_t bytes[80000], got[sizeof bytes];
    io_source source;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(1 + i % 251);
    io_save(io_path(directory, "parts"), bytes, sizeof bytes);
    most = 997;
    assert_int_equal(io_source_open(&source, io_path(directory, "parts"), NULL, NULL), COLLET_OK);
    assert_int_equal(io_source_copy(&source, 100, 70000, got, NULL), COLLET_OK);
    assert_memory_equal(got, bytes + 100, 70000);
    assert_int_equal(got[70000], 0);
    io_source_close(&source);
    most = SIZE_MAX;
    remove(io_path(directory, "parts"));
}

TEST_GROUP(make_directory, remove_directory)

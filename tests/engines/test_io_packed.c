/* SPDX-License-Identifier: Apache-2.0 */
/* Files that gzip, bzip2 and xz have packed: the programs pack, Collet unpacks. */

#include "io/packed/packed.h"
#include "io/signature.h"
#include "io_files.h"

#include <pthread.h>
#include <dirent.h>
#include <fcntl.h>

#define SIZE ((size_t)900001) /* more than three windows */
#define SMALL ((size_t)3000)

static const char *const programs[] = {"gzip", "bzip2", "xz"};
#define PROGRAMS (sizeof programs / sizeof *programs)

static uint8_t file[SIZE], packed[2 * SIZE], unpacked[2 * SIZE];
static char *directory;

static int set_up(void **state)
{
    uint32_t x = 1;

    for (size_t i = 0; i < SIZE; i++) {
        x = x * 1664525u + 1013904223u;
        file[i] = (uint8_t)("0123456789 .-\nHO"[x >> 28]);
    }
    directory = io_make_directory();
    return 0;
}

static int tear_down(void **state)
{
    io_remove_directory(directory);
    return 0;
}

/* Packs n bytes of `file` from `first` on into `to`. Returns the number of packed bytes; 0: the program is not
 * installed. */
static size_t pack(const char *program, size_t first, size_t n, uint8_t *to)
{
    char command[3000];
    const char *plain = io_save(io_path(directory, "plain"), file + first, n);

    snprintf(command, sizeof command, "%s -c <'%s' 2>/dev/null", program, plain);
    FILE *pipe = popen(command, "re");
    assert_non_null(pipe);
    size_t count = fread(to, 1, 2 * SIZE - (size_t)(to - packed), pipe);
    return pclose(pipe) == 0 ? count : 0;
}

static const char *save(const void *bytes, size_t n)
{
    return io_save(io_path(directory, "packed"), bytes, n);
}

/* Reads a file through a source into `unpacked`. Returns the number of bytes, or -1 and the error. */
static int64_t read_all(const char *path, collet_status *status, collet_error *err)
{
    io_source s;
    int64_t n = -1;

    *status = io_source_open(&s, path, NULL, err);
    if (*status != COLLET_OK)
        return -1;
    n = s.size;
    assert_true(n <= (int64_t)sizeof unpacked);
    assert_int_equal(io_source_copy(&s, 0, (size_t)n, unpacked, err), COLLET_OK);
    io_source_close(&s);
    return n;
}

static int open_files(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

TEST(whole_files_and_several_parts)
{
    int before = open_files();
    collet_status status;
    collet_error err;

    for (size_t p = 0; p < PROGRAMS; p++) {
        size_t n = pack(programs[p], 0, SIZE, packed);
        if (n == 0)
            continue;
        assert_true(n < SIZE);
        assert_int_equal(read_all(save(packed, n), &status, &err), SIZE);
        assert_memory_equal(unpacked, file, SIZE);

        n = pack(programs[p], 0, 400000, packed);
        n += pack(programs[p], 400000, 0, packed + n); /* an empty part */
        n += pack(programs[p], 400000, SIZE - 400000, packed + n);
        assert_int_equal(read_all(save(packed, n), &status, &err), SIZE);
        assert_memory_equal(unpacked, file, SIZE);

        memset(packed + n, 0, 5000);
        assert_int_equal(read_all(save(packed, n + 5000), &status, &err), SIZE);
        packed[n + 4999] = '!';
        assert_int_equal(read_all(save(packed, n + 5000), &status, &err), -1);
        assert_int_equal(status, COLLET_FORMAT);
        assert_contains(err.text, "are followed by other bytes, after 900001 unpacked bytes");

        assert_int_equal(read_all(save(packed, pack(programs[p], 0, 0, packed)), &status, &err), 0);
    }
    assert_int_equal(open_files(), before);
}

TEST(every_cut_and_every_spoilt_byte)
{
    collet_status status;
    collet_error err;

    for (size_t p = 0; p < PROGRAMS; p++) {
        size_t n = pack(programs[p], 0, SMALL, packed);
        for (size_t cut = 10; cut < n; cut++) {
            assert_int_equal(read_all(save(packed, cut), &status, &err), -1);
            assert_int_equal(status, COLLET_FORMAT);
            assert_contains(err.text, "the packed data end early");
        }
        for (size_t at = 0; at < n; at++) {
            packed[at] ^= 0x55;
            int64_t length = read_all(save(packed, n), &status, &err);
            packed[at] ^= 0x55;
            /* The file is not recognised as packed, or is refused, or the changed byte does not affect the data. */
            if (length == (int64_t)n && memcmp(unpacked, packed, n) != 0)
                continue;
            if (length < 0)
                assert_true(status == COLLET_FORMAT || status == COLLET_NO_MEMORY);
            else {
                assert_int_equal(length, SMALL);
                assert_memory_equal(unpacked, file, SMALL);
            }
        }
    }
}

TEST(text_that_begins_as_a_packed_file)
{
    collet_status status;
    collet_error err;

    assert_int_equal(read_all(save("BZh9 is a title\n", 16), &status, &err), 16);
    assert_int_equal(read_all(save("BZh", 3), &status, &err), 3);
    assert_int_equal(read_all(save("\x1f\x8b", 2), &status, &err), 2);
}

static int32_t stop_third(void *user)
{
    return ++*(int *)user == 3;
}

TEST(users_share_one_temporary_file)
{
    io_packed *first, *second, *other;
    int64_t size;
    int calls = 0, before = open_files();
    collet_error err;
    size_t n = pack("gzip", 0, SIZE, packed);
    FREED(char) *path = strdup(save(packed, n));
    const io_poll poll = {stop_third, &calls};

    assert_int_equal(io_packed_open_path(path, &poll, &first, &err), COLLET_CANCELLED);
    assert_null(first);
    assert_int_equal(open_files(), before);
    assert_int_equal(io_packed_open_path(path, NULL, &first, &err), COLLET_OK);
    assert_int_equal(io_packed_open_path(path, NULL, &second, &err), COLLET_OK);
    assert_ptr_equal(first, second);
    assert_int_equal(open_files(), before + 1);
    /* A different file gets the same name. */
    n = pack("gzip", 0, SMALL, packed);
    unlink(path);
    assert_int_equal(io_packed_open_path(save(packed, n), NULL, &other, &err), COLLET_OK);
    assert_ptr_not_equal(first, other);
    assert_true(io_packed_file(other, &size) >= 0 && size == SMALL);
    assert_true(io_packed_file(first, &size) >= 0 && size == SIZE);
    io_packed_release(first);
    io_packed_release(other);
    io_packed_release(second);
    io_packed_release(NULL);
    assert_int_equal(open_files(), before);
    assert_int_equal(io_packed_open_path("/nowhere/x.gz", NULL, &first, &err), COLLET_OK);
    assert_null(first);
}

static void *open_and_close(void *path)
{
    collet_status status = COLLET_OK;

    for (int i = 0; i < 20 && status == COLLET_OK; i++) {
        io_packed *p;
        int64_t size = 0;
        status = io_packed_open_path(path, NULL, &p, NULL);
        if (status == COLLET_OK && (io_packed_file(p, &size) < 0 || size != SIZE))
            status = COLLET_IO;
        io_packed_release(p);
    }
    return status == COLLET_OK ? NULL : path;
}

TEST(threads)
{
    pthread_t threads[4];
    int before = open_files();
    size_t n = pack("gzip", 0, SIZE, packed);
    FREED(char) *path = strdup(save(packed, n));
    void *failed;

    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, open_and_close, path), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(open_files(), before);
}

TEST(no_room_for_the_temporary_file)
{
    collet_status status;
    collet_error err;
    size_t n = pack("gzip", 0, SMALL, packed);
    const char *path = save(packed, n);

    setenv("TMPDIR", "/nowhere", 1);
    assert_int_equal(read_all(path, &status, &err), -1);
    assert_int_equal(status, COLLET_IO);
    assert_contains(err.text,
                    "a temporary file in /nowhere for its unpacked data cannot be written "
                    "after 0 bytes: No such file or directory; set TMPDIR");
    unsetenv("TMPDIR");
    assert_int_equal(read_all(path, &status, &err), SMALL);
}

TEST(suffixes)
{
    assert_true(io_signature_suffix("a.gro", ".gro"));
    assert_true(io_signature_suffix("a.GRO.gz", ".gro"));
    assert_true(io_signature_suffix("a.gro.XZ", ".gro"));
    assert_true(io_signature_misleads("a.pqr.bz2"));
    assert_false(io_signature_suffix("a.gro.gz.xz", ".gro"));
    assert_false(io_signature_suffix("a.gz", ".gro"));
    assert_false(io_signature_suffix("gz", ".gro"));
}

TEST_GROUP(set_up, tear_down)

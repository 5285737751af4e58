/* SPDX-License-Identifier: Apache-2.0 */
/* The window over a file: any view, copy and stream returns the file's bytes. */

#include "io/source.h"
#include "io_files.h"

#include <fcntl.h>

#define SIZE ((size_t)700001)

static uint8_t file[SIZE], copied[SIZE];
static char *directory;

static uint32_t next(void)
{
    static uint32_t x = 1;
    return (x = x * 1664525u + 1013904223u) >> 8;
}

static int set_up(void **state)
{
    for (size_t i = 0; i < SIZE; i++)
        file[i] = (uint8_t)next();
    directory = io_make_directory();
    return 0;
}

static int tear_down(void **state)
{
    io_remove_directory(directory);
    return 0;
}

static const char *new_file(size_t size)
{
    return io_save(io_path(directory, "x"), file, size);
}

/* Copies that lie inside the window, reach into it, cross its end, or are longer than a view may
 * be. */
TEST(copies)
{
    io_source s;
    const uint8_t *bytes;
    assert_int_equal(io_source_open(&s, new_file(SIZE), NULL, NULL), COLLET_OK);
    for (int i = 0; i < 3000; i++) {
        size_t at = next() % SIZE, most = i % 3 ? 5000 : 3 * IO_SOURCE_VIEW;
        size_t n = next() % (SIZE - at < most ? SIZE - at + 1 : most);
        size_t seen = SIZE - at < IO_SOURCE_VIEW ? SIZE - at : IO_SOURCE_VIEW;
        memset(copied, 0, n + (n < SIZE));
        assert_int_equal(io_source_copy(&s, (int64_t)at, n, copied, NULL), COLLET_OK);
        assert_memory_equal(copied, file + at, n);
        if (i % 2)
            continue;
        assert_int_equal(io_source_view(&s, (int64_t)at, seen, &bytes, NULL), COLLET_OK);
        assert_memory_equal(bytes, file + at, seen);
        /* A copy that begins in the window and ends after the window. */
        size_t end = (size_t)s.window_offset + s.window_length, from = end - (end < 9 ? end : 9);
        n = SIZE - from < 100 ? SIZE - from : 100;
        assert_int_equal(io_source_copy(&s, (int64_t)from, n, copied, NULL), COLLET_OK);
        assert_memory_equal(copied, file + from, n);
    }
    io_source_close(&s);
}

TEST(streams)
{
    static const size_t units[] = {1, 4, 12, 1000};
    io_source s;
    assert_int_equal(io_source_open(&s, new_file(SIZE), NULL, NULL), COLLET_OK);
    for (int i = 0; i < 40; i++) {
        size_t unit = units[i % 4], at = next() % (SIZE - 2000), n;
        size_t rest = (SIZE - at) / unit * unit;
        for (; rest > 0; rest -= n, at += n) {
            const uint8_t *bytes;
            assert_int_equal(
                io_source_stream(&s, (int64_t)at, (int64_t)rest, unit, &bytes, &n, NULL),
                COLLET_OK);
            assert_true(n >= unit && n <= rest && n % unit == 0);
            assert_memory_equal(bytes, file + at, n);
        }
    }
    io_source_close(&s);
}

/* In a program without standard input a file may get the descriptor 0. */
TEST(descriptor_0)
{
    io_source s;
    int input = dup(0);
    for (int i = 0; i < 2; i++) {
        close(0);
        const char *path = i ? directory : new_file(SIZE);
        assert_int_equal(io_source_open(&s, path, NULL, NULL), i ? COLLET_IO : COLLET_OK);
        io_source_close(&s);
        assert_int_equal(open("/dev/null", O_RDONLY), 0);
    }
    dup2(input, 0);
    close(input);
}

static int32_t stop(void *user)
{
    return (*(int *)user)++ >= 1;
}

TEST(failures)
{
    io_source s;
    collet_error err = {0};
    const uint8_t *bytes;
    size_t n;
    int asked = 0;
    assert_int_equal(io_source_open(&s, new_file(0), NULL, &err), COLLET_OK);
    assert_error(io_source_begin(&s, &bytes, &n, &err), COLLET_FORMAT, err, "is empty");
    io_source_close(&s);
    const char *path = new_file(SIZE);
    assert_int_equal(io_source_open(&s, path, NULL, &err), COLLET_OK);
    s.poll = (io_poll){stop, &asked};
    assert_int_equal(io_source_begin(&s, &bytes, &n, &err), COLLET_OK);
    assert_int_equal(n, 4096);
    assert_int_equal(io_source_view(&s, 600000, 10, &bytes, &err), COLLET_CANCELLED);
    s.poll.ask = NULL;
    assert_int_equal(truncate(path, 500000), 0);
    assert_error(io_source_view(&s, 600000, 10, &bytes, &err), COLLET_IO, err,
                 "became shorter while it was read: 700001 bytes when opened");
    assert_error(io_source_copy(&s, 400000, 200000, copied, &err), COLLET_IO, err,
                 "now it ends at byte 500000");
    io_source_close(&s);
}

TEST_GROUP(set_up, tear_down)

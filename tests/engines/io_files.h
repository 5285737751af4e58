/* SPDX-License-Identifier: Apache-2.0 */
/* io_files.h - files for the tests of engines/io. Every function fails the test instead of
 * returning an error. */
#ifndef TESTS_ENGINES_IO_FILES_H
#define TESTS_ENGINES_IO_FILES_H

#include <collet/trajectory.h>

#include "common/test.h"
#include "trajectory/reading/reader.h"
#include "trajectory/reading/topology.h"

typedef struct io_bytes {
    uint8_t *data; /* freed by the caller: OWNED */
    size_t size;
} io_bytes;

OWNS(collet_trajectory, collet_trajectory_destroy)
OWNS(trajectory_frames, trajectory_frames_free)
OWNS(trajectory_reader, trajectory_reader_close)
OWNS(trajectory_topology, trajectory_topology_free)

/* For OWNED(io_bytes). */
static inline void io_bytes_end(io_bytes *bytes)
{
    free(bytes->data);
}

/* Creates a directory; `io_remove_directory` frees the name and removes it with its contents. */
char *io_make_directory(void);
void io_remove_directory(char *path);

/* Number of entries in a directory, including hidden entries. */
int io_count_entries(const char *directory);

/* "DIRECTORY/NAME" in one of two static buffers: the call after the next overwrites it. */
const char *io_path(const char *directory, const char *name);

io_bytes io_load(const char *path);
/* Returns `path`. */
const char *io_save(const char *path, const void *data, size_t size);
/* Writes a whole file through a spool (engines/io) and returns the spool's status. */
collet_status io_make_spool(const char *path, const void *bytes, size_t n, collet_error *err);

/* FNV-1a, 64 bits; start with IO_HASH. */
#define IO_HASH UINT64_C(0xcbf29ce484222325)
uint64_t io_hash(uint64_t hash, const void *data, size_t size);

/* Saves a text as `path` and reads it as a valid topology. */
trajectory_topology *io_topology(const char *path, const char *text);

/* A malformed file, and a text that its message contains. */
typedef struct io_malformed {
    const char *text;
    const char *message;
} io_malformed;

/* Saves each of `count` texts as `path`. Each must be refused as a topology: status FORMAT, with
 * the expected message and the path. */
void io_refuse_topologies(const char *path, const io_malformed *bad, size_t count);

/* The file must be refused as a trajectory: status FORMAT, with the path and the message. */
void io_refuse(const char *path, const char *message);

/* Opens a valid trajectory. */
trajectory_reader *io_open(const char *path);

/* A batch for all quantities in the file; if `everything` is 0, for positions only. */
trajectory_frames *io_batch(const trajectory_reader *trajectory, int64_t capacity, int everything);

/* Reads a batch, which must have `expected` frames. */
#define io_read(trajectory, frames, expected)                                                      \
    do {                                                                                           \
        assert_int_equal(trajectory_reader_read(trajectory, frames, NULL), COLLET_OK);             \
        assert_int_equal((frames)->n_frames, expected);                                            \
    } while (0)

/* Saves a text as `path` and reads it as a trajectory: at most ten frames, all quantities. Expects
 * n_frames valid frames, then the end (message NULL) or FORMAT with a message that contains
 * `message`. */
trajectory_frames *io_expect(const char *path, const char *text, size_t size, int64_t n_frames,
                             int truncated, const char *message);
/* Like io_expect, for an existing file, in batches of `most` frames. */
trajectory_frames *io_expect_frames(const char *path, int64_t most, int64_t n_frames, int truncated,
                                    const char *message);

/* The number of bytes of one quantity of one frame of the batch. */
size_t io_frame_bytes(const trajectory_frames *frames);

/* A growing file image of big-endian numbers. */
typedef struct io_image {
    uint8_t *data; /* freed by the caller: OWNED */
    size_t size;
    size_t capacity;
} io_image;

/* For OWNED(io_image). */
static inline void io_image_end(io_image *image)
{
    free(image->data);
}

void io_put(io_image *image, const void *bytes, size_t n);
void io_put_i32(io_image *image, int32_t value);
void io_put_f32(io_image *image, float value);
void io_put_f64(io_image *image, double value);

/* Contents of a .trr frame of `io_put_trr`. */
#define IO_BOX 1
#define IO_X 2
#define IO_V 4
#define IO_F 8

/* Appends a .trr frame in single (real 4) or double (real 8) precision. Value i of a field is
 * frame * 100 + i * 0.25, plus 1000 for velocities and 2000 for forces. The time is frame * 0.5. */
void io_put_trr(io_image *image, int real, int32_t atoms, int32_t frame, int fields);

#endif

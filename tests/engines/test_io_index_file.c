/* SPDX-License-Identifier: Apache-2.0 */
/* Index files of trajectories: damaged files, and several processes that need the same index. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "directory.h"
#include "trajectory/reading/index.h"
#include "trajectory/reading/index_file.h"

static char trajectory[4096];

/* Saves a trajectory of n frames. */
static void save(int32_t n)
{
    OWNED(io_image) image = {0};

    for (int32_t i = 0; i < n; i++)
        io_put_trr(&image, 4, 3, i, IO_X);
    snprintf(trajectory, sizeof trajectory, "%s", io_path(directory, "run.trr"));
    io_save(trajectory, image.data, image.size);
}

/* Stores the path of the file with this suffix in `path`. Returns the number of such files in the directory. */
static int find(const char *suffix, char path[4096])
{
    DIR *entries = opendir(directory);
    int n = 0;

    for (struct dirent *e = readdir(entries); e; e = readdir(entries)) {
        size_t length = strlen(e->d_name), end = strlen(suffix);
        if (length < end || strcmp(e->d_name + length - end, suffix) != 0)
            continue;
        snprintf(path, 4096, "%s/%s", directory, e->d_name);
        n++;
    }
    closedir(entries);
    return n;
}

/* The number of texts that `tell` received, and the last text. */
typedef struct texts {
    int n;
    int cancels; /* number of the text at which `tell` cancels; 0: never */
    char last[COLLET_ERROR_TEXT];
} texts;

static int32_t tell(void *user, const char *text)
{
    texts *told = user;

    told->n++;
    snprintf(told->last, sizeof told->last, "%s", text);
    return told->n == told->cancels;
}

static collet_status count(const char *path, const char *where, texts *told, double patience,
                           int64_t *frames, collet_error *err)
{
    const trajectory_index_watch watch = {.tell = tell, .user = told, .patience_s = patience};
    trajectory_reader *t = io_open(path);
    collet_status status = trajectory_reader_count(t, where, told ? &watch : NULL, frames, err);

    trajectory_reader_close(t);
    return status;
}

static int64_t count_well(const char *path)
{
    collet_error err;
    int64_t frames;

    assert_success(count(path, directory, NULL, 0, &frames, &err), err);
    return frames;
}

/* Saves a trajectory of n frames; removes index files and locks. */
static void begin(int n)
{
    char path[4096];

    while (find(".index", path) > 0 || find(".lock", path) > 0)
        remove(path);
    save(n);
}

static void load(const char *path, const trajectory_index_head *head, int usable)
{
    trajectory_places *places = trajectory_index_load(path, head->identity, head->n_parts);

    assert_int_equal(places != NULL, usable);
    trajectory_places_free(places);
}

TEST(files)
{
    char path[4096];
    begin(5);

    assert_int_equal(count_well(trajectory), 5);
    assert_int_equal(find(".index", path), 1);
    assert_int_equal(find(".lock", path), 0);
    io_bytes bytes = io_load(path);
    trajectory_index_head head;
    assert_true(bytes.size == sizeof head + sizeof(trajectory_places_part) + 5 * sizeof(int64_t));
    memcpy(&head, bytes.data, sizeof head);
    load(path, &head, 1);
    /* The index is loaded only for its own trajectory, and not if it is truncated or damaged. */
    trajectory_index_head other = head;
    other.identity++;
    load(path, &other, 0);
    other = head;
    other.n_parts++;
    load(path, &other, 0);
    for (size_t i = 0; i < bytes.size; i++) {
        bytes.data[i] ^= 4;
        io_save(path, bytes.data, bytes.size);
        load(path, &head, 0);
        bytes.data[i] ^= 4;
        io_save(path, bytes.data, i);
        load(path, &head, 0);
    }
    assert_int_equal(count_well(trajectory), 5); /* made again */
    load(path, &head, 1);
    other = head;
    other.n_frames = 4;
    memcpy(bytes.data, &other, sizeof other);
    ((trajectory_places_part *)(bytes.data + sizeof other))->n_frames = 4;
    trajectory_index_seal(bytes.data, bytes.size);
    io_save(path, bytes.data, bytes.size);
    assert_int_equal(count_well(trajectory), 4);
    free(bytes.data);
    /* A file with new content gets another index. */
    save(7);
    assert_int_equal(count_well(trajectory), 7);
    assert_int_equal(find(".index", path), 2);
}

/* Starts a process that locks the index at `path`, reports that, and holds the lock until it is
 * killed. */
static pid_t hold(const char *path)
{
    char lock[4110], byte;
    int ends[2];

    snprintf(lock, sizeof lock, "%s.lock", path);
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open(lock, O_RDWR | O_CREAT, 0666);
        if (flock(fd, LOCK_EX) != 0 || write(fd, "process 7 of node3", 18) != 18 ||
            write(ends[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

TEST(locks)
{
    char path[4096];
    collet_error err = {0};
    texts told = {0};
    int64_t frames;

    begin(5);
    count_well(trajectory);
    find(".index", path);
    remove(path);
    pid_t pid = hold(path);
    assert_error(count(trajectory, directory, &told, 1.3, &frames, &err), COLLET_IO, err,
                 "for its index, which process 7 of node3 makes without progress");
    assert_contains(told.last, "waiting for its index, which process 7 of node3 makes");
    told = (texts){.cancels = 1};
    assert_int_equal(count(trajectory, directory, &told, 20, &frames, &err), COLLET_CANCELLED);
    /* The process with the lock is killed while this process waits. */
    pid_t killer = fork();
    if (killer == 0) {
        usleep(300000);
        kill(pid, SIGKILL);
        _exit(0);
    }
    assert_int_equal(count(trajectory, directory, &told, 20, &frames, &err), COLLET_OK);
    assert_int_equal(frames, 5);
    assert_int_equal(waitpid(pid, NULL, WNOHANG), pid);
    waitpid(killer, NULL, 0);
    assert_int_equal(find(".index", path), 1);
    assert_int_equal(find(".lock", path), 0);
}

/* Many processes begin at once. */
TEST(crowd)
{
    char path[4096];

    pid_t pids[12];
    int status;

    begin(900);
    for (size_t i = 0; i < 12; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            int64_t frames = 0;
            _exit(count(trajectory, directory, NULL, 20, &frames, NULL) != COLLET_OK ||
                  frames != 900);
        }
    }
    for (size_t i = 0; i < 12; i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(find(".index", path), 1);
    assert_int_equal(find(".lock", path), 0);
}

enum { FRAMES = 6 };

/* Reads frames start, start + step, ... before `stop` by the index. Returns 1 if the reader reports that the index is
 * wrong. Otherwise returns 0, and checks the frames if `right` is 1. */
static int read_slice(int64_t start, int64_t stop, int64_t step, int right)
{
    trajectory_reader *t = io_open(trajectory);
    trajectory_frames *batch = io_batch(t, FRAMES, 0);
    collet_error err = {0};
    int64_t frames;

    assert_int_equal(trajectory_reader_slice(t, start, stop, step, &err), COLLET_OK);
    assert_success(trajectory_reader_count(t, directory, NULL, &frames, &err), err);
    collet_status status = trajectory_reader_read(t, batch, &err);
    for (int64_t i = 0; i < batch->n_frames; i++) {
        assert_int_equal(batch->indices[i], start + i * step);
        if (right && batch->times[i] != 0.5 * (double)batch->indices[i])
            fail_msg("frame %lld has the time %g", (long long)batch->indices[i], batch->times[i]);
    }
    if (status != COLLET_OK)
        assert_contains(err.text, "frame ");
    trajectory_frames_free(batch);
    trajectory_reader_close(t);
    return status != COLLET_OK;
}

/* An index whose checksums are right, but whose positions belong to other frames. */
TEST(wrong_places)
{
    /* By how many frames, and by how many bytes, each position in the index is moved. */
    static const struct {
        int64_t frames[FRAMES], bytes[FRAMES];
        int n;                                       /* frames */
    } wrong[] = {{{0, 0, 1, 1, 1}, {0}, FRAMES - 1}, /* one is left out */
                 {{1, 1, 1, 1, 1}, {0}, FRAMES - 1},
                 {{0}, {0, 0, 4, 4, 4, 4}, FRAMES},
                 {{0}, {0, 0, 0, 4}, FRAMES}};
    char path[4096];

    begin(FRAMES);
    assert_int_equal(count_well(trajectory), FRAMES);
    assert_int_equal(find(".index", path), 1);
    OWNED(io_bytes) good = io_load(path);
    trajectory_index_head head;
    memcpy(&head, good.data, sizeof head);
    const int64_t *offsets =
        (const int64_t *)(const void *)(good.data + sizeof head + sizeof(trajectory_places_part));
    for (int64_t start = 0; start < FRAMES; start++)
        for (int64_t step = 1; step < FRAMES; step++)
            assert_int_equal(read_slice(start, -1, step, 1), 0);
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        trajectory_places_part part = {.n_frames = wrong[w].n};
        int64_t entries[FRAMES];
        trajectory_places places = {.n_frames = wrong[w].n,
                                    .n_parts = 1,
                                    .width = 1,
                                    .n_entries = wrong[w].n,
                                    .unused = {-1, -1},
                                    .parts = &part,
                                    .entries = entries};
        for (int i = 0; i < wrong[w].n; i++)
            entries[i] = offsets[i + wrong[w].frames[i]] + wrong[w].bytes[i];
        assert_int_equal(trajectory_index_save(path, head.identity, &places, NULL), COLLET_OK);
        assert_int_equal(read_slice(0, -1, 1, 1), 1);
        for (int64_t size = 1; size < FRAMES; size++) { /* at least one shard must notice */
            int refused = 0;
            for (int64_t start = 0; start < wrong[w].n; start += size)
                refused += read_slice(start, start + size, 1, 0);
            assert_true(refused > 0);
        }
    }
}

TEST_GROUP(make_directory, remove_directory)

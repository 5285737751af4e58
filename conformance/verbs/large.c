/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets and sizes that do not fit in 32 bits. The system usually provides memory only when it is touched, so the
 * large buffers cost little if the device uses host memory.
 * Tests: tests/conformance/verbs/defects.sh */
#include "verbs/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FAR ((int64_t)1 << 31)

/* Bytes of free memory of the machine. */
static uint64_t machine_free(void)
{
    char line[256];
    unsigned long long kilobytes = 0;
    FILE *f = fopen("/proc/meminfo", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %llu", &kilobytes) == 1)
            break;
    if (f)
        fclose(f);
    return (uint64_t)kilobytes << 10;
}

static void *far_alloc(testbed *b, uint64_t bytes)
{
    void *buffer = NULL;
    if (machine_free() < bytes + bytes / 4)
        testbed_skip(b, "%llu bytes are not free", (unsigned long long)bytes);
    if (try_alloc(b, bytes, &buffer) != COLLET_OK)
        testbed_skip(b, "the device has no buffer of %llu bytes", (unsigned long long)bytes);
    return buffer;
}

/* A plugin may limit its memory by default. */
static void open_large(testbed *b)
{
    (void)target_set(b->target, "memory", "17179869184");
    testbed_open(b);
}

/* Transfers and kernels beyond element 2^31. */
static void offsets(testbed *b)
{
    enum { N = 300 };
    open_large(b);
    int64_t at = FAR + 77;
    collet_queue *q = testbed_queue(b);
    void *far = far_alloc(b, (uint64_t)(at + 3 * N) * (uint64_t)b->size);
    void *one = testbed_numbers(b, q, 1, 1), *near = testbed_numbers(b, q, N, 20);
    double threes[N], back[N];
    size_t bytes = (size_t)(N * b->size);
    for (int i = 0; i < N; i++)
        if (b->size == 4)
            ((float *)(void *)threes)[i] = 3;
        else
            threes[i] = 3;
    for (int i = 0; i < 3; i++)
        testbed_write(b, q, far, (uint64_t)((at + i * N) * b->size), threes, bytes);
    testbed_operand add[3] = {testbed_vector(b, far, at + N, N), testbed_vector(b, near, 0, N),
                              testbed_vector(b, one, 0, N)};
    add[2].strides[0] = 0;
    testbed_require(b, try_run(b, q, (uint32_t)b->add, add, 3, 1, NULL, NULL, 0) == COLLET_OK,
                    "run of add failed");
    /* Two elements that are far apart. */
    void *pair = testbed_numbers(b, q, 2, 0);
    testbed_operand apart[3] = {testbed_vector(b, pair, 0, 2), testbed_vector(b, far, 5, 2),
                                testbed_vector(b, one, 0, 2)};
    testbed_write(b, q, far, (uint64_t)(5 * b->size), threes, 16);
    apart[1].strides[0] = at + N - 5;
    apart[2].strides[0] = 0;
    testbed_require(b, try_run(b, q, (uint32_t)b->add, apart, 3, 1, NULL, NULL, 0) == COLLET_OK,
                    "run of add failed");
    for (int i = 0; i < 3; i++) {
        testbed_read(b, q, far, (uint64_t)((at + i * N) * b->size), back, bytes);
        for (int k = 0; k < N; k++) {
            double x = b->size == 4 ? (double)((float *)(void *)back)[k] : back[k];
            testbed_require(b, x == (i == 1 ? 21 : 3),
                            "element 2^31 + %d of a buffer is %g after a kernel wrote others",
                            77 + i * N + k, x);
        }
    }
    testbed_read(b, q, pair, 0, back, (uint64_t)(2 * b->size));
    double second = b->size == 4 ? (double)((float *)(void *)back)[1] : back[1];
    testbed_require(b, second == 22, "an element read over a stride beyond 2^31 is %g, not 22",
                    second);
    testbed_free_all(b, far, one, near, pair);
    testbed_destroy(b, q);
}

/* Kernels on operands of some rows; the last row is beyond byte 2^32. */
static void rows(testbed *b)
{
    uint64_t bytes = ((uint64_t)1 << 32) + ((uint64_t)1 << 28);
    open_large(b);
    void *buffer = far_alloc(b, bytes);
    testbed_far_rows(b, buffer, bytes);
    testbed_free(b, buffer);
}

#define WINDOW ((uint64_t)1 << 20)

/* Maps the same small memory repeatedly over `bytes` bytes of address space; NULL: not possible. */
static unsigned char *repeated(uint64_t bytes)
{
    int file = memfd_create("backend-check", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)WINDOW) != 0)
        return NULL;
    unsigned char *all =
        mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (uint64_t at = 0; all != MAP_FAILED && at < bytes; at += WINDOW)
        if (mmap(all + at, bytes - at < WINDOW ? bytes - at : WINDOW, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) {
            munmap(all, bytes);
            all = MAP_FAILED;
        }
    close(file);
    return all == MAP_FAILED ? NULL : all;
}

/* One write of more than 2^32 bytes, and a read. */
static void size(testbed *b)
{
    uint64_t bytes = ((uint64_t)1 << 32) + WINDOW / 2;
    if (!b->session->named)
        testbed_skip(b, "writes 4 GiB: only with --op large.size");
    if (machine_free() < 3 * bytes)
        testbed_skip(b, "%llu bytes are not free", (unsigned long long)(3 * bytes));
    open_large(b);
    collet_queue *q = testbed_queue(b);
    void *buffer = far_alloc(b, bytes);
    unsigned char *source = repeated(bytes), ends[2] = {0};
    if (!source)
        testbed_skip(b, "4 GiB of addresses are not free");
    memset(source, 0x41, WINDOW);
    collet_status status = try_write(b, q, buffer, 0, source, bytes);
    testbed_require(b, status == COLLET_OK, "buffer_write of %llu bytes returned %s",
                    (unsigned long long)bytes, collet_status_name(status));
    testbed_settle(b, q);
    testbed_read(b, q, buffer, 0, &ends[0], 1);
    testbed_read(b, q, buffer, bytes - 1, &ends[1], 1);
    testbed_require(b, ends[0] == 0x41 && ends[1] == 0x41,
                    "buffer_write of %llu bytes did not write the last ones",
                    (unsigned long long)bytes);
    munmap(source, bytes);
    testbed_free(b, buffer);
    testbed_destroy(b, q);
}

const kit_verb verbs_large[] = {
    {"large.offsets", NEEDS_MEMORY | NEEDS_ADD | NEEDS_CLOSED, offsets},
    {"large.rows", NEEDS_CLOSED, rows},
    {"large.size", NEEDS_MEMORY | NEEDS_CLOSED, size},
    {0},
};

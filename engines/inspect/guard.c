/* SPDX-License-Identifier: Apache-2.0 */
/* On damaged files libhdf5 accesses memory behind its blocks. Whether such an access crashes a process depends on the
 * memory there: without guards a file could pass the inspection and then crash the caller's program. This
 * file replaces malloc of collet-inspect and of its libraries, as the manual of glibc allows. No address is
 * used twice.
 * Tests: tests/tools/rsoxs/test_rsoxs_damaged.c */
#include "guard.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALIGNMENT 16
#define HEAD 16     /* bytes before a block, for its size */
#define FILL 0xa5   /* initial value of the bytes of a block */
#define GAP 0x10000 /* inaccessible bytes behind a block; a wrong offset may lie far behind it */
#define FILLED 4096 /* malloc sets at most this many bytes of a block to FILL */
#define MOST ((size_t)1 << 42) /* bytes of addresses */
#define LEAST ((size_t)1 << 30)
/* A guarded block takes two of the 65,530 mappings that Linux allows a process. glibc needs mappings too: without a
 * free mapping its malloc fails, and libhdf5 crashes on a good file. */
#define MOST_BLOCKS 24000

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static char *region, *next, *end;
static size_t page, blocks;

void inspect_guard_begin(void)
{
    page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t bytes = MOST; !region && bytes >= LEAST; bytes /= 4) {
        void *found =
            mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (found == MAP_FAILED)
            continue;
        region = next = found;
        end = region + bytes;
    }
}

static int is_guarded(const void *block)
{
    return region && (const char *)block >= region && (const char *)block < end;
}

static size_t size_of(const void *block)
{
    size_t size;

    memcpy(&size, (const char *)block - HEAD, sizeof size);
    return size;
}

/* Allocates a guarded block. NULL: the caller uses malloc of glibc instead. */
static void *guard(size_t size, size_t alignment)
{
    size_t room = alignment > ALIGNMENT ? alignment : 0, bytes;

    if (!region || blocks >= MOST_BLOCKS || size > MOST / 4 || room > MOST / 4)
        return NULL;
    size_t body = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    bytes = (HEAD + room + body + page - 1) / page * page;
    if (bytes + GAP > (size_t)(end - next) || mprotect(next, bytes, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    char *block = next + bytes - body;
    if (room)
        block -= (uintptr_t)block % alignment;
    next += bytes + GAP;
    blocks++;
    memcpy(block - HEAD, &size, sizeof size);
    memset(block + size, FILL, (body - size));
    return block;
}

static void release(char *block)
{
    size_t size = size_of(block);
    char *first = block - HEAD;

    for (size_t i = size; i % ALIGNMENT; i++)
        if ((unsigned char)block[i] != FILL)
            abort();
    first -= (uintptr_t)first % page;
    blocks--;
    mmap(first, (size_t)(block + size - first), PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* ---- What glibc declares ------------------------------------------------------------------ */

void *malloc(size_t size)
{
    char *block = guard(size, ALIGNMENT);

    if (!block)
        return __libc_malloc(size);
    return memset(block, FILL, size < FILLED ? size : FILLED);
}

void *calloc(size_t count, size_t size)
{
    size_t bytes;
    void *block = __builtin_mul_overflow(count, size, &bytes) ? NULL : guard(bytes, ALIGNMENT);

    return block ? block : __libc_calloc(count, size);
}

void free(void *block)
{
    int before = errno;

    if (is_guarded(block))
        release(block);
    else
        __libc_free(block);
    errno = before;
}

void *realloc(void *block, size_t size)
{
    if (!is_guarded(block))
        return block ? __libc_realloc(block, size) : malloc(size);
    void *moved = size ? malloc(size) : NULL;
    if (moved)
        memcpy(moved, block, size < size_of(block) ? size : size_of(block));
    if (moved || !size)
        free(block);
    return moved;
}

void *memalign(size_t alignment, size_t size)
{
    void *block = guard(size, alignment);

    return block ? block : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

size_t malloc_usable_size(void *block)
{
    return is_guarded(block) ? size_of(block) : 0;
}

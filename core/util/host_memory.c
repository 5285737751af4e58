/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_storage.c */
#include "host_memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "memory_limit.h"

#define ALIGNMENT 64
#define PAGE ((uint64_t)4096)
#define HUGE_PAGE ((uint64_t)2 << 20)
#define LARGE (2 * HUGE_PAGE) /* aligned to huge pages from this size on */
#define BLOCKS 32

/* Memory from this size on is mapped. malloc would return freed memory to the system, although the program needs the
 * memory again at once. With a sanitizer all memory is from malloc, because sanitizers do not check mapped memory. */
#if defined(__SANITIZE_ADDRESS__)
#define MAPPED UINT64_MAX
#else
#define MAPPED ((uint64_t)128 << 10)
#endif

/* Stored just before the memory. */
typedef struct header {
    void *all;
    uint64_t mapped; /* number of mapped bytes: the memory's size plus an alignment; 0: `all` is from malloc */
} header;

/* Freed memory that is kept, the oldest first. A thread that finds the list locked keeps nothing, because in a child
 * of fork() the list may be locked for ever. */
static struct {
    pthread_mutex_t lock;
    int count;
    uint64_t bytes;
    void *blocks[BLOCKS];
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t alignment_of(uint64_t mapped)
{
    return mapped < LARGE + HUGE_PAGE ? PAGE : HUGE_PAGE;
}

static header header_of(const void *memory)
{
    header h;
    memcpy(&h, (const char *)memory - sizeof h, sizeof h);
    return h;
}

static void unmap(void *memory)
{
    header h = header_of(memory);
    munmap(h.all, h.mapped);
}

/* Takes block i out of the list of kept memory. */
static void *remove_block(int i)
{
    void *memory = kept.blocks[i];
    kept.bytes -= header_of(memory).mapped;
    kept.count--;
    memmove(kept.blocks + i, kept.blocks + i + 1, (size_t)(kept.count - i) * sizeof *kept.blocks);
    return memory;
}

/* Takes kept memory of that size: the memory that was freed last. NULL: there is none. */
static void *take_kept(uint64_t mapped)
{
    void *memory = NULL;
    if (pthread_mutex_trylock(&kept.lock) != 0)
        return NULL;
    for (int i = kept.count - 1; i >= 0 && !memory; i--)
        if (header_of(kept.blocks[i]).mapped == mapped)
            memory = remove_block(i);
    pthread_mutex_unlock(&kept.lock);
    return memory;
}

/* Read once: limits seldom change, and reading takes longer than a small map. */
static uint64_t most_kept(void)
{
    static _Atomic uint64_t most;
    uint64_t bytes = atomic_load_explicit(&most, memory_order_relaxed);
    if (!bytes) {
        bytes = memory_limit_total() / HOST_MEMORY_SHARE + 1;
        bytes = bytes < HOST_MEMORY_KEPT ? bytes : HOST_MEMORY_KEPT;
        atomic_store_explicit(&most, bytes, memory_order_relaxed);
    }
    return bytes;
}

/* Keeps freed memory, and unmaps the oldest if there is too much. Returns 0 if it does not keep the memory. */
static int keep(void *memory, uint64_t mapped)
{
    uint64_t most = most_kept();
    if (mapped > most || pthread_mutex_trylock(&kept.lock) != 0)
        return 0;
    while (kept.count == BLOCKS || kept.bytes + mapped > most)
        unmap(remove_block(0));
    kept.blocks[kept.count++] = memory;
    kept.bytes += mapped;
    pthread_mutex_unlock(&kept.lock);
    return 1;
}

uint64_t host_memory_kept(void)
{
    if (pthread_mutex_trylock(&kept.lock) != 0)
        return 0;
    uint64_t bytes = kept.bytes;
    for (int i = 0; i < kept.count; i++)
        bytes -= alignment_of(header_of(kept.blocks[i]).mapped);
    pthread_mutex_unlock(&kept.lock);
    return bytes;
}

void host_memory_trim(void)
{
    if (pthread_mutex_trylock(&kept.lock) != 0)
        return;
    while (kept.count > 0)
        unmap(remove_block(0));
    pthread_mutex_unlock(&kept.lock);
}

static void *within(void *all, uint64_t offset, uint64_t mapped)
{
    header h = {all, mapped};
    char *memory = (char *)all + offset;
    memcpy(memory - sizeof h, &h, sizeof h);
    return memory;
}

/* The distance from the start of a page to the start of the memory. If source and target have equal low 12 bits of
 * addresses, the processor mistakes a read of the source for a read of bytes that were just written. A copy then
 * takes eight times as long. */
static uint64_t next_offset(void)
{
    static _Atomic uint32_t latest;
    uint32_t lines = PAGE / ALIGNMENT, number = atomic_fetch_add(&latest, 1);
    return ALIGNMENT * (1 + (uint64_t)(number * 27) % (lines - 1));
}

static void *map(uint64_t mapped)
{
    void *all = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    if (alignment_of(mapped) == PAGE)
        return within(all, next_offset(), mapped);
    void *memory = within(all, HUGE_PAGE - (uintptr_t)all % HUGE_PAGE, mapped);
    /* Huge pages give a tenth more bandwidth, and one page fault instead of 512. */
    madvise(memory, mapped - HUGE_PAGE, MADV_HUGEPAGE);
    return memory;
}

void *host_memory_create(uint64_t bytes)
{
    if (bytes > SIZE_MAX - 2 * HUGE_PAGE)
        return NULL;
    if (bytes < MAPPED) { /* malloc is three times as fast as aligned_alloc */
        void *all = malloc(bytes + ALIGNMENT);
        return all ? within(all, ALIGNMENT - (uintptr_t)all % ALIGNMENT, 0) : NULL;
    }
    /* Sizes are multiples of `unit`, so that there are few different sizes. */
    uint64_t alignment = alignment_of(bytes + HUGE_PAGE), unit = alignment;
    while (unit < HUGE_PAGE && unit < bytes / 16)
        unit *= 2;
    uint64_t mapped = ((bytes + unit - 1) & ~(unit - 1)) + alignment;
    void *memory = take_kept(mapped);
    return memory ? memory : map(mapped);
}

void host_memory_free(void *memory)
{
    header h = header_of(memory);
    if (!h.mapped)
        free(h.all);
    else if (!keep(memory, h.mapped))
        unmap(memory);
}

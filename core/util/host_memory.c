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
#define HUGE_PAGE ((uint64_t)2 << 20)
#define BLOCKS 16

/* Memory from this size on is mapped, so that it goes back to the system when it is not kept. With a sanitizer all
 * memory is from malloc, because sanitizers do not check mapped memory. */
#if defined(__SANITIZE_ADDRESS__)
#define LARGE UINT64_MAX
#else
#define LARGE (2 * HUGE_PAGE)
#endif

/* Stored just before the memory. */
typedef struct header {
    void *all;
    uint64_t mapped; /* bytes that are mapped, HUGE_PAGE more than the memory; 0: `all` is from malloc */
} header;

/* Freed memory that is kept, the oldest first. A thread that finds the list locked keeps nothing: in a child of fork()
 * it may be locked for ever. */
static struct {
    pthread_mutex_t lock;
    int count;
    uint64_t bytes;
    void *blocks[BLOCKS];
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

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

/* Takes the kept memory of that size that was freed last; NULL: there is none. */
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

/* Keeps freed memory, and unmaps the oldest if there is too much. Returns 0 if it does not keep it. */
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
    uint64_t bytes = kept.bytes - (uint64_t)kept.count * HUGE_PAGE;
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

static void *within(void *all, uint64_t alignment, uint64_t mapped)
{
    header h = {all, mapped};
    char *memory = (char *)all + (alignment - (uintptr_t)all % alignment);
    memcpy(memory - sizeof h, &h, sizeof h);
    return memory;
}

static void *map(uint64_t mapped)
{
    void *all = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    void *memory = within(all, HUGE_PAGE, mapped);
    /* Huge pages give a tenth more bandwidth, and one page fault instead of 512. */
    madvise(memory, mapped - HUGE_PAGE, MADV_HUGEPAGE);
    return memory;
}

void *host_memory_create(uint64_t bytes)
{
    if (bytes > SIZE_MAX - 2 * HUGE_PAGE)
        return NULL;
    if (bytes < LARGE) { /* malloc is three times as fast as aligned_alloc */
        void *all = malloc(bytes + ALIGNMENT);
        return all ? within(all, ALIGNMENT, 0) : NULL;
    }
    uint64_t mapped = (bytes + 2 * HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
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

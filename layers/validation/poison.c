/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/layers/test_validation.c */
#include "poison.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/* Blocks of one size: small blocks for calls, large blocks for bytes that are written and read. A page without
 * access follows each block. */
#define SMALL 16384
#define SMALL_COUNT 256
#define LARGE POISON_LARGEST
#define LARGE_COUNT 16

struct poison_block {
    char *memory;
    size_t bytes;
    _Atomic int used;
    _Atomic int touched;
    const char *_Atomic what;
};

typedef struct poison_pool {
    size_t bytes;
    uint32_t count;
    char *memory;
    poison_block *blocks;
    _Atomic uint32_t next;
} poison_pool;

static poison_block small_blocks[SMALL_COUNT], large_blocks[LARGE_COUNT];
static poison_pool pools[] = {{.bytes = SMALL, .count = SMALL_COUNT, .blocks = small_blocks},
                              {.bytes = LARGE, .count = LARGE_COUNT, .blocks = large_blocks}};
#define POOLS (sizeof pools / sizeof *pools)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int started;
static size_t page;
static _Atomic int faults;
static struct sigaction before;

/* ---- The handler ------------------------------------------------------------------------- */

static poison_block *block_at(const char *address)
{
    for (size_t k = 0; k < POOLS; k++) {
        poison_pool *p = &pools[k];
        size_t at = (size_t)(address - p->memory);
        if (p->memory && address >= p->memory && at < p->count * (p->bytes + page))
            return &p->blocks[at / (p->bytes + page)];
    }
    return NULL;
}

static void chain(int number, siginfo_t *info, void *context)
{
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(number);
    else
        sigaction(number, &before, NULL); /* the access faults again, for the program's handler */
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    poison_block *b = block_at(info->si_addr);
    if (!b || info->si_code <= 0) {
        chain(number, info, context);
        return;
    }
    mprotect(b->memory, b->bytes + page, PROT_READ | PROT_WRITE);
    atomic_store(&b->touched, 1);
    atomic_fetch_add(&faults, 1);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void poison_lock(void)
{
    pthread_mutex_lock(&lock);
}

void poison_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/* Installs the layer's handler again if the program has replaced it. The layer's handler passes other faults to the
 * program's handler. */
static int install(void)
{
    struct sigaction now,
        action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    pthread_mutex_lock(&lock);
    int failed = sigaction(SIGSEGV, NULL, &now);
    if (!failed && (!(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != on_fault)) {
        before = now;
        sigemptyset(&action.sa_mask);
        failed = sigaction(SIGSEGV, &action, NULL);
    }
    pthread_mutex_unlock(&lock);
    return !failed;
}

static void start(void)
{
    page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t k = 0; k < POOLS; k++) {
        poison_pool *p = &pools[k];
        char *memory = mmap(NULL, p->count * (p->bytes + page), PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            return;
        p->memory = memory;
        for (uint32_t i = 0; i < p->count; i++) {
            p->blocks[i].memory = memory + i * (p->bytes + page);
            p->blocks[i].bytes = p->bytes;
        }
    }
    started = install();
}

int poison_start(void)
{
    pthread_once(&once, start);
    return started;
}

/* ---- Blocks ------------------------------------------------------------------------------ */

void *poison_take(size_t bytes, const char *what, poison_block **block)
{
    poison_pool *p = &pools[bytes > SMALL];
    *block = NULL;
    install();
    for (uint32_t tried = 0; bytes <= p->bytes && tried < p->count; tried++) {
        poison_block *b = &p->blocks[atomic_fetch_add(&p->next, 1) % p->count];
        int unused = 0;
        /* Before a block is used again, an access to it is reported under its old name. */
        if (atomic_load(&b->touched) || !atomic_compare_exchange_strong(&b->used, &unused, 1))
            continue;
        atomic_store(&b->what, what);
        if (mprotect(b->memory, b->bytes, PROT_READ | PROT_WRITE)) {
            atomic_store(&b->used, 0);
            return NULL;
        }
        *block = b;
        return b->memory + b->bytes - ((bytes + 15) & ~(size_t)15);
    }
    return NULL;
}

void poison_release(poison_block *b)
{
    if (!b)
        return;
    mprotect(b->memory, b->bytes + page, PROT_NONE);
    atomic_store(&b->used, 0);
}

const char *poison_fault(void)
{
    if (!atomic_load(&faults))
        return NULL;
    for (size_t k = 0; k < POOLS; k++)
        for (uint32_t i = 0; i < pools[k].count; i++)
            if (atomic_exchange(&pools[k].blocks[i].touched, 0)) {
                atomic_fetch_sub(&faults, 1);
                return atomic_load(&pools[k].blocks[i].what);
            }
    return NULL;
}

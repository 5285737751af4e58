/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each item (thread) of a group (thread block) has its own stack and runs up to the next barrier.
 * An item that ends while another waits is a kernel error: a GPU would hang or read data not yet
 * written.
 */
#include "groups.h"

#include <dlfcn.h>
#include <fenv.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "compiler.h"

#define STACK ((size_t)64 << 10)
#define ITEMS 1024

/* The same as in device.h. */
typedef struct fake_here {
    unsigned thread, block, grid;
    void (*barrier)(void);
} fake_here;

struct fake_library {
    void *handle;
    fake_here here;
};

/* makecontext sets an item's stack; then setjmp and longjmp switch without system calls.
 * Sanitizers do not support longjmp to another stack, so BY_CONTEXT uses swapcontext. */
#ifdef BY_CONTEXT
typedef ucontext_t place;
#define BEGIN(from, context) ((void)swapcontext(from, context))
/* swapcontext also restores an old floating-point state; fesetenv sets the state of the current run. */
#define SWITCH(from, to) ((void)swapcontext(from, to), (void)fesetenv(&turn.floating))
#else
typedef jmp_buf place;
#define BEGIN(from, context) (_setjmp(*(from)) ? (void)0 : (void)setcontext(context))
#define SWITCH(from, to) (_setjmp(*(from)) ? (void)0 : _longjmp(*(to), 1))
#endif

static struct {
    place scheduler, item[ITEMS];
    fenv_t floating; /* of the calling thread */
    int begun[ITEMS], done[ITEMS];
    char *stacks;
    unsigned now;
    fake_entry entry;
    void **arguments;
} turn;

static void leave_item(void)
{
    SWITCH(&turn.item[turn.now], &turn.scheduler);
}

static void item(void)
{
    for (;;) {
        turn.entry(turn.arguments);
        turn.done[turn.now] = 1;
        leave_item();
    }
}

static void enter_item(void)
{
    static ucontext_t context;
    if (turn.begun[turn.now]) {
        SWITCH(&turn.scheduler, &turn.item[turn.now]);
        return;
    }
    turn.begun[turn.now] = 1;
    getcontext(&context);
    context.uc_stack.ss_sp = turn.stacks + turn.now * STACK;
    context.uc_stack.ss_size = STACK;
    makecontext(&context, item, 0);
    BEGIN(&turn.scheduler, &context);
}

fake_library *fake_library_load(const void *image)
{
    char path[] = "/tmp/collet-cubin-XXXXXX";
    size_t bytes = 0;
    fake_library *library = NULL;
    const char *begin = strchr(image, '\n');
    if (sscanf(image, FAKE_HOST_IMAGE, &bytes) != 1 || !begin)
        return NULL;
    int file = mkstemp(path);
    if (file < 0)
        return NULL;
    void *handle = NULL;
    if (write(file, begin + 1, bytes) == (ssize_t)bytes)
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    close(file);
    (void)unlink(path);
    void *symbol = handle ? dlsym(handle, "fake_attach") : NULL;
    if (symbol && (library = calloc(1, sizeof *library))) {
        void (*attach)(fake_here *);
        memcpy(&attach, &symbol, sizeof attach);
        library->handle = handle;
        library->here.barrier = leave_item;
        attach(&library->here);
    }
    return library;
}

fake_entry fake_library_entry(fake_library *library, const char *kernel)
{
    char name[96];
    fake_entry entry = NULL;
    (void)snprintf(name, sizeof name, "fake_entry_%s", kernel);
    void *symbol = dlsym(library->handle, name);
    memcpy(&entry, &symbol, sizeof entry);
    return entry;
}

int fake_library_sizes(fake_library *library, const char *kernel, unsigned sizes[64])
{
    char name[96];
    int (*measure)(unsigned *) = NULL;
    (void)snprintf(name, sizeof name, "fake_sizes_%s", kernel);
    void *symbol = dlsym(library->handle, name);
    memcpy(&measure, &symbol, sizeof measure);
    return measure ? measure(sizes) : 0;
}

static int run_group(fake_library *library, unsigned items)
{
    memset(turn.done, 0, sizeof turn.done);
    for (unsigned done = 0; done < items;) {
        done = 0;
        for (turn.now = 0; turn.now < items; turn.now++) {
            library->here.thread = turn.now;
            enter_item();
            done += turn.done[turn.now] != 0;
        }
        if (done && done < items) {
            (void)fprintf(stderr, "fake_cuda: items of a group do not meet at a barrier\n");
            memset(turn.begun, 0, sizeof turn.begun);
            return 0;
        }
    }
    return 1;
}

int fake_groups_run(fake_library *library, fake_entry entry, unsigned groups, unsigned items,
                    void **arguments)
{
    if (items > ITEMS || (!turn.stacks && !(turn.stacks = malloc(ITEMS * STACK))))
        return 0;
    fegetenv(&turn.floating);
    turn.entry = entry;
    turn.arguments = arguments;
    library->here.grid = groups;
    for (unsigned group = 0; group < groups; group++) {
        library->here.block = group;
        if (!run_group(library, items))
            return 0;
    }
    return 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poison - copies of the memory that a call points to. The copies cannot be accessed after the call.
 *
 * A plugin that uses a copy after the call touches a page without access; a handler of SIGSEGV notes
 * the call, gives access and lets the plugin continue. Reads and writes beyond the end of a copy are
 * found in the same way. Blocks are used again after many other calls.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define POISON_LARGEST ((size_t)1 << 20)

typedef struct poison_block poison_block;

/* Installs the handler, once a process; 0: out of memory. Any thread. */
int poison_start(void);
/* Call these before and after fork, so that the lock is free in a child. */
void poison_lock(void);
void poison_unlock(void);
/* A block that ends where its accessible memory ends; NULL if `bytes` exceeds POISON_LARGEST or
 * all blocks are in use. `what`, constant text, names the call in poison_fault. */
void *poison_take(size_t bytes, const char *what, poison_block **block);
/* Removes access to a block. NULL does nothing. */
void poison_release(poison_block *block);
/* The name of a call whose copies were accessed after it had returned, or beyond their end. Each name is returned
 * once. NULL: there is none. */
const char *poison_fault(void);

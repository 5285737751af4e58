/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failing_malloc.h - allocations that fail on demand. The linker routes the allocations of libcore
 * and of the test through wrappers (tests/fault/CMakeLists.txt).
 */
#ifndef TESTS_FAULT_FAILING_MALLOC_H
#define TESTS_FAULT_FAILING_MALLOC_H

extern long allocation_countdown;   /* allocations before one fails; -1: none fails */
extern long allocation_outstanding; /* number of blocks that are not freed */
extern int allocation_failed;       /* set to 1 when an allocation fails */

#endif

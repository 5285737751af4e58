/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failing_malloc.h - allocations that fail on demand. The linker routes the allocations of the tested library and of
 * the test through wrappers (WRAP in CMakeLists.txt).
 */
#ifndef TESTS_COMMON_FAILING_MALLOC_H
#define TESTS_COMMON_FAILING_MALLOC_H

extern _Atomic long allocation_countdown; /* allocations before one fails; negative: none fails */
extern long allocation_outstanding; /* number of blocks that are not freed */
extern int allocation_failed;       /* set to 1 when an allocation fails */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* groups.h - kernels that compiler.c made, on the host: for the fake driver. */
#ifndef TESTS_FAKES_CUDA_GROUPS_H
#define TESTS_FAKES_CUDA_GROUPS_H

typedef struct fake_library fake_library;
typedef void (*fake_entry)(void **arguments);

/* What an image holds; NULL when it is none, or broken. Lives on. */
fake_library *fake_library_load(const void *image);
fake_entry fake_library_entry(fake_library *library, const char *kernel);

/* Runs all groups, one at a time. 0 when there is no memory for so many items, or when items of a
 * group do not meet at a barrier. Not from two threads. */
int fake_groups_run(fake_library *library, fake_entry entry, unsigned groups, unsigned items,
                    void **arguments);

#endif

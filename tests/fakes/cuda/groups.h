/* SPDX-License-Identifier: Apache-2.0 */
/* groups.h - runs the kernels of compiler.c on the host. */
#ifndef TESTS_FAKES_CUDA_GROUPS_H
#define TESTS_FAKES_CUDA_GROUPS_H

typedef struct fake_library fake_library;
typedef void (*fake_entry)(void **arguments);

/* Loads an image, which is never unloaded. Returns NULL if it is malformed. */
fake_library *fake_library_load(const void *image);
fake_entry fake_library_entry(fake_library *library, const char *kernel);
/* Sets the sizes of the kernel's arguments and returns their number. */
int fake_library_sizes(fake_library *library, const char *kernel, unsigned sizes[64]);

/* Runs all groups (thread blocks), one at a time. Returns 0 if there is no memory for that many
 * items (threads of a group), or if not all items of a group reach a barrier. Only one thread at a
 * time may call it. */
int fake_groups_run(fake_library *library, fake_entry entry, unsigned groups, unsigned items,
                    void **arguments);

#endif

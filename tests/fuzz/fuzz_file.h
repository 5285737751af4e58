/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_file.h - an input as a file without a disk, and everything that a trajectory can be asked.
 */
#ifndef FUZZ_FILE_H
#define FUZZ_FILE_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_PATH 64

/* Makes the file and writes its path; returns a descriptor to close, or -1. `magic` (4 bytes, or
 * NULL) replaces the first bytes, so that inputs reach the format that is meant. */
int fuzz_make_file(const uint8_t *data, size_t size, const char *magic, char path[FUZZ_PATH]);

/* Reads the file: all atoms, some atoms, some frames. Aborts when a promise is broken. */
void fuzz_read_trajectory(const char *path);

#endif

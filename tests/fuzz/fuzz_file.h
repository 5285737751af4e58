/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_file.h - writes an input to a file in memory; reads trajectories in every way. */
#ifndef FUZZ_FILE_H
#define FUZZ_FILE_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_PATH 64

/* Creates the file and writes its path; returns a descriptor to close, or -1. `magic` (4 bytes, or
 * NULL) replaces the first bytes so that inputs reach the intended parser. */
int fuzz_make_file(const uint8_t *data, size_t size, const char *magic, char path[FUZZ_PATH]);

/* Reads the file: all atoms, some atoms, some frames. Aborts if the API violates its contract. */
void fuzz_read_trajectory(const char *path);

#endif

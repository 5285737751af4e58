/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_file.h - presents an input as a regular file, without system calls. */
#ifndef TESTS_FUZZ_FUZZ_FILE_H
#define TESTS_FUZZ_FUZZ_FILE_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The linker directs the parsers' open, fstat, pread, mmap, munmap, madvise, posix_fadvise and
 * close to fuzz_file.c, which serves this path and this descriptor from memory. Accesses
 * past the end of a mapping crash: with the address sanitizer from the first byte on, else from the
 * next multiple of 8 bytes. */
#define FUZZ_PATH "input"
#define FUZZ_DESCRIPTOR 1000000

/* Starts the file; `magic` (4 bytes, or NULL) replaces the first bytes so that inputs reach the
 * intended parser. `data` outlives the file. */
void fuzz_file_begin(const uint8_t *data, size_t size, const char *magic);
/* Aborts if the parser left the file open or mapped. */
void fuzz_file_end(void);

#endif

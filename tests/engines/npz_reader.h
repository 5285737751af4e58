/* SPDX-License-Identifier: Apache-2.0 */
/* npz_reader.h - reads .npy and .npz by their published formats, independent of engines/io. Every
 * function fails the test instead of returning an error. */
#ifndef TESTS_ENGINES_NPZ_READER_H
#define TESTS_ENGINES_NPZ_READER_H

#include <stddef.h>
#include <stdint.h>

typedef struct npy_array {
    char descr[8];
    int ndim;
    int64_t shape[8];
    const uint8_t *data; /* in the parsed bytes, without trailing bytes */
    size_t size;
} npy_array;

npy_array npy_parse(const uint8_t *bytes, size_t size);

/* The uncompressed array KEY.npy of an archive; also checks its CRC and both headers. */
npy_array npz_find(const uint8_t *bytes, size_t size, const char *key);

/* Number of members. */
int npz_count(const uint8_t *bytes, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "npz_reader.h"

#include "common/test.h"

static uint32_t read_le(const uint8_t *bytes, int n)
{
    uint32_t value = 0;

    for (int i = n - 1; i >= 0; i--)
        value = value << 8 | bytes[i];
    return value;
}

static uint32_t crc32_of(const uint8_t *bytes, size_t n)
{
    uint32_t crc = 0xffffffffu;

    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

npy_array npy_parse(const uint8_t *bytes, size_t size)
{
    npy_array array = {0};
    char text[1024];
    char list[512];
    size_t items = 1;

    assert_true(size >= 64);
    assert_memory_equal(bytes, "\x93NUMPY\x01\x00", 8);
    size_t length = read_le(bytes + 8, 2);
    assert_true((10 + length) % 64 == 0 && 10 + length <= size && length < sizeof text);
    memcpy(text, bytes + 10, length);
    text[length] = 0;
    assert_int_equal(text[length - 1], '\n');
    assert_int_equal(sscanf(text, "{'descr': '%7[^']', 'fortran_order': False, 'shape': (%511[^)]",
                            array.descr, list),
                     2);
    for (char *at = list; *at;) {
        array.shape[array.ndim] = strtoll(at, &at, 10);
        items *= (size_t)array.shape[array.ndim++];
        assert_int_equal(*at++, ',');
    }
    array.data = bytes + 10 + length;
    array.size = size - 10 - length;
    /* A character of a text has 4 bytes. */
    items *= (size_t)strtoul(array.descr + 2, NULL, 10) * (array.descr[1] == 'U' ? 4 : 1);
    assert_int_equal(array.size, items);
    return array;
}

/* Finds the end record of the archive, whose comment must be shorter than 256 bytes. */
static const uint8_t *end_record(const uint8_t *bytes, size_t size)
{
    for (size_t comment = 0; comment < 256 && comment + 22 <= size; comment++) {
        const uint8_t *at = bytes + size - 22 - comment;
        if (memcmp(at, "PK\5\6", 4) == 0 && read_le(at + 20, 2) == comment)
            return at;
    }
    fail_msg("no end record");
    return bytes;
}

int npz_count(const uint8_t *bytes, size_t size)
{
    return (int)read_le(end_record(bytes, size) + 10, 2);
}

npy_array npz_find(const uint8_t *bytes, size_t size, const char *key)
{
    const uint8_t *entry = bytes + read_le(end_record(bytes, size) + 16, 4);
    char name[100];

    snprintf(name, sizeof name, "%s.npy", key);
    for (int i = npz_count(bytes, size); i > 0; i--) {
        size_t length = read_le(entry + 28, 2);
        assert_memory_equal(entry, "PK\1\2", 4);
        if (length == strlen(name) && memcmp(entry + 46, name, length) == 0) {
            const uint8_t *local = bytes + read_le(entry + 42, 4);
            size_t n = read_le(entry + 24, 4);
            assert_memory_equal(local, "PK\3\4", 4);
            assert_int_equal(read_le(entry + 10, 2), 0);
            assert_int_equal(read_le(entry + 20, 4), n);
            assert_int_equal(read_le(local + 22, 4), n);
            assert_int_equal(read_le(local + 8, 2), 0);
            const uint8_t *data = local + 30 + read_le(local + 26, 2) + read_le(local + 28, 2);
            assert_int_equal(crc32_of(data, n), read_le(entry + 16, 4));
            assert_int_equal(read_le(local + 14, 4), read_le(entry + 16, 4));
            return npy_parse(data, n);
        }
        entry += 46 + length + read_le(entry + 30, 2) + read_le(entry + 32, 2);
    }
    fail_msg("no array %s", key);
    return (npy_array){0};
}

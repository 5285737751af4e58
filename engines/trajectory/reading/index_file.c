/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_index_file.c, tests/fuzz/fuzz_index.c */
#include "index_file.h"

#include "io/results.h"
#include "io/spool.h"

#include <stdlib.h>
#include <string.h>

#define VERSION 2
#define ORDER 0x01020304u
#define PART_BYTES sizeof(trajectory_places_part)

static const char magic[8] = {'C', 'o', 'l', 'l', 'e', 't', 'I', 'x'};

/* ---- The hash ---------------------------------------------------------------------------- */

static uint64_t hash_head(const trajectory_index_head *head)
{
    trajectory_index_head own = *head;

    own.hash = 0;
    return io_hash_bytes(0, &own, sizeof own);
}

void trajectory_index_seal(void *bytes, size_t n)
{
    trajectory_index_head *head = bytes;

    memcpy(head->magic, magic, sizeof magic);
    head->version = VERSION;
    head->order = ORDER;
    head->hash = io_hash_bytes(hash_head(head), head + 1, n - sizeof *head);
}

/* ---- Reading ----------------------------------------------------------------------------- */

/* 1 if a file of n bytes has exactly the parts and entries that its head counts. */
static int fits(const trajectory_index_head *head, size_t n)
{
    uint64_t rest = n - sizeof *head, parts, numbers;

    return (head->width == 1 || head->width == TRAJECTORY_ENTRY_MOST) && head->n_frames >= 0 &&
           head->n_entries >= 0 && head->n_parts >= 1 &&
           !__builtin_mul_overflow((uint64_t)head->n_parts, PART_BYTES, &parts) &&
           !__builtin_mul_overflow((uint64_t)head->n_entries, 8 * (uint64_t)head->width,
                                   &numbers) &&
           parts <= rest && numbers == rest - parts;
}

/* 1 if each frame belongs to a part, and has an entry unless the part has no entries. */
static int has_all(const trajectory_places *places)
{
    int64_t n = 0;

    for (int64_t k = 0; k < places->n_parts; k++) {
        const trajectory_places_part *part = &places->parts[k];
        if (part->first != n || part->n_frames < 0 || part->n_frames > places->n_frames - n ||
            part->entry < -1 || part->entry > places->n_entries ||
            (part->entry >= 0 && part->n_frames > places->n_entries - part->entry))
            return 0;
        n += part->n_frames;
    }
    return n == places->n_frames;
}

/* 1 if the offsets and lines of a part's entries rise, and the carrier of each frame (TRAJECTORY_ENTRY_CARRIER) is the
 * frame before it or that frame's own carrier. */
static int rises(const trajectory_places *places, const trajectory_places_part *part)
{
    const int64_t *entry = places->entries + places->width * part->entry;

    for (int64_t i = 1; i < part->n_frames; i++, entry += places->width) {
        const int64_t *next = entry + places->width;
        if (next[TRAJECTORY_ENTRY_OFFSET] <= entry[TRAJECTORY_ENTRY_OFFSET])
            return 0;
        if (places->width > 1 &&
            (next[TRAJECTORY_ENTRY_LINE] < entry[TRAJECTORY_ENTRY_LINE] ||
             (next[TRAJECTORY_ENTRY_CARRIER] != i - 1 &&
              next[TRAJECTORY_ENTRY_CARRIER] != entry[TRAJECTORY_ENTRY_CARRIER])))
            return 0;
    }
    return 1;
}

static int all_rise(const trajectory_places *places)
{
    for (int64_t k = 0; k < places->n_parts; k++)
        if (places->parts[k].entry >= 0 && !rises(places, &places->parts[k]))
            return 0;
    return 1;
}

static trajectory_places *describe(io_mapping *mapping)
{
    trajectory_index_head *head = (void *)io_mapping_data(mapping);
    trajectory_places *places = calloc(1, sizeof *places);

    if (!places)
        return NULL;
    *places = (trajectory_places){.n_frames = head->n_frames,
                                  .n_parts = head->n_parts,
                                  .width = head->width,
                                  .n_entries = head->n_entries,
                                  .unused = {head->unused[0], head->unused[1]},
                                  .parts = (void *)(head + 1),
                                  .mapping = io_mapping_hold(mapping)};
    places->entries = (void *)(places->parts + places->n_parts);
    if (has_all(places) && all_rise(places))
        return places;
    trajectory_places_free(places);
    return NULL;
}

trajectory_places *trajectory_index_load(const char *path, uint64_t identity, int64_t n_parts)
{
    trajectory_places *places = NULL;
    io_mapping *mapping;

    if (io_mapping_open(path, &mapping, NULL) != COLLET_OK)
        return NULL;
    size_t n = (size_t)io_mapping_size(mapping);
    const trajectory_index_head *head = (const void *)io_mapping_data(mapping);
    if (n >= sizeof *head && memcmp(head->magic, magic, sizeof magic) == 0 &&
        head->version == VERSION && head->order == ORDER && head->identity == identity &&
        head->n_parts == n_parts && fits(head, n) &&
        head->hash == io_hash_bytes(hash_head(head), head + 1, n - sizeof *head))
        places = describe(mapping);
    io_mapping_close(mapping);
    return places;
}

/* ---- Writing ----------------------------------------------------------------------------- */

collet_status trajectory_index_save(const char *path, uint64_t identity,
                                    const trajectory_places *places, collet_error *err)
{
    const size_t parts = (size_t)places->n_parts * PART_BYTES;
    const size_t entries = (size_t)(places->n_entries * places->width) * sizeof *places->entries;
    trajectory_index_head head = {.version = VERSION,
                                  .order = ORDER,
                                  .identity = identity,
                                  .n_frames = places->n_frames,
                                  .n_parts = places->n_parts,
                                  .width = places->width,
                                  .n_entries = places->n_entries,
                                  .unused = {places->unused[0], places->unused[1]}};
    io_spool *spool;

    memcpy(head.magic, magic, sizeof magic);
    head.hash = io_hash_bytes(io_hash_bytes(hash_head(&head), places->parts, parts),
                              places->entries, entries);
    collet_status status = io_spool_create(path, IO_SPOOL_OUTPUT, &spool, err);
    if (status == COLLET_OK)
        status = io_spool_write(spool, &head, sizeof head, err);
    if (status == COLLET_OK)
        status = io_spool_write(spool, places->parts, parts, err);
    if (status == COLLET_OK)
        status = io_spool_write(spool, places->entries, entries, err);
    if (status == COLLET_OK)
        status = io_spool_publish(spool, 1, err);
    io_spool_free(spool);
    return status;
}

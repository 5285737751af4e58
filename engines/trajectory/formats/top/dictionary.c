/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_top.c, tests/fuzz/fuzz_trajectory.c */
#include "dictionary.h"

#include "trajectory/formats/growth.h"

static uint64_t hash(trajectory_word name)
{
    uint64_t value = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < name.length; i++)
        value = (value ^ (uint8_t)name.text[i]) * UINT64_C(0x100000001b3);
    return value ^ value >> 32;
}

/* Returns the slot of a name; if the name is absent, the empty slot into which it belongs. */
static int64_t *find_slot(const trajectory_dictionary *d, trajectory_word name)
{
    for (uint64_t at = hash(name);; at++) {
        int64_t *slot = &d->slots[at & (d->n_slots - 1)];
        const char *other = *slot >= 0 ? d->entries[*slot].name : NULL;

        if (!other || (strlen(other) == name.length && memcmp(other, name.text, name.length) == 0))
            return slot;
    }
}

static int make_slots(trajectory_dictionary *d)
{
    size_t n = d->n_slots > 0 ? 2 * d->n_slots : 64;
    int64_t *slots = malloc(n * sizeof *slots);

    if (!slots)
        return 0;
    free(d->slots);
    d->slots = slots;
    d->n_slots = n;
    memset(slots, 0xff, n * sizeof *slots);
    for (int64_t i = 0; i < d->n; i++)
        *find_slot(d, (trajectory_word){d->entries[i].name, strlen(d->entries[i].name)}) = i;
    return 1;
}

int64_t trajectory_dictionary_find(const trajectory_dictionary *d, trajectory_word name)
{
    int64_t i = d->n_slots > 0 ? *find_slot(d, name) : -1;

    return i >= 0 ? d->entries[i].value : -1;
}

int trajectory_dictionary_set(trajectory_dictionary *d, trajectory_word name, int64_t value)
{
    if (2 * (size_t)d->n >= d->n_slots && !make_slots(d))
        return 0;
    int64_t *slot = find_slot(d, name);
    if (*slot < 0) {
        if (!trajectory_grow(&d->entries, d->n, 1, &d->capacity, sizeof *d->entries))
            return 0;
        char *copy = strndup(name.text, name.length);
        if (!copy)
            return 0;
        d->entries[d->n] = (trajectory_dictionary_entry){copy, value};
        *slot = d->n++;
    }
    d->entries[*slot].value = value;
    return 1;
}

void trajectory_dictionary_clear(trajectory_dictionary *d)
{
    for (int64_t i = 0; i < d->n; i++)
        free(d->entries[i].name);
    free(d->entries);
    free(d->slots);
    memset(d, 0, sizeof *d);
}

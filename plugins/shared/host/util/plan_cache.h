/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_cache.h - a bounded LRU cache of plans: what a kernel prepares once for calls of one kind.
 * Of one device; any thread.
 *
 * A plan is found by a key, the parameters that it was made from. Plans in use stay; of the others
 * the least recently used is freed when there are too many, or when they are too large together.
 * The plan used last stays, whatever its size. A hit allocates nothing.
 */
#ifndef COLLET_CPU_PLAN_CACHE_H
#define COLLET_CPU_PLAN_CACHE_H

#include <stdint.h>

#define PLAN_KEY_WORDS 40

/* The first member of every plan. */
typedef struct cached_plan {
    void (*destroy)(struct cached_plan *plan); /* frees it and all that it has */
    uint64_t bytes;                            /* approximately, of its memory */
} cached_plan;

typedef struct plan_key {
    int64_t word[PLAN_KEY_WORDS];
    int32_t words; /* used */
} plan_key;

static inline void plan_key_add(plan_key *key, int64_t word)
{
    if (key->words < PLAN_KEY_WORDS)
        key->word[key->words++] = word;
}

/* Makes the plan of a key; `context` is the caller's. NULL: it cannot be made. */
typedef cached_plan *(*plan_make)(const plan_key *key, void *context);

typedef struct plan_cache plan_cache;

/* NULL when there is no memory. */
plan_cache *plan_cache_create(int32_t plans, uint64_t bytes);
/* No plan may be in use. NULL does nothing. */
void plan_cache_destroy(plan_cache *cache);

/* The plan of `key`, made if it is missing: one at a time. The caller returns it by
 * plan_cache_give. NULL when it cannot be made. */
cached_plan *plan_cache_take(plan_cache *cache, const plan_key *key, plan_make make, void *context);
void plan_cache_give(plan_cache *cache, cached_plan *plan);

/* Frees every plan that is not in use. */
void plan_cache_trim(plan_cache *cache);

/* Plans held now. */
int32_t plan_cache_count(plan_cache *cache);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_cache.h - a bounded LRU cache of plans. A plan is data that a kernel prepares once for all calls with
 * the same parameters, which are its key. A device has one cache, which any thread may use.
 *
 * If the number or the total size of the plans exceeds its limit, the least recently used plans that are not
 * in use are freed. The last used plan is kept, whatever its size. A hit allocates nothing.
 */
#pragma once

#include <stdint.h>

#define PLAN_KEY_WORDS 40

/* The first member of every plan. */
typedef struct cached_plan {
    void (*destroy)(struct cached_plan *plan); /* frees the plan and everything that it owns */
    uint64_t bytes;                            /* approximate size */
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

/* Creates the plan for a key; `context` is the argument of plan_cache_take. NULL on failure. */
typedef cached_plan *(*plan_make)(const plan_key *key, void *context);

typedef struct plan_cache plan_cache;

/* NULL when out of memory. */
plan_cache *plan_cache_create(int32_t plans, uint64_t bytes);
/* No plan may be in use. NULL does nothing. */
void plan_cache_destroy(plan_cache *cache);

/* Returns the plan for `key`; creates it if it is missing. Plans are created one at a time. The caller returns the plan
 * by plan_cache_give. NULL on failure. */
cached_plan *plan_cache_take(plan_cache *cache, const plan_key *key, plan_make make, void *context);
void plan_cache_give(plan_cache *cache, cached_plan *plan);

/* Frees every plan that is not in use. */
void plan_cache_trim(plan_cache *cache);

/* Number of plans in the cache. */
int32_t plan_cache_count(plan_cache *cache);

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/host/test_plan_cache.c */
#include "plan_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    plan_key key;
    uint64_t hash;
    cached_plan *plan; /* NULL: the entry is free */
    int32_t users;
    uint64_t used; /* the cache's clock at its last use */
} entry;

struct plan_cache {
    pthread_mutex_t lock;
    uint64_t clock, bytes, bytes_max;
    int32_t entries;
    entry entry[];
};

plan_cache *plan_cache_create(int32_t plans, uint64_t bytes)
{
    plan_cache *c = calloc(1, sizeof *c + (size_t)plans * sizeof *c->entry);
    if (!c)
        return NULL;
    if (pthread_mutex_init(&c->lock, NULL) != 0) {
        free(c);
        return NULL;
    }
    c->entries = plans;
    c->bytes_max = bytes;
    return c;
}

static void drop(plan_cache *c, entry *e)
{
    c->bytes -= e->plan->bytes;
    e->plan->destroy(e->plan);
    e->plan = NULL;
}

void plan_cache_destroy(plan_cache *cache)
{
    if (!cache)
        return;
    plan_cache_trim(cache);
    (void)pthread_mutex_destroy(&cache->lock);
    free(cache);
}

static uint64_t hash_of(const plan_key *key)
{
    uint64_t hash = (uint64_t)key->words;
    for (int32_t i = 0; i < key->words; i++)
        hash = (hash ^ (uint64_t)key->word[i]) * 0x9e3779b97f4a7c15u;
    return hash;
}

static entry *find(plan_cache *c, const plan_key *key, uint64_t hash)
{
    for (int32_t i = 0; i < c->entries; i++) {
        entry *e = &c->entry[i];
        if (e->plan && e->hash == hash && e->key.words == key->words &&
            memcmp(e->key.word, key->word, (size_t)key->words * sizeof *key->word) == 0)
            return e;
    }
    return NULL;
}

/* The least recently used plan; NULL when all are in use. */
static entry *oldest(plan_cache *c, const entry *but)
{
    entry *found = NULL;
    for (int32_t i = 0; i < c->entries; i++) {
        entry *e = &c->entry[i];
        if (e->plan && e != but && e->users == 0 && (!found || e->used < found->used))
            found = e;
    }
    return found;
}

static entry *free_entry(plan_cache *c)
{
    for (int32_t i = 0; i < c->entries; i++)
        if (!c->entry[i].plan)
            return &c->entry[i];
    entry *e = oldest(c, NULL);
    if (e)
        drop(c, e);
    return e;
}

static entry *add(plan_cache *c, const plan_key *key, uint64_t hash, plan_make make, void *context)
{
    entry *e = free_entry(c);
    cached_plan *plan = e ? make(key, context) : NULL;
    if (!plan)
        return NULL;
    e->key = *key;
    e->hash = hash;
    e->plan = plan;
    e->users = 0;
    c->bytes += plan->bytes;
    while (c->bytes > c->bytes_max) {
        entry *old = oldest(c, e);
        if (!old)
            break;
        drop(c, old);
    }
    return e;
}

cached_plan *plan_cache_take(plan_cache *cache, const plan_key *key, plan_make make, void *context)
{
    uint64_t hash = hash_of(key);
    cached_plan *plan = NULL;
    (void)pthread_mutex_lock(&cache->lock);
    entry *e = find(cache, key, hash);
    if (!e)
        e = add(cache, key, hash, make, context);
    if (e) {
        e->users++;
        e->used = ++cache->clock;
        plan = e->plan;
    }
    (void)pthread_mutex_unlock(&cache->lock);
    return plan;
}

void plan_cache_give(plan_cache *cache, cached_plan *plan)
{
    (void)pthread_mutex_lock(&cache->lock);
    for (int32_t i = 0; i < cache->entries; i++)
        if (cache->entry[i].plan == plan)
            cache->entry[i].users--;
    (void)pthread_mutex_unlock(&cache->lock);
}

void plan_cache_trim(plan_cache *cache)
{
    (void)pthread_mutex_lock(&cache->lock);
    for (int32_t i = 0; i < cache->entries; i++)
        if (cache->entry[i].plan && cache->entry[i].users == 0)
            drop(cache, &cache->entry[i]);
    (void)pthread_mutex_unlock(&cache->lock);
}

int32_t plan_cache_count(plan_cache *cache)
{
    int32_t count = 0;
    (void)pthread_mutex_lock(&cache->lock);
    for (int32_t i = 0; i < cache->entries; i++)
        count += cache->entry[i].plan != NULL;
    (void)pthread_mutex_unlock(&cache->lock);
    return count;
}

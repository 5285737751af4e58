/* SPDX-License-Identifier: Apache-2.0 */
/* The plan cache: hits, eviction order, and plans kept while in use. */

#include <pthread.h>

#include "common/test.h"
#include "shared/host/util/plan_cache.h"

typedef struct numbered {
    cached_plan head;
    int64_t number;
} numbered;

static _Atomic int made, destroyed;
static int failing;

static void destroy(cached_plan *plan)
{
    destroyed++;
    free(plan);
}

static cached_plan *make(const plan_key *key, void *context)
{
    numbered *n = failing ? NULL : calloc(1, sizeof *n);
    if (!n)
        return NULL;
    made++;
    n->head = (cached_plan){destroy, *(const uint64_t *)context};
    n->number = key->word[0];
    return &n->head;
}

static numbered *take(plan_cache *cache, int64_t number, uint64_t bytes)
{
    plan_key key = {.words = 0};
    plan_key_add(&key, number);
    plan_key_add(&key, 7);
    numbered *n = (numbered *)plan_cache_take(cache, &key, make, &bytes);
    if (n)
        assert_int_equal(number, n->number);
    return n;
}

static void use(plan_cache *cache, int64_t number, uint64_t bytes)
{
    numbered *n = take(cache, number, bytes);
    assert_non_null(n);
    plan_cache_give(cache, &n->head);
}

static plan_cache *new_cache(int32_t plans, uint64_t bytes)
{
    plan_cache *cache = plan_cache_create(plans, bytes);
    assert_non_null(cache);
    made = destroyed = failing = 0;
    return cache;
}

TEST(test_plans_are_reused)
{
    plan_cache *cache = new_cache(4, 100);
    for (int i = 0; i < 10; i++)
        use(cache, i % 2, 1);
    assert_int_equal(2, made);
    plan_cache_destroy(cache);
    assert_int_equal(2, destroyed);
    plan_cache_destroy(NULL);
}

TEST(test_the_least_recently_used_is_evicted)
{
    plan_cache *cache = new_cache(3, 100);
    use(cache, 1, 1);
    use(cache, 2, 1);
    use(cache, 3, 1);
    use(cache, 1, 1);
    use(cache, 4, 1);
    assert_int_equal(3, plan_cache_count(cache));
    use(cache, 1, 1);
    use(cache, 3, 1);
    assert_int_equal(4, made);
    use(cache, 2, 1);
    assert_int_equal(5, made);
    plan_cache_destroy(cache);
}

TEST(test_bytes_are_bounded)
{
    plan_cache *cache = new_cache(10, 100);
    for (int i = 0; i < 5; i++)
        use(cache, i, 40);
    assert_int_equal(2, plan_cache_count(cache));
    use(cache, 9, 1000);
    assert_int_equal(1, plan_cache_count(cache));
    use(cache, 9, 1000);
    assert_int_equal(6, made);
    plan_cache_destroy(cache);
}

TEST(test_plans_in_use_are_kept)
{
    plan_cache *cache = new_cache(2, 100);
    numbered *a = take(cache, 1, 1), *b = take(cache, 2, 1);
    assert_null(take(cache, 3, 1));
    plan_cache_trim(cache);
    assert_int_equal(0, destroyed);
    plan_cache_give(cache, &a->head);
    plan_cache_trim(cache);
    assert_int_equal(1, plan_cache_count(cache));
    assert_int_equal(1, destroyed);
    plan_cache_give(cache, &b->head);
    failing = 1;
    assert_null(take(cache, 5, 1));
    failing = 0;
    use(cache, 5, 1);
    plan_cache_destroy(cache);
    assert_int_equal(made, destroyed);
}

static void *use_many(void *argument)
{
    plan_cache *cache = argument;
    for (int64_t i = 0; i < 20000; i++)
        use(cache, i * 7 % 11, 1);
    return NULL;
}

TEST(test_two_threads)
{
    plan_cache *cache = new_cache(8, 100);
    pthread_t other;
    assert_int_equal(0, pthread_create(&other, NULL, use_many, cache));
    use_many(cache);
    assert_int_equal(0, pthread_join(other, NULL));
    plan_cache_destroy(cache);
    assert_int_equal(made, destroyed);
}

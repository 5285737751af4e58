/* SPDX-License-Identifier: Apache-2.0 */
/* Records: returned entries never move, even during concurrent appends. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "common/test.h"
#include "plugins/record.h"

#define THREADS 4
#define EACH 2000

static void *append(void *argument)
{
    record_list *list = argument;
    for (int i = 0; i < EACH; i++) {
        char reason[16];
        snprintf(reason, sizeof reason, "%d", i);
        collet_plugin_record entry = {
            .accepted = i % 2, .path = "/p", .stage = "probe", .reason = reason, .milliseconds = i};
        if (record_add(list, &entry, NULL) != COLLET_OK)
            return argument;
        const collet_plugin_record *last = record_at(list, record_count(list) - 1);
        if (!last || strcmp(last->path, "/p") || last->accepted != (int)last->milliseconds % 2)
            return argument;
    }
    return NULL;
}

TEST(many_threads)
{
    record_list *list;
    pthread_t threads[THREADS];
    assert_int_equal(record_list_create(&list, NULL), COLLET_OK);
    assert_int_equal(record_add(list, &(collet_plugin_record){.path = "/first"}, NULL), COLLET_OK);
    const collet_plugin_record *first = record_at(list, 0);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, append, list), 0);
    for (int t = 0; t < THREADS; t++) {
        void *failed;
        assert_int_equal(pthread_join(threads[t], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(record_count(list), THREADS * EACH + 1);
    assert_ptr_equal(record_at(list, 0), first);
    assert_string_equal(first->path, "/first");
    assert_string_equal(first->code, "");
    int64_t sum = 0;
    for (size_t i = 1; i < record_count(list); i++)
        sum += (int64_t)record_at(list, i)->milliseconds;
    assert_int_equal(sum, (int64_t)THREADS * EACH * (EACH - 1) / 2);
    assert_null(record_at(list, record_count(list)));
    record_list_free(list);
    record_list_free(NULL);
}

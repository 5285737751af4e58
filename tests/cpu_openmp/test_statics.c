/* SPDX-License-Identifier: Apache-2.0 */
/* After statics_keep has been called for a library, exit() does not destroy its static objects. */

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "common/test.h"
#include "shared/host/util/statics.h"

#define LIBRARY(name) LIBRARIES_DIRECTORY "/statics_" name ".so"

/* The exit status of a process that has created a static object of the library. */
static int status_of(const char *library, bool keep)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        int (*make)(void);
        void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
        if (!handle || (keep && !statics_keep(handle)))
            _exit(1);
        *(void **)&make = dlsym(handle, "make_static");
        exit(!make || make() ? 2 : 0);
    }
    assert_int_equal(child, waitpid(child, &status, 0));
    return status;
}

enum { THREADS = 4, PROCESSES = 200 };

static pthread_barrier_t start;

static void *keep(void *handle)
{
    pthread_barrier_wait(&start);
    return statics_keep(handle) ? handle : NULL;
}

/* Several threads open devices at the same time, and each calls statics_keep for the same library. The memory that it
 * changes is read-only before and after. */
static void keep_in_threads(void)
{
    pthread_t threads[THREADS];
    void *handle = dlopen(LIBRARY("relro"), RTLD_NOW | RTLD_LOCAL), *kept;
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, keep, handle))
            _exit(1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_join(threads[i], &kept) || kept != handle)
            _exit(1);
    _exit(0);
}

TEST(test_statics_are_kept)
{
    static const char *const libraries[] = {LIBRARY("relro"), LIBRARY("no_relro"),
                                            LIBRARY("no_plt")};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        assert_int_equal(3 << 8, status_of(libraries[i], false));
        assert_int_equal(0, status_of(libraries[i], true));
    }
}

TEST(test_threads_keep_statics_at_the_same_time)
{
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        pid_t child = fork();
        if (child == 0)
            keep_in_threads();
        assert_int_equal(child, waitpid(child, &status, 0));
        assert_int_equal(0, status);
    }
}

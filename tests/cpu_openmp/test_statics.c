/* SPDX-License-Identifier: Apache-2.0 */
/* exit() does not destroy what a library makes once statics_keep has been called for it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/host/util/statics.h"

#define LIBRARY(name) LIBRARIES_DIRECTORY "/statics_" name ".so"

/* The status with which a process exits that has made a static object of the library. */
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

static void test_statics_are_kept(void **state)
{
    static const char *const libraries[] = {LIBRARY("relro"), LIBRARY("no_relro"),
                                            LIBRARY("no_plt")};
    (void)state;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        assert_int_equal(3 << 8, status_of(libraries[i], false));
        assert_int_equal(0, status_of(libraries[i], true));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_statics_are_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

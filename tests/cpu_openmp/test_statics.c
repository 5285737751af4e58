/* SPDX-License-Identifier: Apache-2.0 */
/* After statics_keep has been called for a library, exit() does not destroy its static objects. */

#include <dlfcn.h>
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

TEST(test_statics_are_kept)
{
    static const char *const libraries[] = {LIBRARY("relro"), LIBRARY("no_relro"),
                                            LIBRARY("no_plt")};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        assert_int_equal(3 << 8, status_of(libraries[i], false));
        assert_int_equal(0, status_of(libraries[i], true));
    }
}

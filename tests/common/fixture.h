/* SPDX-License-Identifier: Apache-2.0 */
/* fixture.h - the runtime and context shared by a program's tests. Include in one file only. */
#ifndef TESTS_COMMON_FIXTURE_H
#define TESTS_COMMON_FIXTURE_H

#include "support.h"

static collet_runtime *rt;
static collet_context *cx;

/* See open_world. */
static inline void open_shared(const char *path, const char *const *settings, const char *backend)
{
    world w = open_world(path, settings, backend);
    rt = w.rt;
    cx = w.cx;
}

/* The same with a device of the backend; cpu_scalar computes what it does not support. Without a device the program ends
 * with the status of a skipped test. */
static inline void open_shared_device(const char *plugins, const char *backend)
{
    char either[64];
    open_shared(plugins, NULL, NULL);
    if (collet_set_backend(cx, backend) != COLLET_OK) {
        print_message("%s\n", collet_last_error(cx));
        exit(77);
    }
    snprintf(either, sizeof either, "%s,cpu_scalar", backend);
    assert_ok(cx, collet_set_backend(cx, either));
}

static inline void close_shared(void)
{
    close_world((world){rt, cx});
    rt = NULL;
    cx = NULL;
}

/* ---- CMocka set-up and tear-down ------------------------------------------------------------- */

static inline int set_up_scalar(void **state)
{
    open_shared(SCALAR_PLUGIN, NULL, NULL);
    return 0;
}

static inline int tear_down(void **state)
{
    close_shared();
    return 0;
}

#endif

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

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_struct.c, tests/core/test_fork.c */
#include "runtime.h"

#include <unistd.h>

collet_status runtime_forked(collet_error *err)
{
    return collet_fail(err, COLLET_FORKED,
                       "this runtime was created before fork and cannot be used in the child; "
                       "create a runtime after fork, or use posix_spawn");
}

collet_status runtime_stop(const collet_runtime *r, collet_status status)
{
    while (status == COLLET_DEVICE_LOST && atomic_load(&r->ended) == RUNTIME_EXITS &&
           !pthread_equal(r->ender, pthread_self()))
        pause();
    return status;
}

collet_status runtime_query(const collet_runtime *r, const void *out, const char *what,
                            collet_error *err)
{
    if (r && !runtime_alive(r))
        return runtime_forked(err);
    return r && out ? COLLET_OK
                    : collet_fail(err, COLLET_INVALID,
                                  "%s: the runtime or the address of the result is NULL", what);
}

collet_status runtime_beyond(size_t index, size_t count, const char *element, collet_error *err)
{
    return collet_fail(err, COLLET_NOT_FOUND, "index %zu is out of range: there %s %zu %s%s", index,
                       count == 1 ? "is" : "are", count, element, count == 1 ? "" : "s");
}

const op *runtime_op(const collet_runtime *r, uint32_t id)
{
    if (id < OP_BUILTIN_MAX)
        return r->ops.by_id[id];
    uint32_t own = id - COLLET_OWN_OP(0);
    return id >= COLLET_OWN_OP(0) && own < atomic_load(&r->own_op_count) ? r->own_ops[own] : NULL;
}

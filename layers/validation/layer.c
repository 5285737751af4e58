/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the layer, one for each backend's table.
 * Tests: tests/layers/test_validation.c */
#include "validation.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "poison.h"

COLLET_PLUGIN_MANIFEST("manifest.json");

/* ---- fork -------------------------------------------------------------------------------- */

static void before_fork(void)
{
    instance_lock();
    object_lock();
    poison_lock();
}

static void after_fork(void)
{
    poison_unlock();
    object_unlock();
    instance_unlock();
}

static int started;

static void start(void)
{
    started = poison_start() && !pthread_atfork(before_fork, after_fork, after_fork);
}

/* ---- Capabilities ------------------------------------------------------------------------ */

#define MARK 0x5a

static int marked(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != MARK)
            return 0;
    return 1;
}

/* Calls capabilities with `capacity` bytes; the bytes after them must not change. */
static collet_status ask(call *c, const instance *i, char *json, uint64_t capacity,
                         uint64_t allocated, uint64_t *needed)
{
    memset(json, MARK, allocated);
    call_enter(c);
    locale_t before = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)); /* as libcore does */
    collet_status status =
        i->below->capabilities(i->below, json, capacity, needed, c->host, c->below_err);
    uselocale(before);
    status = call_status(c, status, CONTRACT_OPEN);
    if (status == COLLET_OK && !marked(json + capacity, allocated - capacity))
        call_wrong(c, PLUGIN, "it wrote to json beyond its %llu bytes",
                   (unsigned long long)capacity);
    return status;
}

/* Calls capabilities with a capacity of 0, with exactly the bytes needed, and with one byte less.
 * */
static void check_capabilities(const collet_host *host, const instance *i)
{
    call c;
    uint64_t needed = 0, first;
    char small[64], *json;
    call_begin_unknown(&c, "capabilities", host, NULL);
    if (ask(&c, i, small, 0, sizeof small, &needed) == COLLET_OK) {
        first = needed;
        json = malloc(first + 64);
        if (json && ask(&c, i, json, first, first + 64, &needed) == COLLET_OK && needed == first &&
            (!first || memchr(json, '\0', first) != json + first - 1))
            call_wrong(&c, PLUGIN, "the text does not end at the size that it set");
        if (json && first)
            ask(&c, i, json, first - 1, first + 64, &needed);
        free(json);
    }
    call_end(&c, COLLET_OK);
}

/* ---- The layer's table ------------------------------------------------------------------- */

static int fill_rows(instance *i)
{
    const collet_plugin *below = i->below;
    i->rows = calloc(below->kernel_count + 1u, sizeof *i->rows);
    if (!i->rows)
        return 0;
    for (uint32_t k = 0; k < below->kernel_count; k++) {
        i->rows[k] = *instance_row(i, k);
        i->rows[k].run = validation_run;
        if (i->rows[k].accepts)
            i->rows[k].accepts = validation_accepts;
    }
    i->table.kernels = i->rows;
    i->table.kernel_size = sizeof *i->rows;
    return 1;
}

#define WRAP(slot) t->slot = below->slot ? validation_##slot : NULL

/* Slots that this layer does not know are NULL, because the layer could not replace the handles in their calls. */
static void fill_slots(collet_plugin *t, const collet_plugin *below)
{
    t->capabilities = below->capabilities;
    WRAP(device_open);
    WRAP(device_close);
    WRAP(device_supports);
    WRAP(buffer_alloc);
    WRAP(buffer_free);
    WRAP(buffer_write);
    WRAP(buffer_read);
    WRAP(queue_create);
    WRAP(queue_destroy);
    WRAP(queue_mark);
    WRAP(queue_wait);
    WRAP(queue_after);
    WRAP(extension);
}

static instance *instance_new(const collet_plugin *below)
{
    instance *i = calloc(1, sizeof *i);
    if (!i)
        return NULL;
    i->below = below;
    memcpy(&i->table, below, offsetof(collet_plugin, capabilities));
    i->table.struct_size = sizeof i->table;
    i->sum = instance_sum(below);
    if (!fill_rows(i)) {
        free(i);
        return NULL;
    }
    fill_slots(&i->table, below);
    return i;
}

const collet_plugin *collet_layer_entry(const collet_host *host, const collet_plugin *below,
                                        collet_error *err)
{
    int added = 0;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
    if (!started) {
        host->fail(err, COLLET_NO_MEMORY, "no memory for copies of calls");
        return NULL;
    }
    instance_lock();
    instance *i = instance_over(below);
    if (!i && (i = instance_new(below))) {
        instance_add(i);
        added = 1;
    }
    instance_unlock();
    if (!i) {
        host->fail(err, COLLET_NO_MEMORY, "no memory for a table over %s", below->name);
        return NULL;
    }
    if (added)
        check_capabilities(host, i);
    return &i->table;
}

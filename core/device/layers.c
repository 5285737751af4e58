/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_layers.c */
#include "layers.h"

#include <stdlib.h>
#include <string.h>

#include "util/text.h"

static collet_status unknown_layer(const collet_runtime *r, const char *name, collet_error *err)
{
    const char *source = "", *nearest = NULL;
    text_buffer known;
    text_clear(&known);
    for (size_t i = 0; i < r->plugin_count; i++) {
        const loader_plugin *p = &r->plugins[i];
        if (!p->manifest.layer)
            continue;
        text_add(&known, ", %s", p->name);
        text_nearest(name, p->name, &nearest);
    }
    text_nearest(name, "programs", &nearest);
    (void)config_find(r->config, "layers", &source);
    return collet_fail(err, COLLET_INVALID,
                       "the setting layers (%s) names '%.63s', but no such layer was found%s%s; "
                       "found: programs%s (backend-info --why shows where layers are searched)",
                       source, name, nearest ? "; the nearest is " : "", nearest ? nearest : "",
                       known.bytes);
}

static collet_status find_layer(const collet_runtime *r, const char *name,
                                const loader_plugin **out, collet_error *err)
{
    for (size_t i = 0; i < r->plugin_count; i++) {
        const loader_plugin *p = &r->plugins[i];
        /* Compare names too, because the manifest of a plugin that the policy refused was not
         * read. */
        if (strcmp(p->name, name) != 0 || (p->usable && !p->manifest.layer))
            continue;
        *out = p;
        return p->usable
                   ? COLLET_OK
                   : collet_fail(err, COLLET_UNAVAILABLE, "the layer %s cannot be used: %s: %s",
                                 name, p->path, p->reason);
    }
    return unknown_layer(r, name, err);
}

collet_status layers_choose(collet_runtime *r, collet_error *err)
{
    collet_status status = COLLET_OK;
    char *names = strdup(config_text(r->config, CONFIG_LAYERS)), *rest = names, *name;
    r->layers = names ? calloc(strlen(names) + 1, sizeof *r->layers) : NULL;
    if (!r->layers) {
        free(names);
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the list of layers");
    }
    while (status == COLLET_OK && (name = strsep(&rest, ", \t")))
        if (!strcmp(name, "programs")) /* the layer "programs" has no file */
            programs_begin(&r->log);
        else if (*name)
            status = find_layer(r, name, &r->layers[r->layer_count++], err);
    free(names);
    return status;
}

collet_status layers_open(const backend *b, const collet_plugin **table, collet_error *err)
{
    const collet_runtime *r = b->runtime;
    collet_status status = COLLET_OK;
    for (size_t i = r->layer_count; i-- > 0 && status == COLLET_OK;)
        status = loader_open_layer(r->layers[i], b->plugin, &r->host, r->records, table, err);
    return status;
}

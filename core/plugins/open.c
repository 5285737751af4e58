/* SPDX-License-Identifier: Apache-2.0 */
#include "open.h"

#include <dlfcn.h>
#include <string.h>

#include <collet/collet.h>

#include "floating.h"
#include "vtable.h"

/* Failures of the dynamic linker differ by their text alone, which is in English: the probe sets no
 * locale. The texts are glibc's and musl's. */
static collet_status linker_failure(refusal *why)
{
    const char *text = dlerror();
    text = text ? text : "no reason given";
    int symbol = strstr(text, "undefined symbol") || strstr(text, "symbol not found");
    int version = strstr(text, "version `") && strstr(text, "not found");
    if (symbol || version)
        return REFUSE("unresolved-symbol", "%s", text);
    int library = strstr(text, "cannot open shared object file") ||
                  strstr(text, "Error loading shared library");
    return refuse_with(why, COLLET_UNAVAILABLE, library ? "missing-library" : "load-failed", "%s",
                       text);
}

static collet_status check_floating(floating_state before, const char *where, refusal *why)
{
    floating_state after = floating_save();
    if (floating_equal(before, after))
        return COLLET_OK;
    floating_restore(before);
    return REFUSE("changes-floating-point",
                  "%s it changed the program's floating-point control (0x%llx to 0x%llx); "
                  "link it without -ffast-math",
                  where, (unsigned long long)before.control, (unsigned long long)after.control);
}

static void mark(open_progress_fn progress, char step)
{
    if (progress)
        progress(step);
}

collet_status open_plugin(const char *path, const manifest *m, const collet_host *host,
                          open_progress_fn progress, const collet_plugin **vtable, refusal *why)
{
    floating_state before = floating_save();
    why->code = "ok";
    mark(progress, OPEN_CONSTRUCTOR);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        floating_restore(before);
        return linker_failure(why);
    }
    collet_status status = check_floating(before, "while being loaded", why);
    if (status != COLLET_OK)
        return status;
    collet_plugin_entry_fn entry;
    void *symbol = dlsym(library, "collet_plugin_entry");
    if (!symbol)
        return REFUSE("missing-entry", "it does not export collet_plugin_entry");
    memcpy(&entry, &symbol, sizeof entry);
    mark(progress, OPEN_ENTRY);
    const collet_plugin *plugin = entry(host);
    status = check_floating(before, "in collet_plugin_entry", why);
    if (status != COLLET_OK)
        return status;
    if (!plugin)
        return REFUSE("entry-null", "collet_plugin_entry returned NULL");
    mark(progress, OPEN_TABLE);
    status = vtable_verify(plugin, m, why);
    if (status == COLLET_OK)
        *vtable = plugin;
    return status;
}

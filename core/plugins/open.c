/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/fault/test_loader.c */
#include "open.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <collet/collet.h>
#include <collet/extensions.h>
#include <collet/floating.h>

#include "file.h"
#include "util/numerals.h"
#include "vtable.h"

collet_status open_allowed(const char *path, int fd, refusal *why)
{
    char link[32], file[PATH_MAX];
    int error = file_cannot_run(fd);
    if (error != EPERM && error != EACCES)
        return COLLET_OK;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, file, sizeof file - 1);
    if (length > 0) {
        file[length] = '\0';
        path = file;
    }
    int folder = (int)(strrchr(path, '/') - path);
    if (file_is_noexec(path))
        return REFUSE(
            "noexec",
            "the file system of %.*s is mounted noexec, so no program can load it: copy it "
            "to another file system, or remount this one with exec",
            folder, path);
    return REFUSE("noexec",
                  "the system lets no program load it from %.*s (%s): look for a denial of SELinux "
                  "or AppArmor (ausearch -m avc, dmesg)",
                  folder, path, strerror(error));
}

/* Failures of the dynamic linker can be told apart only by their texts (glibc's and musl's). The linker translates
 * these texts; the locale C makes them English. */
static collet_status linker_failure(refusal *why)
{
    locale_t before = numerals_begin();
    const char *text = dlerror();
    numerals_end(before);
    int symbol = strstr(text, "undefined symbol") || strstr(text, "symbol not found");
    int version = strstr(text, "version `") && strstr(text, "not found");
    if (symbol || version)
        return REFUSE("unresolved-symbol", "%s", text);
    int library = strstr(text, "cannot open shared object file") ||
                  strstr(text, "Error loading shared library");
    int unmapped = strstr(text, "failed to map segment") != NULL;
    return refuse_with(
        why, COLLET_UNAVAILABLE, library ? "missing-library" : "load-failed", "%s%s", text,
        unmapped ? " (is its file system mounted noexec, or a limit of memory too low?)" : "");
}

static collet_status check_floating(collet_floating before, const char *where, refusal *why)
{
    collet_floating after = collet_floating_now();
    if (collet_floating_equal(before, after))
        return COLLET_OK;
    collet_floating_set(before);
    return REFUSE("changes-floating-point",
                  "%s it changed the program's floating-point control from 0x%llx to 0x%llx; link "
                  "it without -ffast-math",
                  where, (unsigned long long)before.control, (unsigned long long)after.control);
}

static void mark(open_progress_fn progress, char step)
{
    if (progress)
        progress(step);
}

/* Loads the file; stores the symbol's address in the function pointer at `entry`. */
static collet_status load(const char *path, const char *name, collet_floating before, void *entry,
                          refusal *why)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        collet_floating_set(before);
        return linker_failure(why);
    }
    collet_status status = check_floating(before, "while being loaded", why);
    if (status != COLLET_OK)
        return status;
    void *symbol = dlsym(library, name);
    if (!symbol)
        return REFUSE("missing-entry", "it does not export %s", name);
    memcpy(entry, &symbol, sizeof symbol);
    return COLLET_OK;
}

collet_status open_plugin(const char *path, const manifest *m, const collet_host *host,
                          open_progress_fn progress, const collet_plugin **vtable, refusal *why)
{
    collet_floating before = collet_floating_now();
    collet_plugin_entry_fn entry;
    why->code = "ok";
    mark(progress, OPEN_CONSTRUCTOR);
    collet_status status = load(path, "collet_plugin_entry", before, &entry, why);
    if (status != COLLET_OK)
        return status;
    mark(progress, OPEN_ENTRY);
    const collet_plugin *plugin = entry(host);
    status = check_floating(before, "in collet_plugin_entry", why);
    if (status != COLLET_OK)
        return status;
    if (!plugin)
        return REFUSE(
            "entry-null",
            "collet_plugin_entry returned NULL: it was probably built for another version "
            "of the plugin interface than this libcore's, %d.%d: rebuild it",
            COLLET_ABI_MAJOR, COLLET_ABI_MINOR);
    mark(progress, OPEN_TABLE);
    status = vtable_verify(plugin, m, why);
    if (status == COLLET_OK)
        *vtable = plugin;
    return status;
}

collet_status open_layer(const char *path, const manifest *m, const collet_host *host,
                         const collet_plugin **table, refusal *why)
{
    collet_floating before = collet_floating_now();
    collet_layer_entry_fn entry;
    collet_error err = {COLLET_OK, "no reason given; if it was built for another version of "
                                   "the plugin interface, rebuild it"};
    why->code = "ok";
    collet_status status = load(path, "collet_layer_entry", before, &entry, why);
    if (status != COLLET_OK)
        return status;
    const collet_plugin *over = entry(host, *table, &err);
    status = check_floating(before, "in collet_layer_entry", why);
    if (status != COLLET_OK)
        return status;
    if (!over)
        return REFUSE("entry-null", "collet_layer_entry returned NULL: %s", err.text);
    status = vtable_verify(over, m, why);
    if (status == COLLET_OK)
        status = vtable_verify_layer(over, *table, why);
    if (status == COLLET_OK)
        *table = over;
    return status;
}

const void *open_host_extension(const collet_host *host, const char *name)
{
    static const collet_host_memory_extension memory = {sizeof memory, 0, collet_memory_limit_read};
    static const collet_host_threads_extension threads = {sizeof threads, 0, collet_thread_limit};
    (void)host;
    if (!strcmp(name, COLLET_EXTENSION_HOST_THREADS))
        return &threads;
    return strcmp(name, COLLET_EXTENSION_HOST_MEMORY) ? NULL : &memory;
}

void open_host_log_text(const collet_host *host, int32_t level, const char *text)
{
    host->log(host, level, "%s", text);
}

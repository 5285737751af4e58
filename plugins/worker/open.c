/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the worker of a device, and ends it. The worker's program is in the directory of the plugin's own file.
 * Tests: tests/worker/test_worker.c */
#include "device.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <collet/extensions.h>

/* ---- The conversation ------------------------------------------------------------------------ */

static void patience_set(collet_device *d, const char *seconds)
{
    int64_t s = seconds ? strtoll(seconds, NULL, 10) : 0;
    struct timeval limit = {s, 0};
    d->patience = s ? s * 1000000000 : -1;
    setsockopt(d->process.control, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(d->process.control, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

static collet_status take_opened(collet_device *d, collet_device_properties *properties,
                                 collet_error *err)
{
    wire_opened opened;
    char text[WIRE_TEXT];
    long got = wire_receive(d->process.control, &opened, sizeof opened, NULL, NULL, 0);
    if (got <= 0)
        return device_broken(d, (int)-got, err);
    if (got != sizeof opened || memcmp(opened.version, WIRE_VERSION, sizeof WIRE_VERSION) != 0)
        return device_lose(d, err, "its process is not " WIRE_VERSION);
    if (opened.row_count > 65536 ||
        (opened.status == COLLET_OK &&
         ((opened.memory != COLLET_MEMORY_HOST && opened.memory != COLLET_MEMORY_OWN) ||
          (opened.order != COLLET_ORDER_SYNCHRONOUS && opened.order != COLLET_ORDER_QUEUES))))
        return device_lose(d, err, "its process sent a malformed description");
    wire_text(text, opened.text);
    if (opened.status != COLLET_OK)
        return d->host->fail(err, COLLET_UNAVAILABLE, "worker:%s: %s", d->name, text);
    d->host_memory = opened.memory == COLLET_MEMORY_HOST;
    d->trims = opened.trims != 0;
    properties->memory = COLLET_MEMORY_OWN;
    properties->order = COLLET_ORDER_QUEUES;
    properties->threads = COLLET_THREADS_ANY;
    properties->max_queues = opened.order == COLLET_ORDER_QUEUES ? opened.max_queues : 0;
    return device_receive_rows(d, opened.row_count, err);
}

static collet_status converse(collet_device *d, collet_device_properties *properties,
                              collet_error *err)
{
    const collet_host *host = d->host;
    patience_set(d, host->config(host, "probe_timeout"));
    collet_status status = take_opened(d, properties, err);
    patience_set(d, host->config(host, "timeout"));
    return status;
}

/* ---- The command line ------------------------------------------------------------------------ */

#define WORDS_BYTES (2 * PATH_MAX)

typedef struct command_line {
    char text[WORDS_BYTES];
    size_t used;
    char *words[16];
    size_t count;
} command_line;

static COLLET_PRINTF(2, 3) bool word_add(command_line *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(c->text + c->used, sizeof c->text - c->used, format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= sizeof c->text - c->used)
        return false;
    c->words[c->count++] = c->text + c->used;
    c->used += (size_t)n + 1;
    return true;
}

/* Adds the setting plugin_path: the program's search path, then the directory of this plugin. */
static bool path_add(command_line *c, const collet_device *d, int length, const char *directory)
{
    const char *path = d->host->config(d->host, "plugin_path");
    return !path || word_add(c, "plugin_path=%s:%.*s", path, length, directory);
}

/* PROGRAM NAME THREADS PARENT KEY=VALUE... */
static bool command_line_write(command_line *c, const collet_device *d)
{
    static const char *const keys[] = {"num_threads", "isa",    "cache",
                                       "cache_dir",   "config", "trust_group"};
    Dl_info info;
    const char *slash;
    *c = (command_line){.used = 0};
    if (!dladdr(d->plugin, &info) || info.dli_fname[0] != '/' ||
        !(slash = strrchr(info.dli_fname, '/')))
        return false;
    int length = (int)(slash - info.dli_fname);
    bool fits = word_add(c, "%.*s/collet-worker", length, info.dli_fname) &&
                word_add(c, "%s", d->name) && word_add(c, "%d", d->host->threads(d->host)) &&
                word_add(c, "%d", (int)getpid()) && path_add(c, d, length, info.dli_fname);
    for (size_t i = 0; fits && i < sizeof keys / sizeof *keys; i++) {
        const char *value = d->host->config(d->host, keys[i]);
        fits = !value || word_add(c, "%s=%s", keys[i], value);
    }
    return fits;
}

/* ---- The slots ------------------------------------------------------------------------------- */

static bool name_valid(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    size_t digits = name[length] == ':' ? strspn(name + length + 1, "0123456789") : 0;
    return length && length + digits + (digits != 0) < COLLET_MAX_NAME &&
           !name[length + digits + (digits != 0)] && strncmp(name, "worker", length + 1) != 0 &&
           strncmp(name, "worker:", 7) != 0;
}

static void device_free(collet_device *d)
{
    pthread_mutex_destroy(&d->lock);
    pthread_mutex_destroy(&d->requests);
    free(d->links);
    free(d->link_of);
    free(d);
}

/* Whether nobody else may write to the program collet-worker. libcore has already made this check for the plugin and
 * for the directory of both. A missing program is reported when it is started. */
static bool program_trusted(const collet_plugin *plugin, const char *program)
{
    Dl_info info;
    struct stat p, own;
    if (stat(program, &p))
        return true;
    return dladdr(plugin, &info) && !stat(info.dli_fname, &own) &&
           (p.st_uid == 0 || p.st_uid == geteuid() || p.st_uid == own.st_uid) &&
           !(p.st_mode & (S_IWGRP | S_IWOTH) & ~own.st_mode) &&
           (!(p.st_mode & S_IWGRP) || p.st_gid == own.st_gid);
}

static collet_status device_start(collet_device *d, collet_device_properties *properties,
                                  collet_error *err)
{
    command_line c;
    /* The worker would inherit the privileges. Then the dynamic linker would not find libcore beside the worker, and
     * the worker would refuse every backend that the caller's environment variables influence. */
    if (getauxval(AT_SECURE))
        return d->host->fail(
            err, COLLET_UNAVAILABLE,
            "worker:%s: a program with raised privileges (set-uid or capabilities) "
            "starts no worker: choose %s",
            d->name, d->name);
    if (!command_line_write(&c, d))
        return d->host->fail(err, COLLET_UNAVAILABLE,
                             "worker:%s: the path of collet-worker is unknown, or settings are "
                             "too long",
                             d->name);
    if (!program_trusted(d->plugin, c.words[0]))
        return d->host->fail(err, COLLET_UNAVAILABLE,
                             "worker:%s: %s is not started: others may write to it, or own it",
                             d->name, c.words[0]);
    d->process = (process){.host = d->host, .name = d->name, .words = c.words, .user = d};
    d->process.ended = device_ended;
    collet_status status = process_start(&d->process, err);
    if (status != COLLET_OK)
        return status;
    status = converse(d, properties, err);
    d->process.words = NULL;
    if (status == COLLET_OK)
        return status;
    process_stop(&d->process);
    return status;
}

/* Passes the text without "worker:NAME: " in front of it, because libcore adds this prefix itself. */
static const char *without_name(const char *text, const char *name)
{
    size_t length = strlen(name);
    return !strncmp(text, "worker:", 7) && !strncmp(text + 7, name, length) &&
                   !strncmp(text + 7 + length, ": ", 2)
               ? text + 7 + length + 2
               : text;
}

collet_status worker_open(const collet_plugin *self, collet_device **device,
                          collet_device_properties *properties, const collet_host *host,
                          uint32_t index, const char *name, collet_error *err)
{
    collet_error why = {COLLET_OK, ""};
    if (!name)
        return host->fail(err, COLLET_UNAVAILABLE, "there is no device %u: " WORKER_USAGE, index);
    if (!name_valid(name))
        return host->fail(err, COLLET_UNAVAILABLE,
                          "'%.*s' is not a backend that a worker serves: " WORKER_USAGE,
                          COLLET_MAX_NAME, name);
    collet_device *d = calloc(1, sizeof *d);
    if (!d)
        return host->fail(err, COLLET_NO_MEMORY, "worker: no memory to open %s", name);
    d->plugin = self;
    d->host = host;
    const collet_host_threads_extension *threads =
        host->extension(host, COLLET_EXTENSION_HOST_THREADS);
    d->limit = threads ? threads->limit : NULL;
    snprintf(d->name, sizeof d->name, "%s", name);
    pthread_mutex_init(&d->requests, NULL);
    pthread_mutex_init(&d->lock, NULL);
    collet_status status =
        device_links_create(d)
            ? device_start(d, properties, &why)
            : host->fail(&why, COLLET_NO_MEMORY, "worker: no memory to open %s", name);
    if (status == COLLET_OK) {
        *device = d;
        return COLLET_OK;
    }
    device_free(d);
    return host->fail(err, status == COLLET_NO_MEMORY ? status : COLLET_UNAVAILABLE, "%s",
                      without_name(why.text, name));
}

void worker_close(collet_device *d)
{
    if (!d)
        return;
    process_stop(&d->process);
    device_free(d);
}

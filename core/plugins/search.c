/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/fault/test_loader_search.c */
#include "search.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <collet/collet.h>

#include "file.h"

typedef struct identity {
    dev_t device;
    ino_t inode;
} identity;

/* `seen` has directories and files, whose inodes differ. */
typedef struct search {
    const collet_host *host;
    int named; /* 1: the current element is from the path that the user set */
    record_list *records;
    search_result *result;
    identity *seen;
    size_t seen_count;
    collet_error *err;
} search;

static collet_status no_memory(const search *s)
{
    return collet_fail(s->err, COLLET_NO_MEMORY, "out of memory while plugins were searched");
}

static collet_status note(search *s, const char *path, const char *code, const char *reason,
                          double ms)
{
    collet_plugin_record entry = {
        sizeof entry, !strcmp(code, "ok"), path, "search", code, reason, ms};
    if (s->named && !entry.accepted && strncmp(code, "duplicate-", 10))
        s->host->log(s->host, COLLET_LOG_WARNING, "the plugin path's %s is ignored: %s", path,
                     reason);
    return record_add(s->records, &entry, s->err);
}

/* 1: the file or directory is new; 0: it was visited before; -1: out of memory. */
static int remember(search *s, const struct stat *st)
{
    for (size_t i = 0; i < s->seen_count; i++)
        if (s->seen[i].device == st->st_dev && s->seen[i].inode == st->st_ino)
            return 0;
    identity *grown = realloc(s->seen, (s->seen_count + 1) * sizeof *grown);
    if (!grown)
        return -1;
    s->seen = grown;
    s->seen[s->seen_count++] = (identity){st->st_dev, st->st_ino};
    return 1;
}

/* Adds a file and takes ownership of `path`. A file that cannot be examined is added too: the stage
 * "policy" reports it. */
static collet_status take_file(search *s, char *path)
{
    struct stat st;
    int fresh = stat(path, &st) ? 1 : remember(s, &st);
    if (fresh == 0) {
        collet_status status =
            note(s, path, "duplicate-file", "the same file was found under another name before", 0);
        free(path);
        return status;
    }
    char **grown =
        fresh < 0 ? NULL : realloc(s->result->files, (s->result->count + 1) * sizeof *grown);
    if (!grown) {
        free(path);
        return no_memory(s);
    }
    s->result->files = grown;
    s->result->files[s->result->count++] = path;
    return COLLET_OK;
}

/* ---- Directories ------------------------------------------------------------------------- */

static int is_candidate(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 3 && !strcmp(entry->d_name + length - 3, ".so");
}

/* Independent of the locale, unlike alphasort. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static collet_status take_entries(search *s, const char *directory, struct dirent **entries,
                                  int count)
{
    collet_status status = COLLET_OK;
    const char *separator = directory[strlen(directory) - 1] == '/' ? "" : "/";
    for (int i = 0; i < count && status == COLLET_OK; i++) {
        char *path;
        if (asprintf(&path, "%s%s%s", directory, separator, entries[i]->d_name) < 0)
            status = no_memory(s);
        else
            status = take_file(s, path);
    }
    return status;
}

static collet_status take_directory(search *s, const char *directory)
{
    double start = record_clock();
    struct dirent **entries;
    int count = scandir(directory, &entries, is_candidate, by_name);
    if (count < 0 && errno == ENOMEM)
        return no_memory(s);
    if (count < 0)
        return note(s, directory, "unreadable", strerror(errno), record_clock() - start);
    char reason[48];
    snprintf(reason, sizeof reason, "%d candidate%s", count, count == 1 ? "" : "s");
    collet_status status = note(s, directory, "ok", reason, record_clock() - start);
    if (status == COLLET_OK)
        status = take_entries(s, directory, entries, count);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return status;
}

/* ---- The path ---------------------------------------------------------------------------- */

static collet_status take_element(search *s, const char *element)
{
    struct stat st;
    if (element[0] != '/')
        return note(s, element, "relative-path",
                    "only absolute paths are searched; the current directory is not trusted", 0);
    if (stat(element, &st))
        return errno == ENOENT || errno == ENOTDIR
                   ? note(s, element, "not-found", "it does not exist", 0)
                   : note(s, element, "unreadable", strerror(errno), 0);
    if (!S_ISDIR(st.st_mode)) {
        char *path = strdup(element);
        return path ? take_file(s, path) : no_memory(s);
    }
    int fresh = remember(s, &st);
    if (fresh < 0)
        return no_memory(s);
    return fresh ? take_directory(s, element)
                 : note(s, element, "duplicate-directory", "searched before", 0);
}

/* Splits the path at colons. Empty elements are skipped; they do not stand for the current directory. */
static collet_status take_list(search *s, const char *list)
{
    collet_status status = COLLET_OK;
    char *copy = strdup(list), *rest = copy, *element;
    if (!copy)
        return no_memory(s);
    while (status == COLLET_OK && (element = strsep(&rest, ":")))
        if (element[0])
            status = take_element(s, element);
    free(copy);
    return status;
}

/* Sets *path to the user's directory ".../collet/plugins"; NULL if there is none. */
static collet_status user_directory(search *s, char **path)
{
    const char *data = secure_getenv("XDG_DATA_HOME"), *home = secure_getenv("HOME");
    int n = 0;
    if (data && data[0] == '/')
        n = asprintf(path, "%s/collet/plugins", data);
    else if (home && home[0] == '/')
        n = asprintf(path, "%s/.local/share/collet/plugins", home);
    if (n >= 0)
        return COLLET_OK;
    *path = NULL;
    return no_memory(s);
}

static collet_status take_defaults(search *s)
{
    char *core = file_core_directory(), *own = NULL, *user = NULL;
    collet_status status = COLLET_OK;
    if (core && asprintf(&own, "%s/collet", core) < 0) {
        own = NULL;
        status = no_memory(s);
    }
    if (status == COLLET_OK && own)
        status = take_element(s, own);
    if (status == COLLET_OK)
        status = user_directory(s, &user);
    if (status == COLLET_OK && user)
        status = take_element(s, user);
    if (status == COLLET_OK)
        status = take_element(s, COLLET_SYSTEM_PLUGIN_DIRECTORY);
    free(user);
    free(own);
    free(core);
    return status;
}

/* Searches one list. Unless the list begins with '+', it replaces the following lists, and *more becomes 0. */
static collet_status take_setting(search *s, const char *list, int *more)
{
    *more = 1;
    if (!list || !list[0])
        return COLLET_OK;
    *more = list[0] == '+';
    s->named = 1;
    collet_status status = take_list(s, list + *more);
    s->named = 0;
    return status;
}

collet_status search_files(const loader_options *options, record_list *records,
                           search_result *result, collet_error *err)
{
    search s = {.host = options->host, .records = records, .result = result, .err = err};
    int more;
    *result = (search_result){.files = NULL};
    collet_status status = take_setting(&s, options->program_path, &more);
    if (status == COLLET_OK && more)
        status = take_setting(&s, options->environment_path, &more);
    if (status == COLLET_OK && more)
        status = take_defaults(&s);
    free(s.seen);
    return status;
}

void search_clear(search_result *result)
{
    for (size_t i = 0; i < result->count; i++)
        free(result->files[i]);
    free(result->files);
    *result = (search_result){.files = NULL};
}

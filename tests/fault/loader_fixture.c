/* SPDX-License-Identifier: Apache-2.0 */
#include "loader_fixture.h"

#include <dirent.h>
#include <sys/stat.h>

#include <collet/collet.h>

static void host_log(const collet_host *host, int32_t level, const char *format, ...)
{
}

static void host_log_text(const collet_host *host, int32_t level, const char *text)
{
    host_log(host, level, "%s", text);
}

static int32_t host_threads(const collet_host *host)
{
    return 2;
}

static const char *host_config(const collet_host *host, const char *key)
{
    return NULL;
}

static const void *no_extension(const collet_host *of, const char *name)
{
    return NULL;
}

const collet_host fixture_host = {.abi = COLLET_ABI,
                                  .struct_size = sizeof(collet_host),
                                  .fail = collet_fail,
                                  .log = host_log,
                                  .threads = host_threads,
                                  .config = host_config,
                                  .extension = no_extension,
                                  .fail_text = collet_fail_text,
                                  .log_text = host_log_text};

static void release(fixture *f)
{
    loader_plugins_free(f->plugins, f->count);
    record_list_free(f->records);
    f->plugins = NULL;
    f->records = NULL;
    f->count = 0;
}

int fixture_setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    strcpy(f->directory, "/tmp/collet-zoo-XXXXXX");
    if (!mkdtemp(f->directory))
        return -1;
    strcpy(f->path, f->directory);
    f->options = (loader_options){.program_path = f->path,
                                  .probe_program = COLLET_TEST_PROBE,
                                  .probe = 1,
                                  .timeout_ms = 20000,
                                  .host = &fixture_host};
    *state = f;
    return 0;
}

static void remove_tree(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        char below[PATH_MAX];
        struct stat st;
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (!lstat(below, &st) && S_ISDIR(st.st_mode))
            remove_tree(below);
        else
            unlink(below);
    }
    if (directory)
        closedir(directory);
    rmdir(path);
}

int fixture_teardown(void **state)
{
    fixture *f = *state;
    release(f);
    remove_tree(f->directory);
    free(f);
    return 0;
}

const char *fixture_path(const fixture *f, const char *name)
{
    static char buffers[4][PATH_MAX];
    static unsigned next;
    char *path = buffers[next++ % 4];
    snprintf(path, PATH_MAX, "%s/%s", f->directory, name);
    return path;
}

char *fixture_read(const char *path, size_t *count)
{
    struct stat st;
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &st))
        fail_msg("cannot read %s", path);
    char *bytes = malloc((size_t)st.st_size + 1);
    assert_non_null(bytes);
    *count = fread(bytes, 1, (size_t)st.st_size, file);
    bytes[*count] = '\0';
    fclose(file);
    return bytes;
}

void fixture_write(fixture *f, const char *name, const void *bytes, size_t count)
{
    FILE *file = fopen(fixture_path(f, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(fixture_path(f, name), 0644), 0);
}

static char *zoo_bytes(const char *zoo, size_t *count)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%szoo_%s.so", COLLET_TEST_ZOO,
             strcmp(zoo, "plain_library") ? "" : "lib", zoo);
    return fixture_read(path, count);
}

void fixture_add(fixture *f, const char *zoo, const char *name)
{
    size_t count;
    FREED(char) *bytes = zoo_bytes(zoo, &count);
    fixture_write(f, name, bytes, count);
}

void fixture_add_manifest(fixture *f, const char *name, const char *text)
{
    size_t count, length = strlen(text);
    char *bytes = zoo_bytes("good", &count), blanks[100];
    memset(blanks, ' ', sizeof blanks);
    char *place = memmem(bytes, count, "{\"name\"", 7);
    char *blank = memmem(bytes, count, blanks, sizeof blanks);
    assert_true(place && blank > place);
    size_t space = (size_t)(blank - place) + strspn(blank, " ");
    assert_true(length <= space);
    memset(place, ' ', space);
    memcpy(place, text, length);
    fixture_write(f, name, bytes, count);
    free(bytes);
}

void fixture_add_patched(fixture *f, const char *name, size_t offset, const void *bytes,
                         size_t count)
{
    size_t size;
    FREED(char) *file = zoo_bytes("good", &size);
    assert_true(offset + count <= size);
    memcpy(file + offset, bytes, count);
    fixture_write(f, name, file, size);
}

int fixture_descriptors(void)
{
    int count = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count;
}

void fixture_scan(fixture *f)
{
    collet_error err = {.text = ""};
    release(f);
    int open = fixture_descriptors();
    assert_int_equal(record_list_create(&f->records, &err), COLLET_OK);
    collet_status status = loader_scan(&f->options, f->records, &f->plugins, &f->count, &err);
    if (status != COLLET_OK)
        fail_msg("loader_scan: %s", err.text);
    assert_int_equal(fixture_descriptors(), open);
}

static int is_named(const char *path, const char *name)
{
    size_t length = strlen(path), n = strlen(name);
    return length >= n && !strcmp(path + length - n, name) &&
           (length == n || path[length - n - 1] == '/' || name[0] == '/');
}

const collet_plugin_record *fixture_record(const fixture *f, const char *name, const char *stage)
{
    for (size_t i = record_count(f->records); i-- > 0;) {
        const collet_plugin_record *entry = record_at(f->records, i);
        if (is_named(entry->path, name) && !strcmp(entry->stage, stage))
            return entry;
    }
    for (size_t i = 0; i < record_count(f->records); i++) {
        const collet_plugin_record *entry = record_at(f->records, i);
        print_message("%s %s %s: %s\n", entry->path, entry->stage, entry->code, entry->reason);
    }
    fail_msg("no record of %s at stage %s", name, stage);
    return NULL;
}

const loader_plugin *fixture_plugin(const fixture *f, const char *name)
{
    for (size_t i = 0; i < f->count; i++)
        if (!strcmp(f->plugins[i].name, name))
            return &f->plugins[i];
    return NULL;
}

void fixture_assert_refused(const fixture *f, const char *name, const char *stage, const char *code,
                            const char *reason)
{
    const collet_plugin_record *entry = fixture_record(f, name, stage);
    if (strcmp(entry->code, code) || entry->accepted || !strstr(entry->reason, reason))
        fail_msg("%s: refused as %s (%s), not as %s (...%s...)", name, entry->code, entry->reason,
                 code, reason);
    for (size_t i = 0; i < f->count; i++)
        if (is_named(f->plugins[i].path, name)) {
            assert_false(f->plugins[i].usable);
            assert_string_equal(f->plugins[i].code, code);
            assert_string_equal(f->plugins[i].reason, entry->reason);
        }
}

void fixture_assert_proven(const fixture *f, const char *name)
{
    const loader_plugin *p = fixture_plugin(f, name);
    if (!p)
        fail_msg("%s was not found", name);
    if (!p->usable || p->unproven)
        fail_msg("%s: %s: %s", p->path, p->code, p->reason);
    assert_non_null(p->capabilities);
    assert_string_equal(p->code, "ok");
    assert_string_equal(p->reason, "");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/fault/test_probe_cache.c, tests/fault/test_loader_cache.c */
#include "probe_cache.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <collet/collet.h>

#include "capabilities.h"
#include "util/cache_directory.h"
#include "util/json.h"

#define CACHE_FORMAT 2
#define MAX_FILE ((size_t)1 << 21)
#define BRIEF 86400      /* seconds for which a brief report is valid */
#define MAX_CONTENT 4096 /* bytes of a file in /proc that a report depends on */

/* ---- Key --------------------------------------------------------------------------------- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return file_hash(hash, text, strlen(text) + 1); /* with the NUL, so that "ab","c" differs from
                                                       "a","bc" */
}

/* Hashes the contents of a file that the kernel generates, because its times are not stable. Only
 * regular files are read: reading a FIFO or a terminal would take data from another process. */
static uint64_t hash_contents(uint64_t hash, const char *path)
{
    char content[MAX_CONTENT];
    struct stat st;
    if (stat(path, &st))
        return hash_text(hash, "missing");
    if (!S_ISREG(st.st_mode))
        return hash_text(hash, "there");
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t n = fd < 0 ? 0 : read(fd, content, sizeof content);
    if (fd >= 0)
        close(fd);
    return file_hash(hash, content, n > 0 ? (size_t)n : 0);
}

/* Hashes the identity of the file at a path. */
static uint64_t hash_path(uint64_t hash, const char *path)
{
    file_identity identity;
    if (!strncmp(path, "/proc/", 6) || !strncmp(path, "/sys/", 5) || !strncmp(path, "/dev/", 5))
        return hash_contents(hash, path);
    if (file_identify_path(path, &identity))
        return hash_text(hash, "missing");
    return file_hash(hash, &identity, sizeof identity);
}

/* Hashes the number of processors, not the set, because each process of a job has its own set. */
static uint64_t hash_affinity(uint64_t hash)
{
    cpu_set_t own;
    int count = sched_getaffinity(0, sizeof own, &own) == 0 ? CPU_COUNT(&own) : 0;
    return file_hash(hash, &count, sizeof count);
}

/* Hashes the limits, because drivers end a program whose limits of threads, files or bytes are too
 * low. */
static uint64_t hash_limits(uint64_t hash)
{
    /* The calls are not in a loop, because the type of the first argument differs between C libraries. */
    struct rlimit limits[7] = {{0}};
    getrlimit(RLIMIT_AS, &limits[0]);
    getrlimit(RLIMIT_DATA, &limits[1]);
    getrlimit(RLIMIT_STACK, &limits[2]);
    getrlimit(RLIMIT_NOFILE, &limits[3]);
    getrlimit(RLIMIT_NPROC, &limits[4]);
    getrlimit(RLIMIT_MEMLOCK, &limits[5]);
    getrlimit(RLIMIT_FSIZE, &limits[6]);
    for (int i = 0; i < 7; i++)
        hash = file_hash(hash, &limits[i].rlim_cur, sizeof limits[i].rlim_cur);
    return hash;
}

/* Uses a sum, which does not depend on the order of the environment. */
static uint64_t hash_variables(uint64_t hash, const char *pattern)
{
    size_t length = strlen(pattern);
    int prefix = pattern[length - 1] == '*'; /* length > 0: manifests refuse empty names */
    uint64_t sum = 0;
    length -= prefix ? 1 : 0;
    for (char **variable = environ; variable && *variable; variable++)
        if (!strncmp(*variable, pattern, length) && (prefix || (*variable)[length] == '='))
            sum += hash_text(FILE_HASH_START, *variable);
    return file_hash(hash, &sum, sizeof sum);
}

/* Hashes "key=value", and the file that an absolute path names: a library may be replaced. */
static uint64_t hash_setting(uint64_t hash, const char *text)
{
    const char *value = strchr(text, '=');
    hash = hash_text(hash, text);
    return value && value[1] == '/' ? hash_path(hash, value + 1) : hash;
}

static uint64_t hash_key(const probe_cache_key *key)
{
    static const char *const always[] = {"LD_LIBRARY_PATH", "LD_PRELOAD", "COLLET_*"};
    uint64_t hash = hash_text(FILE_HASH_START, COLLET_VERSION);
    uint32_t abi = COLLET_ABI;
    hash = file_hash(hash, &abi, sizeof abi);
    hash = hash_text(hash, key->path);
    hash = hash_path(hash, key->program ? key->program : "");
    hash = file_hash(hash, key->file, sizeof *key->file);
    hash = hash_text(hash, key->manifest->build_id);
    hash = hash_path(hash, "/proc/sys/kernel/random/boot_id");
    hash = file_hash(hash, &key->threads, sizeof key->threads);
    hash = hash_affinity(hash);
    hash = hash_limits(hash);
    for (size_t i = 0; key->settings && key->settings[i]; i++)
        hash = hash_setting(hash, key->settings[i]);
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        hash = hash_variables(hash, always[i]);
    for (size_t i = 0; i < key->manifest->depends_count; i++) {
        const char *what = key->manifest->depends[i];
        hash = what[0] == '/' ? hash_path(hash, what) : hash_variables(hash, what);
    }
    return hash;
}

static void file_name(const probe_cache_key *key, char name[64])
{
    snprintf(name, 64, "probe-%016llx-%016llx.json",
             (unsigned long long)hash_text(FILE_HASH_START, key->path),
             (unsigned long long)hash_key(key));
}

/* ---- Reading ----------------------------------------------------------------------------- */

/* 1 for refusals because of the plugin's table, which does not depend on drivers or libraries. */
static int refusal_lasts(const char *code)
{
    return !strcmp(code, "missing-entry") || !strcmp(code, "entry-null") ||
           !strcmp(code, "kernels-differ") || !strncmp(code, "vtable-", 7);
}

static int report_lasts(const manifest *m, const char *code, const char *reason,
                        const char *capabilities)
{
    int32_t lasting;
    if (strcmp(code, "ok"))
        return refusal_lasts(code) && strlen(code) < 48 && !capabilities &&
               strlen(reason) <= COLLET_ERROR_TEXT;
    return capabilities && !reason[0] &&
           capabilities_verify(capabilities, NULL, &lasting, NULL) == COLLET_OK &&
           (lasting || m->named_devices);
}

static int parse_report(const probe_cache_key *of, const char *text, size_t length,
                        const char *name, int old, probe_report *report)
{
    cJSON *root = NULL;
    int64_t format;
    if (json_parse(text, length, &root, NULL, NULL) != COLLET_OK)
        return 0;
    const char *key = json_string(root, "key"), *code = json_string(root, "code");
    const char *reason = json_string(root, "reason");
    const char *capabilities = json_string(root, "capabilities");
    int fine = json_integer(root, "format", CACHE_FORMAT, CACHE_FORMAT, &format) && key &&
               !strcmp(key, name) && code && reason &&
               !(old && cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(root, "brief"))) &&
               report_lasts(of->manifest, code, reason, capabilities) &&
               probe_report_set(report, code, reason, capabilities, 0, NULL) == COLLET_OK;
    cJSON_Delete(root);
    return fine;
}

int probe_cache_get(const probe_cache_key *key, probe_report *report)
{
    char name[64];
    size_t length;
    int64_t written;
    int directory = cache_directory_open(key->directory, 0);
    if (directory < 0)
        return 0;
    file_name(key, name);
    char *text = cache_file_read(directory, name, MAX_FILE, &length, &written);
    close(directory);
    int found = text && parse_report(key, text, length, name, written < time(NULL) - BRIEF, report);
    free(text);
    return found;
}

/* ---- Writing ----------------------------------------------------------------------------- */

static char *print_report(const probe_cache_key *key, const char *name, const probe_report *report,
                          int brief)
{
    char *text = NULL;
    cJSON *root = cJSON_CreateObject();
    collet_error shown; /* a path may hold any bytes */
    collet_fail(&shown, COLLET_OK, "%s", key->path);
    if (root && cJSON_AddNumberToObject(root, "format", CACHE_FORMAT) &&
        cJSON_AddStringToObject(root, "path", shown.text) &&
        cJSON_AddStringToObject(root, "key", name) &&
        cJSON_AddStringToObject(root, "code", report->code) &&
        cJSON_AddStringToObject(root, "reason", report->reason) &&
        (!brief || cJSON_AddTrueToObject(root, "brief")) &&
        (!report->capabilities ||
         cJSON_AddStringToObject(root, "capabilities", report->capabilities)))
        text = json_print(root);
    cJSON_Delete(root);
    return text;
}

void probe_cache_put(const probe_cache_key *key, const probe_report *report, int brief)
{
    char name[64];
    if (report->unproven ||
        !report_lasts(key->manifest, report->code, report->reason, report->capabilities))
        return;
    int directory = cache_directory_open(key->directory, 1);
    if (directory < 0)
        return;
    file_name(key, name);
    char *text = print_report(key, name, report, brief);
    if (text && strlen(text) <= MAX_FILE)
        (void)cache_file_replace(directory, name, text);
    cache_directory_prune(directory, "probe-", PROBE_CACHE_FILES, name);
    free(text);
    close(directory);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls and allocations fail while plugins are searched for, examined, probed (by a stand-in
 * for collet-probe) and stored in the cache. Each failure becomes a reason or an error with a text,
 * or has no effect. No descriptor, process, file or memory is left.
 */
#include "common/failing_calls.h"
#include "common/failing_malloc.h"
#include "loader_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cjson/cJSON.h>

#include "plugins/trust.h"
#include "settings/config.h"

void *__wrap_malloc(size_t size);
void __wrap_free(void *p);

static char path[PATH_MAX], cache[PATH_MAX], program[PATH_MAX];
static const char *const settings[] = {"zoo_own_op.devices=3", NULL};

/* zoo_fragile ends the process unless it is in safe mode. */
static const char stand_in[] =
    "#!/bin/sh\n"
    "case $*-$1 in *safe_mode=*) ;; *fragile*) printf lec >&3; echo no >&2; exit 3 ;; esac\n"
    "printf '%s\\n' 'levc{\"code\":\"ok\",\"reason\":\"\",\"unproven\":false,\"capabilities\":"
    "\"{\\\"jit\\\":false,\\\"parallel\\\":false,\\\"gpu\\\":false,\\\"device_count\\\":1,"
    "\\\"devices\\\":[{\\\"name\\\":\\\"d\\\"}]}\"}' >&3\n";

static int set_up(void **state)
{
    if (fixture_setup(state))
        return -1;
    fixture *f = *state;
    cJSON_InitHooks(&(cJSON_Hooks){__wrap_malloc, __wrap_free});
    assert_int_equal(mkdir(fixture_path(f, "sub"), 0755), 0);
    fixture_add(f, "good", "good.so");
    fixture_add(f, "fragile", "sub/fragile.so");
    assert_int_equal(symlink("sub/fragile.so", fixture_path(f, "fragile.so")), 0);
    fixture_write(f, "collet.conf", "plugin_path = +/file\n", 21);
    assert_int_equal(chdir(f->directory), 0);
    fixture_write(f, "probe", stand_in, strlen(stand_in));
    snprintf(program, sizeof program, "%s", fixture_path(f, "probe"));
    assert_int_equal(chmod(program, 0755), 0);
    snprintf(cache, sizeof cache, "%s", fixture_path(f, "kept/here"));
    snprintf(path, sizeof path, "+%s", f->directory);
    f->options.program_path = path;
    f->options.probe_program = program;
    f->options.cache_directory = cache;
    f->options.settings = settings;
    return 0;
}

/* ---- What a failure may leave ---------------------------------------------------------------- */

/* Removes the cache; returns the number of files in it that still have temporary names. */
static int clear_cache(const fixture *f)
{
    int unfinished = 0;
    struct dirent *entry;
    DIR *directory = opendir(cache);
    while (directory && (entry = readdir(directory))) {
        unfinished += !strncmp(entry->d_name, ".probe", 6);
        unlinkat(dirfd(directory), entry->d_name, 0);
    }
    if (directory)
        closedir(directory);
    rmdir(cache);
    rmdir(fixture_path(f, "kept"));
    return unfinished;
}

/* Reads the settings from a configuration file below the current directory. */
static collet_status configure(collet_error *err)
{
    static const char *const defaults[] = {"backend=cpu_scalar", NULL};
    const collet_runtime_options options = {.struct_size = sizeof options,
                                            .plugin_path = "+/program",
                                            .config_file = "collet.conf",
                                            .backend = "auto",
                                            .defaults = defaults};
    config *c = NULL;
    collet_status status = config_create(&c, &options, err);
    if (status == COLLET_OK)
        assert_string_equal(config_text(c, CONFIG_PLUGIN_PATH), "+/program:/file");
    config_destroy(c);
    return status;
}

/* Scans twice (the second time with the cache of the first), then opens a plugin. `reasons` gets
 * the records and the error. */
static collet_status session(const fixture *f, char *reasons, size_t size, collet_error *err)
{
    size_t used = 0;
    collet_status status = configure(err);
    for (int i = 0; i < 2 && status == COLLET_OK; i++) {
        record_list *records = NULL;
        loader_plugin *plugins = NULL;
        const collet_plugin *table;
        size_t count = 0;
        status = record_list_create(&records, err);
        if (status == COLLET_OK)
            status = loader_scan(&f->options, records, &plugins, &count, err);
        for (size_t k = 0; status == COLLET_OK && i && k < count; k++)
            if (plugins[k].usable)
                status = loader_open(&plugins[k], &fixture_host, records, &table, err);
        for (size_t k = 0; records && k < record_count(records) && used < size; k++)
            used += (size_t)snprintf(reasons + used, size - used, "%s\n",
                                     record_at(records, k)->reason);
        loader_plugins_free(plugins, count);
        record_list_free(records);
    }
    if (used < size)
        snprintf(reasons + used, size - used, "%s\n", err->text);
    return status;
}

/* ---- Calls of the system --------------------------------------------------------------------- */

typedef struct failing_case {
    const char *call;
    int error;
    const char *text; /* part of a reason or of the error; "": there is none */
} failing_case;

static const failing_case cases[] = {
    {"fstat", EIO, "cannot be examined: Input/output error"},
    {"stat", EACCES, "Permission denied"},
    {"stat", ENOENT, "it does not exist"},
    {"stat", ENOTDIR, "the file changed while it was probed"},
    {"fstatat", EIO, "cannot be opened: Input/output error"},
    {"open", EMFILE, "cannot be opened: Too many open files"},
    {"openat", EMFILE, "cannot be opened: Too many open files"},
    {"readlinkat", EIO, "cannot be opened: Input/output error"},
    {"pread", EIO, "cannot be read: Input/output error"},
    {"pread", CALL_SHORT, "it became shorter while it was read"},
    {"pread", EINTR, ""},
    {"pipe2", EMFILE, "cannot be started: Too many open files"},
    {"fcntl", EMFILE, "(raise the limit of open files: ulimit -n)"},
    {"fcntl", EINVAL, "(raise the limit of open files: ulimit -n)"},
    {"posix_spawn_file_actions_init", EPERM, "cannot be started: Operation not permitted"},
    {"posix_spawnattr_init", EPERM, "cannot be started: Operation not permitted"},
    {"posix_spawn_file_actions_adddup2", ENOMEM, "out of memory for a probe"},
    {"posix_spawn", EAGAIN, "(raise the limit of processes: ulimit -u)"},
    {"posix_spawn", ENOMEM, "out of memory for a probe"},
    {"poll", EINTR, ""},
    {"waitpid", ECHILD, ""},
    {"read", EIO, "reported nothing"},
    {"read", EINTR, ""},
    {"read", CALL_SHORT, ""},
    {"write", ENOSPC, ""},
    {"write", EINTR, ""},
    {"write", CALL_SHORT, ""},
    {"mkdir", EACCES, ""},
    {"renameat", EACCES, ""},
    {"close", EIO, ""},
    {"fdopendir", ENOMEM, ""},
    {"fopen", EMFILE, ""},
    {"getcwd", ENOENT, "collet.conf is not used: cannot be opened: No such file"},
    {"fdopen", ENOMEM, "out of memory for collet.conf"},
    {"openat", ENOMEM, "out of memory while plugins were searched"},
};

/* Runs sessions in which the first call fails, then the second, ... until all calls have failed
 * once. If there are many calls, the test makes only some of them fail. Returns the number of
 * sessions. */
static long every_call_may_fail(const fixture *f, const failing_case *c)
{
    static char reasons[65536];
    int said = !c->text[0];
    long n = 0, sessions = 0;
    /* Which call of a probe is the n-th depends on the speed of processes. So the test repeats until a failure gave the
     * text. */
    for (int failed = 1, rounds = 3; failed; n += n < 10 || !said ? 1 : 3) {
        collet_error err = {COLLET_OK, ""};
        int before = fixture_descriptors();
        long allocated = allocation_outstanding;
        call_fails(c->call, n, c->error);
        collet_status status = session(f, reasons, sizeof reasons, &err);
        failed = call_failed();
        sessions++;
        call_fails(NULL, 0, 0);
        if ((status != COLLET_OK) != (err.text[0] != '\0') || (status != COLLET_OK && !c->text[0]))
            fail_msg("%s %ld: status %d (%s)", c->call, n, status, err.text);
        int files = clear_cache(f), descriptors = fixture_descriptors() - before;
        allocated = allocation_outstanding - allocated;
        if (files || descriptors || allocated)
            fail_msg("%s %ld: %d files, %d descriptors, %ld allocations are left", c->call, n,
                     files, descriptors, allocated);
        /* (If waitpid failed, the child that it did not collect is still there.) */
        if (waitpid(-1, NULL, WNOHANG) >= 0 && strcmp(c->call, "waitpid"))
            fail_msg("%s %ld: a process is left", c->call, n);
        said |= c->text[0] && strstr(reasons, c->text);
        if (!failed && !said && --rounds > 0) {
            failed = 1;
            n = -1;
        }
    }
    if (!said || sessions < 2)
        fail_msg("%s: %ld sessions, and none says '%s'\n%s", c->call, sessions, c->text, reasons);
    return sessions;
}

TEST_WITH(calls_of_the_system, set_up, fixture_teardown)
{
    long sessions = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        sessions += every_call_may_fail(*state, &cases[i]);
    print_message("%ld sessions\n", sessions);
}

/* ---- Allocations ----------------------------------------------------------------------------- */

TEST_WITH(every_allocation_may_fail, set_up, fixture_teardown)
{
    fixture *f = *state;
    char reasons[4096];
    long n = 0, reported = 0;
    snprintf(path, sizeof path, "+%s", fixture_path(f, "sub"));
    for (;; n++) {
        collet_error err = {COLLET_OK, ""};
        long before = allocation_outstanding;
        allocation_failed = 0;
        allocation_countdown = n;
        collet_status status = session(f, reasons, sizeof reasons, &err);
        allocation_countdown = -1;
        clear_cache(f);
        if (allocation_outstanding != before)
            fail_msg("allocation %ld: %ld blocks leaked (%s)", n, allocation_outstanding - before,
                     err.text);
        if (status != COLLET_OK && (status != COLLET_NO_MEMORY || !err.text[0]))
            fail_msg("allocation %ld: status %d (%s)", n, status, err.text);
        reported += status != COLLET_OK;
        if (!allocation_failed)
            break;
    }
    print_message("%ld allocations, %ld failures reported\n", n, reported);
    assert_true(n > 100 && reported > n / 2);
    assert_contains(reasons, "in safe mode: the probe ended the process");
}

/* ---- Groups and owners ----------------------------------------------------------------------- */

typedef struct group_case {
    const char *group, *user; /* names; NULL: unknown */
    const char *members[3];
    int error, trusted;
} group_case;

static const group_case groups[] = {
    {"me", "me", {NULL}, 0, 1},          {"me", "me", {"me", NULL}, 0, 1},
    {"me", "me", {"me", "you"}, 0, 0},   {"me", "me", {"you", NULL}, 0, 0},
    {"staff", "me", {"me", NULL}, 0, 0}, {NULL, "me", {NULL}, 0, 0},
    {"me", NULL, {NULL}, 0, 0},          {"me", "me", {NULL}, ERANGE, 0},
};
static const group_case *names;
static uid_t user;
static const char *trusted = "";

int __real_getgrgid_r(gid_t id, struct group *out, char *text, size_t size, struct group **found);
int __wrap_getgrgid_r(gid_t id, struct group *out, char *text, size_t size, struct group **found);
int __real_getpwuid_r(uid_t id, struct passwd *out, char *text, size_t size, struct passwd **found);
int __wrap_getpwuid_r(uid_t id, struct passwd *out, char *text, size_t size, struct passwd **found);
uid_t __real_geteuid(void);
uid_t __wrap_geteuid(void);

int __wrap_getgrgid_r(gid_t id, struct group *out, char *text, size_t size, struct group **found)
{
    if (!names)
        return __real_getgrgid_r(id, out, text, size, found);
    *out = (struct group){.gr_name = (char *)(uintptr_t)names->group,
                          .gr_mem = (char **)(uintptr_t)names->members};
    *found = names->group ? out : NULL;
    return 0;
}

int __wrap_getpwuid_r(uid_t id, struct passwd *out, char *text, size_t size, struct passwd **found)
{
    if (!names)
        return __real_getpwuid_r(id, out, text, size, found);
    *out = (struct passwd){.pw_name = (char *)(uintptr_t)names->user};
    *found = names->user ? out : NULL;
    return names->error;
}

int __wrap_getgrouplist(const char *name, gid_t group, gid_t *list, int *count);
int __wrap_getgrouplist(const char *name, gid_t group, gid_t *list, int *count)
{
    if (strcmp(name, "me") || *count < 2)
        return -1;
    list[0] = group;
    list[1] = 54399;
    return *count = 2;
}

uid_t __wrap_geteuid(void)
{
    return user ? user : __real_geteuid();
}

static void expect_trust(const char *file, const char *code, const char *text)
{
    refusal why;
    int fd = -1;
    collet_status status = trust_open(file, trusted, &fd, &why);
    if (strcmp(why.code, code) || (status != COLLET_OK && !strstr(why.text, text)))
        fail_msg("%.80s: %s (%s), not %s (%s)", file, why.code, why.text, code, text);
    assert_int_equal(status == COLLET_OK, fd >= 0);
    if (fd >= 0)
        close(fd);
}

TEST_WITH(group_of_the_user, set_up, fixture_teardown)
{
    const char *file = fixture_path(*state, "good.so");
    if (geteuid() || chown(file, 0, 54321))
        skip();
    assert_int_equal(chmod(file, 0664), 0);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        names = &groups[i];
        expect_trust(file, names->trusted ? "ok" : "group-writable", "members of the group ");
    }
    names = NULL;
    expect_trust(file, "group-writable", "members of the group ");
}

/* Checks files of the user, of libcore's owner, and of another user. */
TEST_WITH(owners, set_up, fixture_teardown)
{
    const char *file = fixture_path(*state, "good.so");
    if (geteuid() || chown(file, 54321, 0) || chown(((fixture *)*state)->directory, 0, 0))
        skip();
    user = 54321;
    expect_trust(file, "ok", "");
    user = 54322;
    expect_trust(file, "foreign-owner", "54321");
    for (long n = 0; n < 3; n++) { /* libcore's owner is unknown */
        call_fails("stat", n, EIO);
        expect_trust(file, "foreign-owner", "54321");
    }
    call_fails(NULL, 0, 0);
    /* Owners that are members of a trusted group; every group here has the name "staff". */
    names = &groups[4];
    expect_trust(file, "foreign-owner", "user me: ");
    trusted = "54398, 54399";
    expect_trust(file, "ok", "");
    trusted = "staff";
    expect_trust(file, "ok", "");
    trusted = "stuff";
    expect_trust(file, "foreign-owner", "user me: ");
    names = &groups[6]; /* an owner without a name */
    trusted = "54399";
    expect_trust(file, "foreign-owner", "54321");
    names = NULL;
    trusted = "";
    user = 0;
}

/* ---- Ways ------------------------------------------------------------------------------------ */

TEST_WITH(links, set_up, fixture_teardown)
{
    const fixture *f = *state;
    static char target[PATH_MAX], way[2 * PATH_MAX];
    expect_trust("good.so", "unreadable", "Invalid argument");
    expect_trust("/", "unreadable", "No such file");
    expect_trust("/..", "not-regular", "not a regular file");
    snprintf(way, sizeof way, "%s/./sub/.././/good.so", f->directory);
    expect_trust(way, "ok", "");
    snprintf(way, sizeof way, "/../%s/good.so", f->directory);
    expect_trust(way, "ok", "");
    snprintf(way, sizeof way, "%s/%0*d", f->directory, PATH_MAX, 0);
    expect_trust(way, "unreadable", "File name too long");
    memset(target, '/', sizeof target - 1); /* the longest possible link */
    memcpy(target, "sub", 3);
    assert_int_equal(symlink(target, fixture_path(f, "long")), 0);
    snprintf(way, sizeof way, "%s/long/fragile.so", f->directory);
    expect_trust(way, "unreadable", "File name too long");
    assert_int_equal(chmod(fixture_path(f, "sub"), 01777), 0);
    assert_int_equal(symlink("../good.so", fixture_path(f, "sub/theirs")), 0);
    expect_trust(fixture_path(f, "sub/theirs"), "ok", "");
    if (geteuid() || lchown(fixture_path(f, "sub/theirs"), 54321, 54321))
        skip();
    expect_trust(fixture_path(f, "sub/theirs"), "foreign-owner", "the link");
}

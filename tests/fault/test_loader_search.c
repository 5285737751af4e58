/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the search path of plugins, which files are trusted, and which of two duplicates is used.
 */
#include "loader_fixture.h"

#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include <collet/collet.h>

#include "plugins/trust.h"

static void two_good(fixture *f)
{
    fixture_add(f, "good", "good.so");
    fixture_add(f, "own_op", "own_op.so");
}

/* own_op.so is refused by policy, good.so is accepted. */
static void expect_policy(fixture *f, const char *code, const char *reason)
{
    fixture_scan(f);
    fixture_assert_proven(f, "zoo_good");
    fixture_assert_refused(f, "own_op.so", "policy", code, reason);
}

TEST_WITH(world_writable_file, fixture_setup, fixture_teardown)
{
    two_good(*state);
    assert_int_equal(chmod(fixture_path(*state, "own_op.so"), 0646), 0);
    expect_policy(*state, "world-writable", "chmod");
}

TEST_WITH(foreign_owner, fixture_setup, fixture_teardown)
{
    two_good(*state);
    if (geteuid() || chown(fixture_path(*state, "own_op.so"), 54321, 54321))
        skip();
    expect_policy(*state, "foreign-owner", "54321");
    ((fixture *)*state)->options.trust_group = "root,ROOT";
    expect_policy(*state, "foreign-owner", "are trusted: 'ROOT' in trust_group is not a group");
}

static void subdirectory(fixture *f, const char *name, mode_t mode)
{
    assert_int_equal(mkdir(fixture_path(f, name), 0755), 0);
    assert_int_equal(chmod(fixture_path(f, name), mode), 0);
}

/* Calls trust_open in a user namespace that maps only root: there the user 54321 looks like any
 * other user outside the namespace. */
static int trusted_in_namespace(const char *path)
{
    refusal why = {.text = ""};
    int status, fd = -1;
    pid_t child = fork();
    if (!child) {
        int map = unshare(CLONE_NEWUSER) ? -1 : open("/proc/self/uid_map", O_WRONLY);
        if (map < 0 || write(map, "0 0 1", 5) != 5)
            _exit(77);
        if (trust_open(path, "", &fd, &why) == COLLET_OK)
            _exit(0);
        _exit(strstr(why.text, "65534, here any user outside of this user namespace") ? 1 : 2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
}

TEST_WITH(user_namespace, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    subdirectory(f, "theirs", 0755);
    subdirectory(f, "theirs/mine", 0755);
    fixture_add(f, "good", "good.so");
    fixture_add(f, "own_op", "theirs/mine/own_op.so");
    if (geteuid() || chown(fixture_path(f, "good.so"), 54321, 0) ||
        chown(fixture_path(f, "theirs"), 54321, 0) || trusted_in_namespace("/dev/null") == 77)
        skip();
    assert_int_equal(trusted_in_namespace(fixture_path(f, "good.so")), 1);
    assert_int_equal(trusted_in_namespace(fixture_path(f, "theirs/mine/own_op.so")), 0);
}

TEST_WITH(world_writable_directory, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    subdirectory(f, "open", 01777);
    fixture_add(f, "good", "good.so");
    fixture_add(f, "own_op", "open/own_op.so");
    snprintf(f->path, sizeof f->path, "%s/open:%s", f->directory, f->directory);
    expect_policy(f, "world-writable-directory", "/open");
    /* A symbolic link in a trusted directory does not bypass the check. */
    assert_int_equal(symlink(fixture_path(f, "open/own_op.so"), fixture_path(f, "own_op.so")), 0);
    strcpy(f->path, f->directory);
    expect_policy(f, "world-writable-directory", "/open");
}

TEST_WITH(foreign_directory, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    subdirectory(f, "theirs", 0755);
    fixture_add(f, "good", "good.so");
    fixture_add(f, "own_op", "theirs/own_op.so");
    if (geteuid() || chown(fixture_path(f, "theirs"), 54321, 54321))
        skip();
    snprintf(f->path, sizeof f->path, "%s/theirs:%s", f->directory, f->directory);
    f->options.trust_group = "ROOT";
    expect_policy(f, "foreign-owner", "54321: ");
    expect_policy(f, "foreign-owner", "are trusted: 'ROOT' in trust_group is not a group");
}

/* A user who may write to a directory above the file's directory can replace the file's
 * directory. */
TEST_WITH(directories_above, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    subdirectory(f, "above", 0777);
    subdirectory(f, "above/below", 0755);
    fixture_add(f, "good", "good.so");
    fixture_add(f, "own_op", "above/below/own_op.so");
    snprintf(f->path, sizeof f->path, "%s/above/below:%s", f->directory, f->directory);
    expect_policy(f, "world-writable-directory", "/above,");
    assert_int_equal(chmod(fixture_path(f, "above"), 01777), 0); /* as /tmp */
    fixture_scan(f);
    fixture_assert_proven(f, "zoo_own_op");
    /* A path through a link is checked, too. */
    assert_int_equal(symlink(f->directory, fixture_path(f, "above/link")), 0);
    snprintf(f->path, sizeof f->path, "%s/above/link/above/below/../below", f->directory);
    fixture_scan(f);
    fixture_assert_proven(f, "zoo_own_op");
    assert_int_equal(chmod(fixture_path(f, "above"), 0777), 0);
    snprintf(f->path, sizeof f->path, "%s/above/link:%s", f->directory, f->directory);
    fixture_scan(f);
    fixture_assert_refused(f, "good.so", "policy", "world-writable-directory", "/above,");
    if (geteuid() || chown(fixture_path(f, "above"), 54321, 54321))
        skip();
    assert_int_equal(chmod(fixture_path(f, "above"), 0755), 0);
    snprintf(f->path, sizeof f->path, "%s/above/below:%s", f->directory, f->directory);
    expect_policy(f, "foreign-owner", "54321");
}

/* A link in a directory that all may write to can be replaced by the user who made it. */
TEST_WITH(foreign_link, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    subdirectory(f, "sticky", 01777);
    subdirectory(f, "below", 0755);
    fixture_add(f, "good", "good.so");
    fixture_add(f, "own_op", "below/own_op.so");
    const char *link = fixture_path(f, "sticky/link");
    if (geteuid() || symlink(fixture_path(f, "below"), link) || lchown(link, 54321, 54321))
        skip();
    snprintf(f->path, sizeof f->path, "%s:%s", link, f->directory);
    expect_policy(f, "foreign-owner", "the link /");
}

TEST_WITH(group_writable, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    two_good(f);
    subdirectory(f, "ours", 0755);
    fixture_add(f, "good", "ours/third.so");
    if (geteuid() || chown(fixture_path(f, "own_op.so"), 0, 54321) ||
        chown(fixture_path(f, "ours"), 0, 54321))
        skip();
    assert_int_equal(chmod(fixture_path(f, "own_op.so"), 0664), 0);
    expect_policy(f, "group-writable", "g-w");
    assert_int_equal(chmod(fixture_path(f, "ours"), 0775), 0);
    snprintf(f->path, sizeof f->path, "%s/ours", f->directory);
    fixture_scan(f);
    fixture_assert_refused(f, "third.so", "policy", "group-writable-directory", "54321");
    const char *reason = fixture_record(f, "third.so", "policy")->reason;
    assert_contains(reason, "members of the group 54321 may write to /tmp/",
                    "set COLLET_TRUST_GROUP=54321 in the environment, ", "else chmod g-w /tmp/",
                    "/ours (the group can then no longer write there)");
    f->options.trust_group = "audio, 5432";
    fixture_scan(f);
    reason = fixture_record(f, "third.so", "policy")->reason;
    assert_contains(reason, "set COLLET_TRUST_GROUP=audio,5432,54321 in the environment, ");
    /* A directory that all may write to is refused, whichever groups are trusted. */
    assert_int_equal(chmod(fixture_path(f, "ours"), 01777), 0);
    fixture_scan(f);
    reason = fixture_record(f, "third.so", "policy")->reason;
    assert_contains(reason, "anyone may create files in /tmp/",
                    "/ours: move it to a directory that only you may write to");
    assert_int_equal(chmod(fixture_path(f, "ours"), 0775), 0);
    /* Root's own group has no other members. */
    assert_int_equal(chown(fixture_path(f, "ours"), 0, 0), 0);
    fixture_scan(f);
    fixture_assert_proven(f, "zoo_good");
}

static int warnings, lines;

static void count_warnings(const collet_host *host, int32_t level, const char *format, ...)
{
    warnings += level == COLLET_LOG_WARNING && !strncmp(format, "the plugin ", 11);
    lines += level <= COLLET_LOG_INFO;
}

/* Three files are refused, two of them for the same reason. If another plugin is usable, one
 * warning is logged for each reason. Otherwise nothing is logged, because an error reports the
 * reasons. */
TEST_WITH(warned_once, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    collet_host host = fixture_host;
    host.log = count_warnings;
    f->options.host = &host;
    subdirectory(f, "open", 0777);
    fixture_add(f, "own_op", "open/a.so");
    fixture_add(f, "own_op", "open/c.so");
    subdirectory(f, "wide", 0777);
    fixture_add(f, "own_op", "wide/b.so");
    snprintf(f->path, sizeof f->path, "%s/open/a.so:%s/wide:%s/open/c.so:%s", f->directory,
             f->directory, f->directory, f->directory);
    fixture_scan(f);
    assert_int_equal(warnings, 0);
    assert_int_equal(lines, 0);
    fixture_add(f, "good", "good.so");
    fixture_scan(f);
    assert_int_equal(warnings, 2);
    assert_int_equal(lines, 2);
}

/* Checks that the reason reports `name` as an unknown group. NULL: checks that the reason reports
 * no unknown group. */
static void assert_unknown_group(const char *reason, const char *name)
{
    char expected[64];
    snprintf(expected, sizeof expected, "'%s' in trust_group is not a group of this system",
             name ? name : "");
    if (!strstr(reason, name ? expected : "group of this system") == !!name)
        fail_msg("%s", reason);
}

/* A typical installation of a laboratory: its group may write to the file and to the
 * directories. */
TEST_WITH(trusted_group, fixture_setup, fixture_teardown)
{
    static const struct {
        const char *groups;
        int trusted;
        const char *unknown;
    } cases[] = {{"54321", 1, NULL}, {"users, 54321", 1, NULL}, {"5432", 0, NULL},
                 {"root", 0, NULL},  {"+54321", 0, "+54321"},   {"root, ROOT", 0, "ROOT"}};
    fixture *f = *state;
    subdirectory(f, "ours", 02775);
    subdirectory(f, "ours/lib", 02775);
    fixture_add(f, "good", "ours/lib/third.so");
    const char *paths[] = {"ours", "ours/lib", "ours/lib/third.so"};
    for (int i = 0; i < 3; i++)
        if (geteuid() || chown(fixture_path(f, paths[i]), 0, 54321) ||
            chmod(fixture_path(f, paths[i]), i < 2 ? 02775 : 0664))
            skip();
    snprintf(f->path, sizeof f->path, "%s/ours/lib", f->directory);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        f->options.trust_group = cases[i].groups;
        fixture_scan(f);
        if (cases[i].trusted) {
            fixture_assert_proven(f, "zoo_good");
            continue;
        }
        fixture_assert_refused(f, "third.so", "policy", "group-writable-directory", "/ours,");
        assert_unknown_group(fixture_record(f, "third.so", "policy")->reason, cases[i].unknown);
    }
    f->options.trust_group = "54321";
    assert_int_equal(chmod(fixture_path(f, "ours/lib"), 02777), 0);
    fixture_scan(f);
    fixture_assert_refused(f, "third.so", "policy", "world-writable-directory", "chmod o-w");
}

enum { OWNER = 1, USER = 2, GROUP = 4, NAMED_GROUP = 8, MASK = 16, OTHERS = 32 };
typedef struct access_list {
    uint32_t version;
    struct {
        uint16_t tag, may;
        uint32_t id;
    } entries[6];
} access_list;

/* With an access control list, the group bits of the mode are the list's mask. The file's group
 * here is root's. */
TEST_WITH(access_control_list, fixture_setup, fixture_teardown)
{
    access_list list = {2,
                        {{OWNER, 7, ~0u},
                         {USER, 7, 54321},
                         {GROUP, 5, ~0u},
                         {NAMED_GROUP, 5, 54322},
                         {MASK, 7, ~0u},
                         {OTHERS, 5, ~0u}}};
    fixture *f = *state;
    two_good(f);
    subdirectory(f, "theirs", 0755);
    fixture_add(f, "good", "theirs/third.so");
    const char *const paths[] = {fixture_path(f, "own_op.so"), fixture_path(f, "theirs")};
    for (int i = 0; i < 2; i++)
        if (geteuid() || setxattr(paths[i], "system.posix_acl_access", &list, sizeof list, 0))
            skip();
    expect_policy(f, "group-writable", "g-w");
    snprintf(f->path, sizeof f->path, "%s/theirs", f->directory);
    fixture_scan(f);
    fixture_assert_refused(f, "third.so", "policy", "group-writable-directory", "/theirs");
    assert_contains(fixture_record(f, "third.so", "policy")->reason, "the user 54321");
    /* Users in the list who may only read are ignored. A group that may write must be trusted. */
    list.entries[1].may = 5;
    assert_int_equal(setxattr(paths[1], "system.posix_acl_access", &list, sizeof list, 0), 0);
    fixture_scan(f);
    fixture_assert_proven(f, "zoo_good");
    list.entries[3].may = 7;
    assert_int_equal(setxattr(paths[1], "system.posix_acl_access", &list, sizeof list, 0), 0);
    fixture_scan(f);
    fixture_assert_refused(f, "third.so", "policy", "group-writable-directory", "group 54322");
    f->options.trust_group = "54322";
    fixture_scan(f);
    fixture_assert_proven(f, "zoo_good");
}

TEST_WITH(loop_of_links, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    fixture_add(f, "good", "good.so");
    assert_int_equal(symlink("b", fixture_path(f, "a")), 0);
    assert_int_equal(symlink("a", fixture_path(f, "b")), 0);
    assert_int_equal(symlink("a/x.so", fixture_path(f, "own_op.so")), 0);
    expect_policy(f, "unreadable", "links");
}

TEST_WITH(denied, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    two_good(f);
    f->options.deny = "zoo, zoo_own_op,own_op2";
    expect_policy(f, "denied", "by name");
    assert_string_equal(fixture_plugin(f, "zoo_own_op")->code, "denied");
    f->options.deny = "own_op";
    expect_policy(f, "denied", "by name");
}

TEST_WITH(no_regular_file, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    fixture_add(f, "good", "good.so");
    assert_int_equal(mkfifo(fixture_path(f, "own_op.so"), 0600), 0);
    expect_policy(f, "not-regular", "regular");
    unlink(fixture_path(f, "own_op.so"));
    subdirectory(f, "own_op.so", 0755);
    expect_policy(f, "not-regular", "regular");
}

TEST_WITH(dangling_link, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    fixture_add(f, "good", "good.so");
    assert_int_equal(symlink("nowhere", fixture_path(f, "own_op.so")), 0);
    expect_policy(f, "unreadable", "No such file");
}

TEST_WITH(duplicate_name, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    fixture_add(f, "good", "a.so");
    fixture_add(f, "good", "b.so");
    fixture_scan(f);
    assert_int_equal(f->count, 1);
    assert_string_equal(f->plugins[0].path, fixture_path(f, "a.so"));
    fixture_assert_refused(f, "b.so", "register", "duplicate-name", "/a.so");
}

/* A broken file does not hide a valid file with the same backend name. */
TEST_WITH(first_usable_wins, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    fixture_write(f, "a_zoo_good.so", "text", 4);
    fixture_add_manifest(f, "b.so", "{\"name\":\"zoo_good\",\"abi\":[3,0]}");
    fixture_add(f, "good", "c.so");
    fixture_add_manifest(f, "d.so", "{\"name\":\"zoo_good\",\"abi\":[0,0]}");
    fixture_scan(f);
    fixture_assert_proven(f, "zoo_good");
    assert_string_equal(fixture_plugin(f, "zoo_good")->path, fixture_path(f, "c.so"));
    fixture_assert_refused(f, "b.so", "manifest", "abi-too-new", "");
    fixture_assert_refused(f, "d.so", "manifest", "abi-too-old", "");
    assert_int_equal(f->count, 2);
}

/* Adds a copy of good.so that the dynamic linker refuses: the address of a segment is odd. */
static void add_not_loadable(fixture *f, const char *name)
{
    size_t count;
    fixture_add(f, "good", name);
    char *bytes = fixture_read(fixture_path(f, name), &count);
    const ElfW(Ehdr) *head = (const void *)bytes;
    const ElfW(Phdr) *p = (const void *)(bytes + head->e_phoff);
    while (p->p_type != PT_LOAD)
        p++;
    size_t offset = (size_t)((const char *)&p->p_vaddr - bytes);
    free(bytes);
    fixture_add_patched(f, name, offset, &(ElfW(Addr)){1}, sizeof(ElfW(Addr)));
}

/* A file that could not be loaded does not hide a file that can be loaded. */
TEST_WITH(loaded_wins, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    collet_host host = fixture_host;
    host.log = count_warnings;
    f->options.host = &host;
    warnings = 0;
    add_not_loadable(f, "a.so");
    add_not_loadable(f, "b.so");
    fixture_scan(f);
    assert_int_equal(f->count, 1);
    assert_true(f->plugins[0].usable && f->plugins[0].unproven);
    assert_string_equal(f->plugins[0].path, fixture_path(f, "a.so"));
    fixture_assert_refused(f, "b.so", "register", "duplicate-name", "already found in ");
    assert_int_equal(warnings, 0);
    fixture_add(f, "good", "c.so");
    fixture_add(f, "good", "d.so");
    fixture_scan(f);
    assert_int_equal(f->count, 1);
    fixture_assert_proven(f, "zoo_good");
    assert_string_equal(f->plugins[0].path, fixture_path(f, "c.so"));
    fixture_assert_refused(f, "a.so", "register", "duplicate-name", "it could not be loaded (");
    fixture_assert_refused(f, "b.so", "register", "duplicate-name", "c.so too");
    fixture_assert_refused(f, "d.so", "register", "duplicate-name", "already found in ");
    assert_int_equal(warnings, 2);
}

TEST_WITH(duplicate_file, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    fixture_add(f, "good", "good.so");
    assert_int_equal(symlink("good.so", fixture_path(f, "later.so")), 0);
    assert_int_equal(link(fixture_path(f, "good.so"), fixture_path(f, "zzz.so")), 0);
    fixture_scan(f);
    assert_int_equal(f->count, 1);
    fixture_assert_refused(f, "later.so", "search", "duplicate-file", "another name");
    fixture_assert_refused(f, "zzz.so", "search", "duplicate-file", "another name");
}

TEST_WITH(path_elements, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    fixture_add(f, "good", "good.so");
    subdirectory(f, "one", 0755);
    fixture_add(f, "own_op", "one/file.so");
    subdirectory(f, "empty", 0755);
    char *here = getcwd(NULL, 0);
    assert_int_equal(chdir(f->directory), 0);
    snprintf(f->path, sizeof f->path,
             "::one:.:" COLLET_TEST_NOTHING "/there:%s/one/file.so:%s:%s//:%s/one/file.so:"
             "%s/one/file.so/below:%s/empty:",
             f->directory, f->directory, f->directory, f->directory, f->directory, f->directory);
    fixture_scan(f);
    assert_int_equal(chdir(here), 0);
    free(here);
    assert_int_equal(f->count, 2);
    assert_string_equal(f->plugins[0].name, "zoo_own_op");
    assert_string_equal(f->plugins[1].name, "zoo_good");
    fixture_assert_refused(f, "one", "search", "relative-path", "absolute");
    fixture_assert_refused(f, ".", "search", "relative-path", "absolute");
    fixture_assert_refused(f, "there", "search", "not-found", "");
    assert_string_equal(fixture_record(f, "file.so", "search")->code, "duplicate-file");
    fixture_assert_refused(f, "below", "search", "not-found", "");
    assert_string_equal(fixture_record(f, "empty", "search")->reason, "0 candidates");
    const collet_plugin_record *again = record_at(f->records, record_count(f->records) - 1);
    assert_string_equal(again->stage, "probe");
    int duplicates = 0;
    for (size_t i = 0; i < record_count(f->records); i++)
        duplicates += !strcmp(record_at(f->records, i)->code, "duplicate-directory");
    assert_int_equal(duplicates, 1);
}

static int searched(const fixture *f, const char *path)
{
    for (size_t i = 0; i < record_count(f->records); i++)
        if (!strcmp(record_at(f->records, i)->path, path))
            return 1;
    return 0;
}

/* The sources of the search path: program, environment, user, system. A path with '+' is put before
 * the paths of the following sources; any other path replaces them. */
TEST_WITH(order_and_plus, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    char data[PATH_MAX], user[PATH_MAX + 32], plus[PATH_MAX + 1];
    subdirectory(f, "data", 0755);
    subdirectory(f, "data/collet", 0755);
    subdirectory(f, "data/collet/plugins", 0755);
    fixture_add(f, "good", "data/collet/plugins/good.so");
    snprintf(data, sizeof data, "%s/data", f->directory);
    snprintf(user, sizeof user, "%s/collet/plugins", data);
    assert_int_equal(setenv("XDG_DATA_HOME", data, 1), 0);

    f->options.program_path = f->directory;
    fixture_scan(f);
    assert_false(searched(f, user));

    snprintf(plus, sizeof plus, "+%s", f->directory);
    f->options.program_path = plus;
    fixture_scan(f);
    assert_true(searched(f, f->directory) && searched(f, user));
    fixture_assert_proven(f, "zoo_good");

    f->options.environment_path = COLLET_TEST_NOTHING "/environment";
    fixture_scan(f);
    assert_true(searched(f, f->directory) && searched(f, COLLET_TEST_NOTHING "/environment"));
    assert_false(searched(f, user));

    f->options.program_path = "";
    f->options.environment_path = "+";
    fixture_scan(f);
    assert_true(searched(f, user) && !searched(f, f->directory));

    char home[PATH_MAX];
    snprintf(home, sizeof home, "%s", getenv("HOME") ? getenv("HOME") : "");
    assert_int_equal(setenv("XDG_DATA_HOME", "relative", 1), 0);
    assert_int_equal(setenv("HOME", f->directory, 1), 0);
    fixture_scan(f);
    assert_true(searched(f, fixture_path(f, ".local/share/collet/plugins")));
    assert_int_equal(setenv("HOME", "relative", 1), 0);
    fixture_scan(f);
    for (size_t i = 0; i < record_count(f->records); i++)
        assert_null(strstr(record_at(f->records, i)->path, "collet/plugins"));
    f->options.program_path = "/";
    fixture_scan(f);
    assert_true(searched(f, "/"));
    assert_int_equal(setenv("HOME", home, 1), 0);
    assert_int_equal(unsetenv("XDG_DATA_HOME"), 0);
}

TEST_WITH(directory_that_cannot_be_read, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    struct rlimit files, none;
    fixture_add(f, "good", "good.so");
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    none = files;
    none.rlim_cur = 0; /* no descriptor more */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    fixture_scan(f);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    assert_int_equal(f->count, 0);
    fixture_assert_refused(f, f->directory + 1, "search", "unreadable", "Too many open files");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests collet-rsoxs with several films and with --shard, and collet-merge on the shards. */

#include "rsoxs_runs.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#undef ENERGIES
#define ENERGIES 6

#ifdef COLLET_TEST_CAIRO
#define PNG "--png"
#else
#define PNG "--quiet"
#endif

#define FILMS "b.h5", "c.h5", "a.h5"

static void expect(tool_result r, int status, const char *text)
{
    tool_expect(&r, status);
    if (*text && !strstr(r.out, text) && !strstr(r.err, text))
        fail_msg("'%s' is not in: %s%s", text, r.out, r.err);
}

static int set_up(void **state)
{
    rsoxs_set_up(state);
    write_configuration("config.txt", "280.0", ENERGIES, "unknown = 1;\n");
    write_morphology("a.h5", &(flaws){0});
    write_morphology("b.h5", &(flaws){.zero = "Mat_1_S"});
    write_morphology("c.h5", &(flaws){.missing = "Mat_2_S"});
    EXPECT(0, "3 films in whole: 18 patterns, ", FILMS, "-o", "whole", "--integrate");
    /* Pictures take most of the time, so only one film has pictures. */
    EXPECT(0, "6 patterns of 20 x 24 pixels in drawn", "b.h5", "-o", "drawn", "--integrate", PNG);
    return 0;
}

/* Both directories have the same files with the same bytes, and no hidden files. */
static void expect_same(const char *a, const char *b)
{
    char command[800], path[300];
    snprintf(path, sizeof path, "%s", io_path(directory, a));
    snprintf(command, sizeof command, "diff -r %s %s >&2", path, io_path(directory, b));
    if (system(command) != 0)
        fail_msg("%s and %s differ", a, b);
}

/* Deletes the results and the directory of their shards. */
static void forget(const char *name)
{
    char command[800];
    const char *path = io_path(directory, name);
    snprintf(command, sizeof command, "rm -rf %s %s.shards", path, path);
    assert_int_equal(system(command), 0);
}

/* ---- Several films --------------------------------------------------------------------------- */

TEST(films_have_directories)
{
    EXPECT(0, "6 patterns of 20 x 24 pixels in alone", "b.h5", "-o", "alone", "--integrate");
    expect_same("alone", "whole/b");
    assert_int_equal(io_count_entries(io_path(directory, "whole")), 3);
    expect(RSOXS(FILMS, "-o", "whole"), 1, "whole/a/Energy_280.00.h5 exists: --resume keeps");
    expect(RSOXS(FILMS, "-o", "whole", "--resume"), 0,
           "3 films in whole: nothing was left to compute; 18 patterns of earlier runs kept\n");
    /* An unknown key of the configuration is reported once, a missing dataset once for its film. */
    tool_result r = RSOXS(FILMS, "-o", "warned", "--energies", "281", "--integrate", PNG);
    tool_expect(&r, 0);
    char *key = strstr(r.err, "the key unknown is unknown");
    assert_non_null(key);
    assert_null(strstr(key + 1, "the key unknown is unknown"));
    EXPECT(0, "", "b.h5", "-o", "one", "--energies", "281", "--integrate", PNG);
    expect_same("one", "warned/b");
}

TEST(films_are_listed)
{
    write_text("list", "c.h5\r\n\na.h5");
    EXPECT(0, "3 films in listed: 18 patterns, ", "b.h5", "--films", "list", "-o", "listed",
           "--integrate");
    expect_same("listed", "whole");
    const tool_setup piped = {.prepare = tool_from_file, .user = (char[]){"list"}};
    expect(rsoxs_with(&piped, (const char *const[]){"b.h5", "--films", "-", "-o", "listed",
                                                    "--integrate", "--resume", NULL}),
           0, "18 patterns of earlier runs kept");
    write_text("list", "\n");
    expect(RSOXS("--films", "list"), 1, "--films: list has no films: write one a line");
    expect(RSOXS("--films", "nothing"), 1, "--films: nothing: No such file or directory");
    expect(RSOXS("--films", "."), 1, "--films: .: cannot be read: Is a directory");
    io_save(io_path(directory, "list"), "a.h5\0b.h5", 10);
    expect(RSOXS("--films", "list"), 1, "--films: list: a name ends in a zero byte");
    expect(RSOXS("--films", "/dev/zero"), 1, "--films: /dev/zero: a name ends in a zero byte");
    char *long_line = malloc(5000);
    memset(long_line, 'a', 5000);
    io_save(io_path(directory, "list"), long_line, 5000);
    free(long_line);
    expect(RSOXS("--films", "list"), 1, "--films: list: a line has 4096 bytes or more");
    expect(RSOXS("--plan"), 2, "a morphology is required");
}

TEST(failed_films_are_named)
{
    write_morphology("d.h5", &(flaws){.nan = "Mat_1_Psi"});
    write_text("e.h5", "no HDF5");
    tool_result r = RSOXS("e.h5", FILMS, "d.h5", "f.h5", "-o", "some", "--integrate");
    EXPECT_OUT(r, 1, "3 films in some: 18 patterns, ");
    assert_contains(r.err, "collet-rsoxs: d.h5: /Euler_Angles/Mat_1_Psi: psi of material 1 must",
                    "collet-rsoxs: e.h5: not an HDF5 file", "collet-rsoxs: f.h5: No such file",
                    "3 of 6 films failed: d.h5, e.h5, f.h5; the others are complete\n");
    expect_same("some", "whole");
    r = RSOXS("e.h5", FILMS, "-o", "some", "--resume", "--json");
    EXPECT_OUT(r, 1, "\"films_failed\":\t1", "\"status\":\t\"COLLET_FORMAT\"",
               "\"error\":\t\"e.h5: not an HDF5 file", "\"directory\":\t\"some/c\"");
    r = RSOXS(FILMS, "e.h5", "-o", "some", "--plan");
    EXPECT_OUT(r, 1, "b.h5: 3 x 20 x 24 voxels of 2 nm (Z, Y, X), 2 materials, 6 energies, 1",
               "the largest, a.h5: 3 x 20 x 24 voxels",
               "3 films in some: 18 patterns to compute, ");
    expect(RSOXS(FILMS, "--plan", "--json", "-o", "unseen"), 0, "\"largest\":\t{");
    assert_int_not_equal(access(io_path(directory, "unseen"), F_OK), 0);
}

TEST(names_are_checked_first)
{
    assert_int_equal(mkdir(io_path(directory, "other"), 0777), 0);
    write_morphology("other/b.h5", &(flaws){0});
    expect(RSOXS(FILMS, "other/b.h5", "-o", "twice"), 1,
           "have the same name, and would both write twice/b: rename one, or compute it apart");
    expect(RSOXS(FILMS, "other/", "-o", "twice"), 1, "other/ is a directory, not a film");
    expect(RSOXS(FILMS, "...h5", "-o", "twice"), 1, "...h5: its patterns need a directory of their own");
    assert_int_not_equal(access(io_path(directory, "twice"), F_OK), 0);
    /* A pattern never replaces a film, not even another film than its own. */
    assert_int_equal(mkdir(io_path(directory, "mixed"), 0777), 0);
    assert_int_equal(mkdir(io_path(directory, "mixed/a"), 0777), 0);
    write_morphology("mixed/a/Energy_281.00.h5", &(flaws){0});
    expect(RSOXS("a.h5", "mixed/a/Energy_281.00.h5", "-o", "mixed", "--force"), 1,
           "the output mixed/a/Energy_281.00.h5 would replace the input");
}

/* ---- Shards ---------------------------------------------------------------------------------- */

/* Computes the shards in the order of the digits in `order`. The first shard is killed when its first
 * pattern gets its name, and run again: the file that describes the work exists by then. */
static void work_shards(const char *with, const char *const *films, const char *order, int count)
{
    for (const char *at = order; *at; at++) {
        char shard[16];
        snprintf(shard, sizeof shard, "%c/%d", *at, count);
        const char *args[16] = {"-o", "parts", "--resume", "--integrate", with, "--shard", shard};
        for (int i = 0; films[i]; i++)
            args[7 + i] = films[i];
        const tool_setup killed = {.prepare = tool_kill_at, .user = "1"};
        int first = at == order;
        tool_result r = rsoxs_with(first ? &killed : NULL, args);
        tool_expect(&r, first ? 128 + SIGKILL : 0);
    }
}

static tool_result merge(const char *path)
{
    return tool_run("collet-merge", (const char *const[]){path, NULL},
                    &(tool_setup){.directory = directory});
}

/* Writes the file in DIRECTORY.shards that describes the shards' work for collet-merge. `changed` is KEY=VALUE and
 * replaces the word with that key (NULL: nothing is changed). If `changed` has no "=", it replaces the whole file. */
static void note(const char *name, const char *shards, const char *changed,
                 const char *const *films)
{
    const char *words[64] = {shards,
                             "started in=/",
                             "config=config.txt",
                             "energies=280,281,282,283,284,285",
                             "wedge=0",
                             "integrate=yes",
                             "png=no",
                             "method=fast",
                             "dtype=f32",
                             "q-grid=cyrsoxs",
                             "dc=keep"};
    char text[1024], path[100];
    size_t size = 0, n = 11;
    while (*films)
        words[n++] = *films++;
    for (size_t i = 0; i < n; i++) {
        size_t key = strcspn(words[i], "=") + 1;
        const char *word =
            changed && i < 11 && strncmp(words[i], changed, key) == 0 ? changed : words[i];
        strcpy(text + size, word);
        size += strlen(word) + 1;
    }
    snprintf(path, sizeof path, "%s.shards", name);
    mkdir(io_path(directory, path), 0777);
    snprintf(path, sizeof path, "%s.shards/collet-rsoxs.work", name);
    io_save(io_path(directory, path), text, size);
}
#define WORK "collet-rsoxs work 1: shards="
#define NOTE(shards, changed, ...)                                                                 \
    note("parts", WORK shards, changed, (const char *const[]){__VA_ARGS__, NULL})

TEST(shards_and_a_merge_are_one_run)
{
    static const char *const one[] = {"b.h5", NULL}, *const all[] = {FILMS, NULL};
    work_shards(PNG, one, "315243", 5);
    expect(merge("parts.shards"), 0, "6 patterns of all shards in parts\n");
    expect_same("parts", "drawn"); /* the merge draws */
    forget("parts");
    EXPECT(0, "6 patterns of 20 x 24 pixels in exact", "b.h5", "-o", "exact", "--integrate", "--q-grid=exact");
    work_shards("--q-grid=exact", one, "315243", 5);
    expect(merge("parts.shards"), 0, "6 patterns of all shards in parts\n");
    expect_same("parts", "exact");
    forget("parts");
    work_shards("--quiet", all, "314253", 5);
    expect(merge("parts.shards"), 0, "3 films in parts: 18 patterns of all shards\n");
    expect_same("parts", "whole");
    forget("parts");
    work_shards("--quiet", all, "212", 2); /* shards of whole films: nothing is left to merge */
    expect_same("parts", "whole");
    expect(merge("parts.shards/"), 0, "3 films in parts");
    expect_same("parts", "whole");
}

TEST(missing_patterns_are_named)
{
    static const char *const all[] = {FILMS, NULL};
    forget("parts");
    work_shards("--quiet", all, "41", 10); /* pairs 1 and 2 of 18 only */
    tool_result r = merge("parts.shards");
    EXPECT_ERR(r, 1,
               "parts/a: 5 of 6 patterns are missing: 281.00, 282.00, 283.00, 284.00, "
               "285.00 eV\n",
               "parts/c: 6 of 6 patterns are missing: 280.00, ",
               "3 of 3 films are not complete: a.h5, b.h5, c.h5\n",
               "collet-merge: shards with missing patterns, of 10: 2 to 10; run them "
               "again, as collet-rsoxs ... --resume --shard 2/10, and then "
               "collet-merge\n");
    forget("parts");
    work_shards("--quiet", all, "31", 3);  /* film a */
    work_shards("--quiet", all, "212", 2); /* film a is kept, b and c are computed */
    expect(merge("parts.shards"), 0, "18 patterns of all");
    assert_int_equal(remove(io_path(directory, "parts/b/Energy_283.00.h5")), 0);
    assert_int_equal(remove(io_path(directory, "parts/a/integrated.h5")), 0);
    r = merge("parts.shards");
    EXPECT_ERR(r, 1, "parts/b: 1 of 6 patterns are missing: 283.00 eV\n",
               "1 of 3 films are not complete: b.h5; the others are complete\n",
               "of 2: 2; run them again, as collet-rsoxs ... --resume --shard 2/2, ");
    expect_same("parts/a", "whole/a");
    note("parts/b", WORK "6", NULL, (const char *const[]){"b.h5", NULL});
    r = merge("parts/b.shards");
    EXPECT_ERR(r, 1, "of 6: 4; run them again, as collet-rsoxs ... --resume --shard 4/6, ");
    /* The message lists only the first of many films. f.h5 is damaged. */
    const char *many[42] = {"f.h5"};
    char names[30][16];
    write_text("f.h5", "no HDF5");
    for (int i = 0; i < 30; i++) {
        snprintf(names[i], sizeof names[i], "e%02d.h5", i);
        assert_int_equal(symlink("a.h5", io_path(directory, names[i])), 0);
        many[1 + i] = names[i];
    }
    note("parts", WORK "2", NULL, many);
    r = merge("parts.shards");
    EXPECT_ERR(r, 1, "parts/e19: 6 of 6 patterns are missing");
    assert_null(strstr(r.err, "parts/e20: "));
    assert_contains(r.err, "collet-merge: f.h5: not an HDF5 file",
                    "31 of 31 films are not complete: e00.h5, ", ", e19.h5, ...\n",
                    "of 2: 1, 2; run them again");
    /* A merge refuses shards that were computed with other settings. */
    NOTE("3", "dc=neighbours", FILMS);
    expect(merge("parts.shards"), 1,
           "was written with other settings: 'dc 0', not 'dc 1': compute it again, by collet-rsoxs "
           "--force");
}

/* While a shard is stopped at its first pattern, another shard writes all of its patterns to the same
 * directory. */
static void work_other(pid_t program)
{
    siginfo_t stopped;
    assert_int_equal(waitid(P_PID, (id_t)program, &stopped, WSTOPPED | WEXITED | WNOWAIT), 0);
    expect(RSOXS("b.h5", "-o", "parts", "--integrate", PNG, "--shard", "2/2"), 0,
           "several shards compute energies of this film: collet-merge parts.shards completes it");
    kill(program, SIGCONT);
}

TEST(shards_at_once_do_not_disturb_each_other)
{
    const char *const args[] = {"b.h5", "-o", "parts", "--integrate", PNG, "--shard", "1/2", NULL};
    const tool_setup setup = {.prepare = tool_kill_at, .user = "-1", .meanwhile = work_other};
    forget("parts");
    expect(rsoxs_with(&setup, args), 0, "");
    expect(merge("parts.shards"), 0, "");
    expect_same("parts", "drawn");
}

static void work_halves(const char *with)
{
    expect(RSOXS("b.h5", "-o", "parts", with, "--energies", "281,282,283"), 0, "");
    expect(RSOXS("b.h5", "-o", "parts", "--resume", with, "--shard", "1/2"), 0, "");
    expect(RSOXS("b.h5", "-o", "parts", "--resume", with, "--shard", "2/2"), 0, "");
    expect(merge("parts.shards"), 0, "");
}

/* Integrals and pictures of fewer energies, or of another width, are not kept. */
TEST(old_results_are_made_again)
{
    struct stat before, after;
    forget("parts");
    work_halves(PNG);
    NOTE("2", NULL, "b.h5");
    expect(merge("parts.shards"), 0, "");
    expect_same("parts", "drawn");
    forget("parts");
    work_halves("--integrate");
    expect_same("parts/integrated.h5", "whole/b/integrated.h5");
    NOTE("2", "wedge=20", "b.h5");
    expect(merge("parts.shards"), 0, "");
    assert_int_equal(stat(io_path(directory, "parts/integrated.h5"), &before), 0);
    expect(RSOXS("b.h5", "-o", "parts", "--integrate", "--wedge", "20", "--resume"), 0, "");
    assert_int_equal(stat(io_path(directory, "parts/integrated.h5"), &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    NOTE("2", NULL, "b.h5");
    expect(merge("parts.shards"), 0, "");
    assert_int_equal(stat(io_path(directory, "parts/integrated.h5"), &after), 0);
    assert_int_not_equal(before.st_ino, after.st_ino);
    expect_same("parts/integrated.h5", "whole/b/integrated.h5");
}

TEST(damaged_works_are_refused)
{
    static const char *const changes[][2] = {
        {"config=", "'config=' is not valid where 'config=VALUE' is expected"},
        {"energies=280,,281",
         "'energies=280,,281' is not valid where 'energies=VALUE' is expected"},
        {"energies=-1", "'energies=-1' is not valid where 'energies=VALUE' is expected"},
        {"wedge=nan", "'wedge=nan' is not valid where 'wedge=VALUE' is expected"},
        {"integrate=maybe", "'integrate=maybe' is not valid where 'integrate=VALUE' is expected"},
        {"dtype=", "'dtype=' is not valid where 'dtype=VALUE' is expected"},
    };
    /* Words of a command line that must not be in the description of the work. */
    static const char *const words[] = {"--plan", "--shard=1/2", "--help", "-h", "--json", ""};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        NOTE("2", changes[i][0], "b.h5");
        expect(merge("parts.shards"), 1, changes[i][1]);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        note("parts", words[i], NULL, (const char *const[]){"b.h5", NULL});
        expect(merge("parts.shards"), 1,
               "collet-merge: parts.shards/collet-rsoxs.work: it is damaged or of another version "
               "of collet-rsoxs: '");
    }
    NOTE("many", NULL, "b.h5");
    expect(merge("parts.shards"), 1, "1: shards=many' is not valid");
    NOTE("2", NULL, NULL);
    expect(merge("parts.shards"), 1, "it has no films; remove it and run one of the shards again");
    io_save(io_path(directory, "parts.shards/collet-rsoxs.work"), WORK "2", sizeof WORK "2");
    expect(merge("parts.shards"), 1, "'started in' is missing");
    io_save(io_path(directory, "parts.shards/collet-rsoxs.work"), "2", 1);
    expect(merge("parts.shards"), 1, "its end is missing");
    expect(RSOXS("b.h5", "-o", "parts", "--shard", "1/2"), 1, "its end is missing; remove it");
    assert_int_equal(remove(io_path(directory, "parts.shards/collet-rsoxs.work")), 0);
    assert_int_equal(mkfifo(io_path(directory, "parts.shards/collet-rsoxs.work"), 0600), 0);
    expect(merge("parts.shards"), 1, "this is a device or pipe, but a regular file is required");
    expect(tool_run("collet-merge", (const char *const[]){"parts.shards", "--force", NULL},
                    &(tool_setup){.directory = directory}),
           2, "--force is for results of collet-extract");
}

/* A shard that does not belong to the same work is refused when it begins. The message says what differs. */
TEST(shards_have_the_same_options)
{
    expect(RSOXS("b.h5", "-o", "agreed/", "--shard", "1/2", "--backend", "cpu_scalar"), 0,
           "collet-merge agreed.shards completes it");
#define DIFFERS(text, ...)                                                                         \
    expect(RSOXS("--resume", "-o", "agreed", "--shard", "2/2", __VA_ARGS__), 1,                    \
           "agreed.shards/collet-rsoxs.work: shards of one work have the same options and films, " \
           "but " text " now: give the same, another directory by -o, or --force to begin again")
    DIFFERS("integrate is 'no' in this file and 'yes'", "b.h5", "--integrate");
    DIFFERS("method is 'fast' in this file and 'direct'", "b.h5", "--method", "direct");
    DIFFERS("energies is '280,281,282,283,284,285' in this file and '281'", "b.h5", "--energies",
            "281");
    DIFFERS("a film is 'b.h5' in this file and 'c.h5'", "c.h5");
    DIFFERS("a film is 'b.h5' in this file and 'a.h5'", "b.h5", "a.h5");
    expect(merge("agreed.shards"), 1, "of 2: 2; run them again");
    /* Options that do not change the results may differ. */
    expect(RSOXS("--dtype", "f32", "b.h5", "-o", "agreed", "--shard", "2/2", "--threads", "1"), 0,
           "");
    expect(merge("agreed.shards"), 0, "6 patterns of all shards in agreed\n");
    expect(RSOXS("b.h5", "-o", "agreed", "--shard", "1/2", "--dc", "neighbours", "--force"), 0, "");
    expect(RSOXS("b.h5", "-o", "agreed", "--shard", "2/2", "--dc", "keep", "--resume"), 1,
           "dc is 'neighbours' in this file and 'keep'");
}

/* In another working directory, the relative file names in the shards' description lead to other files, whose results are
 * complete. collet-merge must refuse the shards, and not report those results as theirs. */
TEST(another_work_is_not_reported)
{
    char shards[300];
    expect(RSOXS("b.h5", "-o", "here", "--shard", "1/2"), 0, "");
    assert_int_equal(mkdir(io_path(directory, "there"), 0777), 0);
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"Material1.txt", "Material2.txt", "b.h5"};
        char target[40], name[40];
        snprintf(target, sizeof target, "../%s", names[i]);
        snprintf(name, sizeof name, "there/%s", names[i]);
        assert_int_equal(symlink(target, io_path(directory, name)), 0);
    }
    write_configuration("there/config.txt", "280.0", 2, "");
    snprintf(shards, sizeof shards, "%s", io_path(directory, "here.shards"));
    char *other = strdup(io_path(directory, "there"));
    const tool_setup there = {.directory = other};
    expect(tool_run("collet-rsoxs", (const char *const[]){"b.h5", "-o", "here", NULL}, &there), 0,
           "");
    tool_result r = tool_run("collet-merge", (const char *const[]){shards, NULL}, &there);
    EXPECT_ERR(r, 1, "collet-merge: config.txt has no energy of 282 eV, but the shards have it",
               "collet-merge: the shards were started in ");
    assert_null(strstr(r.err, "-c FILE"));
    assert_int_equal(remove(io_path(directory, "there/config.txt")), 0);
    r = tool_run("collet-merge", (const char *const[]){shards, NULL}, &there);
    EXPECT_ERR(r, 1, "config.txt", "start collet-merge there");
    assert_null(strstr(r.err, "-c FILE"));
    free(other);
    expect(RSOXS("b.h5", "-o", "here", "--shard", "2/2"), 0, "");
    expect(merge("here.shards"), 0, "6 patterns of all shards in here\n");
}

TEST(bad_arguments_are_explained)
{
    expect(RSOXS("b.h5", "--shard", "7/6"), 2, "shards of 6 are numbered from 1 to 6");
    expect(RSOXS("b.h5", "-o", "none", "--shard", "2/9"), 0, "");
    expect(RSOXS("b.h5", "-o", "none", "--shard", "1/9"), 0, "shard 1 of 9 has no energies");
    expect(RSOXS("b.h5", "-o", "none", "--shard", "1/9", "--json"), 0, "\"shards\":\t9");
}

TEST_GROUP(set_up, rsoxs_tear_down)


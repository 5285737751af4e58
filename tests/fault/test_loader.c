/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every bad plugin of the zoo is refused for its own reason, and the good plugin next to it is
 * found.
 */
#include "loader_fixture.h"

#include <elf.h>
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <collet/floating.h>

#define MEMBERS                                                                                    \
    "\"version\":\"1.0\",\"priority\":1,\"features\":{\"jit\":false,\"parallel\":false,"           \
    "\"gpu\":false}"
#define MANIFEST(abi, kernels)                                                                     \
    "{\"name\":\"bad\",\"abi\":" abi "," MEMBERS ",\"kernels\":" kernels "}"

/* Adds good.so next to bad.so, scans, and expects the refusal of bad.so. */
static void expect(fixture *f, const char *stage, const char *code, const char *reason)
{
    fixture_add(f, "good", "good.so");
    fixture_scan(f);
    fixture_assert_proven(f, "zoo_good");
    fixture_assert_refused(f, "bad.so", stage, code, reason);
}

/* ---- Files ------------------------------------------------------------------------------- */

TEST_WITH(text_file, fixture_setup, fixture_teardown)
{
    fixture_write(*state, "bad.so", "not a library\n", 14);
    expect(*state, "manifest", "not-elf", "not an ELF file");
    const loader_plugin *p = fixture_plugin(*state, "bad");
    assert_non_null(p);
    assert_int_equal(p->manifest.abi, 0);
    assert_string_equal(p->manifest.version, "");
}

TEST_WITH(empty_file, fixture_setup, fixture_teardown)
{
    fixture_write(*state, "bad.so", "", 0);
    expect(*state, "manifest", "empty", "empty");
}

TEST_WITH(truncated, fixture_setup, fixture_teardown)
{
    size_t count;
    FREED(char) *bytes = fixture_read(COLLET_TEST_ZOO "/zoo_good.so", &count);
    static const size_t divisors[] = {2, 16};
    for (size_t i = 0; i < sizeof divisors / sizeof *divisors; i++) {
        fixture_write(*state, "bad.so", bytes, count / divisors[i]);
        expect(*state, "manifest", "truncated", "");
    }
    fixture_write(*state, "bad.so", bytes, 20);
    expect(*state, "manifest", "truncated", "header");
}

TEST_WITH(wrong_class, fixture_setup, fixture_teardown)
{
    fixture_add_patched(*state, "bad.so", EI_CLASS, (const char[]){ELFCLASS32}, 1);
    expect(*state, "manifest", "wrong-class", ", 32-bit, ");
    fixture_add_patched(*state, "bad.so", EI_CLASS, (const char[]){7}, 1);
    expect(*state, "manifest", "wrong-class", "ELF class 7; this program is 64-bit");
    fixture_add_patched(*state, "bad.so", EI_DATA, (const char[]){3}, 1);
    expect(*state, "manifest", "wrong-class", "byte order 3");
}

/* Gives bad.so an ELF header with these fields, and expects `text` as the reason for which it is refused. */
static void expect_kind(fixture *f, char class, char order, const char machine[2], const char *text)
{
    char bytes[20];
    size_t count;
    fixture_add(f, "good", "bad.so");
    char *file = fixture_read(fixture_path(f, "bad.so"), &count);
    memcpy(bytes, file, 18);
    free(file);
    bytes[EI_CLASS] = class;
    bytes[EI_DATA] = order;
    memcpy(bytes + 18, machine, 2);
    fixture_add_patched(f, "bad.so", 0, bytes, sizeof bytes);
    expect(f, "manifest", "wrong-class", text);
}

TEST_WITH(kinds_of_processors, fixture_setup, fixture_teardown)
{
    static const struct {
        char class, order, machine[2];
        const char *text;
    } kinds[] = {
        {ELFCLASS32, ELFDATA2LSB, {EM_386, 0}, "built for x86, 32-bit, little-endian; this"},
        {ELFCLASS32, ELFDATA2LSB, {EM_X86_64, 0}, "built for x86-64, 32-bit, little-endian; this"},
        {ELFCLASS32, ELFDATA2MSB, {0, EM_MIPS}, "built for MIPS, 32-bit, big-endian; this"},
        {ELFCLASS64, ELFDATA2MSB, {0, EM_S390}, "built for S/390, 64-bit, big-endian; this"},
        {ELFCLASS32, ELFDATA2LSB, {1, 2}, "the processor with ELF number 513, 32-bit, little"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        expect_kind(*state, kinds[i].class, kinds[i].order, kinds[i].machine, kinds[i].text);
}

TEST_WITH(wrong_machine, fixture_setup, fixture_teardown)
{
    fixture_add_patched(*state, "bad.so", offsetof(Elf64_Ehdr, e_machine), &(Elf64_Half){EM_SPARC},
                        sizeof(Elf64_Half));
    expect(*state, "manifest", "wrong-machine", "built for the processor with ELF number 2; this");
#ifdef __x86_64__
    fixture_add_patched(*state, "bad.so", offsetof(Elf64_Ehdr, e_machine),
                        &(Elf64_Half){EM_AARCH64}, sizeof(Elf64_Half));
    expect(*state, "manifest", "wrong-machine",
           "built for AArch64 (ARM); this program runs on x86-64");
#endif
}

TEST_WITH(not_shared_object, fixture_setup, fixture_teardown)
{
    fixture_add_patched(*state, "bad.so", offsetof(Elf64_Ehdr, e_type), &(Elf64_Half){ET_REL},
                        sizeof(Elf64_Half));
    expect(*state, "manifest", "not-shared-object", "type 1");
}

TEST_WITH(no_manifest, fixture_setup, fixture_teardown)
{
    fixture_add(*state, "plain_library", "bad.so");
    expect(*state, "manifest", "no-manifest", "not a plugin");
    assert_null(fixture_plugin(*state, "bad"));
}

/* ---- Manifests --------------------------------------------------------------------------- */

static const struct {
    const char *manifest, *code, *reason;
} manifests[] = {
    {MANIFEST("[2,0]", "[\"add\"]") "x", "manifest-trailing", "follows"},
    {MANIFEST("[2,0]", "[\"add\"]") "}", "manifest-trailing", "follows"},
    {MANIFEST("[2,0]", "[\"add\"]") " {\"name\":\"other\"}", "manifest-trailing", "follows"},
    {"{\"name\":\"bad\",\"name\":\"worse\"}", "manifest-duplicate-key", "'name'"},
    {"{\"name\":\"bad\"", "manifest-syntax", "syntax"},
    {MANIFEST("[3,0]", "[\"add\"]"), "abi-too-new", "update libcore"},
    {MANIFEST("[1,0]", "[\"add\"]"), "abi-too-old",
     "built for plugin interface 1.0, but this libcore has 2.0: rebuild the plugin"},
    {MANIFEST("1", "[\"add\"]"), "manifest-content", "\"abi\""},
    {MANIFEST("[2,0]", "[\"add\",\"add\"]"), "manifest-content", "'add' twice"},
};

TEST_WITH(bad_manifests, fixture_setup, fixture_teardown)
{
    for (size_t i = 0; i < sizeof manifests / sizeof *manifests; i++) {
        fixture_add_manifest(*state, "bad.so", manifests[i].manifest);
        expect(*state, "manifest", manifests[i].code, manifests[i].reason);
    }
}

/* No code of a plugin with an incompatible ABI runs, not even with probing off. */
TEST_WITH(refused_before_it_runs, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    fixture_add_manifest(f, "bad.so", MANIFEST("[3,0]", "[\"add\"]"));
    f->options.probe = 0;
    fixture_scan(f);
    fixture_assert_refused(f, "bad.so", "manifest", "abi-too-new", "3.0");
    const loader_plugin *p = fixture_plugin(f, "bad");
    const collet_plugin *table = NULL;
    assert_int_equal(p->manifest.abi, 3u << 16);
    assert_int_equal(loader_open(p, &fixture_host, f->records, &table, NULL), COLLET_UNAVAILABLE);
    assert_int_equal(loader_open_layer(p, p, &fixture_host, f->records, &table, NULL),
                     COLLET_UNAVAILABLE);
    assert_null(table);
}

TEST_WITH(sanitizer_mismatch, fixture_setup, fixture_teardown)
{
    size_t count;
    char *bytes = fixture_read(COLLET_TEST_ZOO "/zoo_good.so", &count);
    const uint32_t head[] = {7, sizeof COLLET_SANITIZER - 1, COLLET_NOTE_SANITIZER};
    char *place = memmem(bytes, count, head, sizeof head);
    assert_non_null(place);
    place[sizeof head + 8] = 'x';
    fixture_write(*state, "bad.so", bytes, count);
    free(bytes);
    expect(*state, "manifest", "sanitizer-mismatch", COLLET_SANITIZER);
}

TEST_WITH(kernels_differ, fixture_setup, fixture_teardown)
{
    fixture_add_manifest(*state, "bad.so",
                         "{\"name\":\"zoo_good\",\"abi\":[2,0]," MEMBERS
                         ",\"kernels\":[\"add\",\"mul\"]}");
    fixture_scan(*state);
    fixture_assert_refused(*state, "bad.so", "probe", "kernels-differ", "names the kernel mul");
    fixture_add_manifest(*state, "bad.so",
                         "{\"name\":\"zoo_good\",\"abi\":[2,0]," MEMBERS ",\"kernels\":[]}");
    expect(*state, "probe", "kernels-differ", "has the kernel add");
}

TEST_WITH(other_name, fixture_setup, fixture_teardown)
{
    fixture_add_manifest(*state, "bad.so", MANIFEST("[2,0]", "[\"add\"]"));
    expect(*state, "probe", "vtable-name", "'zoo_good'");
}

/* ---- Code -------------------------------------------------------------------------------- */

static const struct {
    const char *zoo, *code, *reason;
} bad_plugins[] = {
    {"missing_entry", "missing-entry", "collet_plugin_entry"},
    {"unresolved_symbol", "unresolved-symbol", "zoo_nowhere"},
    {"null_slot", "vtable-slot", "device_close"},
    {"short_vtable", "vtable-short", "first version"},
    {"table_abi", "vtable-abi", "3.7"},
    {"table_garbage", "crash-in-vtable", "SIGSEGV"},
    {"entry_null", "entry-null",
     "returned NULL: it was probably built for another version of the plugin interface than this "
     "libcore's, "},
    {"crash_constructor", "crash-in-constructor",
     "crashed in a constructor, while being loaded (SIGSEGV)"},
    {"crash_entry", "crash-in-entry", "(SIGABRT); last output: the zoo is closed"},
    {"crash_capabilities", "crash-in-capabilities", "SIGFPE"},
    {"exit_entry", "exit-in-entry", "status 7"},
    {"capabilities_fail", "capabilities-failed", "the driver does not respond: %s"},
    {"capabilities_garbage", "capabilities-invalid", "device_count (2)"},
    {"changes_itself", "changed", "while it was probed"},
    {"forged_report", "exit-in-constructor", "status 0"},
    {"flush_to_zero", "changes-floating-point", "-ffast-math"},
};

TEST_WITH(zoo, fixture_setup, fixture_teardown)
{
    for (size_t i = 0; i < sizeof bad_plugins / sizeof *bad_plugins; i++) {
        fixture_add(*state, bad_plugins[i].zoo, "bad.so");
        expect(*state, "probe", bad_plugins[i].code, bad_plugins[i].reason);
    }
}

/* No descendant process of a probe is left. */
static void expect_no_processes(void)
{
    pid_t pid = 0;
    for (int i = 0; i < 500 && pid >= 0; i++) {
        pid = waitpid(-1, NULL, WNOHANG);
        if (pid == 0)
            usleep(2000);
    }
    assert_int_equal(pid, -1);
    assert_int_equal(errno, ECHILD);
}

TEST_WITH(hangs, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    /* Orphans of the probe are reparented to this process, which can then wait for them. */
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    f->options.timeout_ms = 1000;
    fixture_add(f, "hang_entry", "bad.so");
    fixture_add(f, "hang_constructor", "worse.so");
    expect(f, "probe", "hang-in-entry", "still here");
    fixture_assert_refused(f, "worse.so", "probe", "hang-in-constructor", "after 1000 ms");
    double ms = fixture_record(f, "bad.so", "probe")->milliseconds;
    assert_true(ms > 998 && ms < 10000); /* 998: the limit is in whole milliseconds */
    expect_no_processes();
}

/* When a probe ends, all processes that the plugin's constructor started end too, even processes in
 * other sessions. The memory of a probe is limited. */
TEST_WITH(started_processes_end, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    fixture_add(f, "leaves_processes", "good.so");
    fixture_scan(f);
    fixture_assert_proven(f, "zoo_leaves_processes");
    expect_no_processes();
}

/* If the program is killed, no process remains that a plugin started in its probe. */
TEST_WITH(killed_host, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    fixture_add(f, "hang_entry", "bad.so");
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    assert_int_equal(setenv("ZOO_STARTED", fixture_path(f, "started"), 1), 0);
    pid_t host = fork();
    assert_true(host >= 0);
    if (host == 0) {
        fixture_scan(f);
        _exit(0);
    }
    for (int i = 0; i < 2000 && access(fixture_path(f, "started"), F_OK); i++)
        usleep(10000);
    assert_int_equal(unsetenv("ZOO_STARTED"), 0);
    assert_int_equal(access(fixture_path(f, "started"), F_OK), 0);
    assert_int_equal(kill(host, SIGKILL), 0);
    expect_no_processes();
}

TEST_WITH(missing_library, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    fixture_add(f, "missing_library", "bad.so");
    fixture_scan(f);
    const loader_plugin *p = fixture_plugin(f, "zoo_missing_library");
    assert_true(p->usable && p->unproven);
    assert_null(p->capabilities);
    assert_string_equal(p->code, "missing-library");
    const collet_plugin_record *entry = fixture_record(f, "bad.so", "probe");
    assert_true(entry->accepted);
    assert_contains(entry->reason, "libzoo_plain_library.so");

    const collet_plugin *table = NULL;
    collet_error err;
    setlocale(LC_ALL, "de_DE.UTF-8"); /* German messages, if LOCPATH has this locale */
    assert_int_equal(loader_open(p, &fixture_host, f->records, &table, &err), COLLET_UNAVAILABLE);
    setlocale(LC_ALL, "C");
    assert_contains(err.text, "libzoo_plain_library.so");
    assert_string_equal(fixture_record(f, "bad.so", "open")->code, "missing-library");
}

/* ---- Open -------------------------------------------------------------------------------- */

static const collet_plugin *open_one(fixture *f, const char *name, collet_status expected)
{
    const collet_plugin *table = NULL;
    collet_error err = {.text = ""};
    const loader_plugin *p = fixture_plugin(f, name);
    assert_non_null(p);
    collet_status status = loader_open(p, &fixture_host, f->records, &table, &err);
    if (status != expected)
        fail_msg("%s: status %d: %s", name, status, err.text);
    return table;
}

TEST_WITH(opens_good_ones, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    fixture_add(f, "good", "good.so");
    fixture_add(f, "own_op", "own_op.so");
    fixture_add(f, "capabilities_long", "long.so");
    fixture_scan(f);
    assert_int_equal(f->count, 3);
    const collet_plugin *table = open_one(f, "zoo_good", COLLET_OK);
    assert_ptr_equal(table, open_one(f, "zoo_good", COLLET_OK));
    assert_string_equal(table->name, "zoo_good");
    assert_string_equal(open_one(f, "zoo_own_op", COLLET_OK)->ops[0].name, "zoo.twice");
    fixture_assert_proven(f, "zoo_capabilities_long");
    assert_true(strlen(fixture_plugin(f, "zoo_capabilities_long")->capabilities) > 90000);
    assert_true(fixture_record(f, "good.so", "open")->accepted);
}

TEST_WITH(changed_since, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    fixture_add(f, "good", "good.so");
    fixture_scan(f);
    fixture_add(f, "flush_to_zero", "good.so");
    assert_null(open_one(f, "zoo_good", COLLET_UNAVAILABLE));
    assert_string_equal(fixture_record(f, "good.so", "open")->code, "changed");
    assert_int_equal(unlink(fixture_path(f, "good.so")), 0);
    assert_null(open_one(f, "zoo_good", COLLET_UNAVAILABLE));
    const loader_plugin *p = fixture_plugin(f, "zoo_good");
    const collet_plugin *table = NULL;
    assert_int_equal(loader_open_layer(p, p, &fixture_host, f->records, &table, NULL),
                     COLLET_UNAVAILABLE);
}

TEST_WITH(control_is_restored, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    collet_floating before = collet_floating_now();
    f->options.probe = 0;
    fixture_add(f, "flush_to_zero", "bad.so");
    fixture_scan(f);
    assert_string_equal(fixture_record(f, "bad.so", "probe")->code, "not-probed");
    assert_null(open_one(f, "zoo_flush_to_zero", COLLET_UNAVAILABLE));
    assert_string_equal(fixture_record(f, "bad.so", "open")->code, "changes-floating-point");
    assert_true(collet_floating_equal(before, collet_floating_now()));
}

TEST_WITH(rounds, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    collet_floating before = collet_floating_now();
    assert_int_equal(setenv("ZOO_DRIVER_ROUNDS", "capabilities", 1), 0);
    fixture_add(f, "rounds", "bad.so");
    expect(f, "probe", "changes-floating-point", "in its capabilities it changed");
    assert_int_equal(setenv("ZOO_DRIVER_ROUNDS", "entry", 1), 0);
    expect(f, "probe", "changes-floating-point", "in collet_plugin_entry it changed");
    f->options.probe = 0;
    fixture_scan(f);
    assert_null(open_one(f, "zoo_rounds", COLLET_UNAVAILABLE));
    assert_true(collet_floating_equal(before, collet_floating_now()));
    assert_int_equal(unsetenv("ZOO_DRIVER_ROUNDS"), 0);
}

/* A file that passes all checks, but that the dynamic linker refuses. */
TEST_WITH(not_loaded, fixture_setup, fixture_teardown)
{
    size_t count;
    char *bytes = fixture_read(COLLET_TEST_ZOO "/zoo_good.so", &count);
    Elf64_Ehdr head;
    memcpy(&head, bytes, sizeof head);
    for (unsigned i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr segment;
        size_t at = head.e_phoff + i * sizeof segment;
        memcpy(&segment, bytes + at, sizeof segment);
        if (segment.p_type == PT_DYNAMIC)
            fixture_add_patched(*state, "bad.so", at, &(Elf64_Word){PT_NULL}, sizeof(Elf64_Word));
    }
    free(bytes);
    fixture_scan(*state);
    assert_string_equal(fixture_record(*state, "bad.so", "probe")->code, "load-failed");
    assert_true(fixture_plugin(*state, "zoo_good")->unproven);
    assert_null(open_one(*state, "zoo_good", COLLET_UNAVAILABLE));
}

/* Records of files that are named individually. */
TEST_WITH(names_of_files, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    fixture_write(f, "plain", "x", 1);
    fixture_write(f, ".so", "x", 1);
    snprintf(f->path, sizeof f->path, "%s/plain:%s/.so", f->directory, f->directory);
    fixture_scan(f);
    assert_string_equal(fixture_record(f, "plain", "manifest")->code, "not-elf");
    assert_string_equal(fixture_record(f, ".so", "manifest")->code, "not-elf");
}

TEST_WITH(probe_missing, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    f->options.probe_program = COLLET_TEST_NOTHING "/collet-probe";
    fixture_add(f, "good", "good.so");
    fixture_scan(f);
    const loader_plugin *p = fixture_plugin(f, "zoo_good");
    assert_true(p->usable && p->unproven);
    assert_string_equal(p->code, "probe-unavailable");
    assert_non_null(open_one(f, "zoo_good", COLLET_OK));
}

TEST_WITH(probe_not_trusted, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    char path[PATH_MAX];
    size_t count;
    char *program = fixture_read(COLLET_TEST_PROBE, &count);
    fixture_write(f, "collet-probe", program, count);
    free(program);
    snprintf(path, sizeof path, "%s/collet-probe", f->directory);
    assert_int_equal(chmod(path, 0777), 0);
    f->options.probe_program = path;
    fixture_add(f, "good", "good.so");
    fixture_scan(f);
    const loader_plugin *p = fixture_plugin(f, "zoo_good");
    assert_true(p->usable && p->unproven);
    assert_string_equal(p->reason,
                        "collet-probe is not found, not trusted or built for another processor");
}

TEST_WITH(probe_of_another_processor, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    char path[PATH_MAX];
    size_t count;
    char *program = fixture_read(COLLET_TEST_PROBE, &count);
    ((Elf64_Ehdr *)program)->e_machine = EM_IA_64;
    fixture_write(f, "collet-probe", program, count);
    free(program);
    snprintf(path, sizeof path, "%s/collet-probe", f->directory);
    assert_int_equal(chmod(path, 0755), 0);
    f->options.probe_program = path;
    fixture_add(f, "good", "good.so");
    fixture_scan(f);
    const loader_plugin *p = fixture_plugin(f, "zoo_good");
    assert_true(p->usable && p->unproven);
    assert_contains(p->reason, "built for another processor");
}

TEST_WITH(settings_reach_the_probe, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    const char *settings[] = {"zoo_own_op.devices=0", NULL};
    fixture_add(f, "own_op", "own_op.so");
    fixture_scan(f);
    assert_contains(fixture_plugin(f, "zoo_own_op")->capabilities, "\"device_count\": 1");
    f->options.settings = settings;
    fixture_scan(f);
    assert_contains(fixture_plugin(f, "zoo_own_op")->capabilities, "switched off");
}

TEST_WITH(undeclared_setting, fixture_setup, fixture_teardown)
{
    fixture *f = *state;
    fixture_add(f, "undeclared", "undeclared.so");
    fixture_scan(f);
    const loader_plugin *p = fixture_plugin(f, "zoo_undeclared");
    assert_false(p->usable);
    assert_string_equal(p->code, "undeclared-setting");
    assert_contains(p->reason, "the setting zoo_undeclared.probed");
}

/* All settings reach the probe, however many there are. */
TEST_WITH(many_settings_reach_the_probe, fixture_setup, fixture_teardown)
{
    enum { COUNT = 1000 };
    fixture *f = *state;
    static char text[COUNT][24];
    const char *settings[COUNT + 1] = {NULL};
    for (int i = 0; i < COUNT; i++) {
        snprintf(text[i], sizeof text[i], "zoo.k%d=1", i);
        settings[i] = text[i];
    }
    settings[COUNT - 1] = "zoo_own_op.devices=0";
    fixture_add(f, "own_op", "own_op.so");
    f->options.settings = settings;
    fixture_scan(f);
    assert_contains(fixture_plugin(f, "zoo_own_op")->capabilities, "switched off");
}

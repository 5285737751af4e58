/* SPDX-License-Identifier: Apache-2.0 */
/* Backends with one defect each, and valid backends. Each row of `backends` states how a backend differs from
 * zoo.h. */
#include "zoo.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#define CAPABILITIES(name)                                                                         \
    static collet_status name(const collet_plugin *self, char *json, uint64_t capacity,            \
                              uint64_t *needed, const collet_host *host, collet_error *err)
#define DEVICE_OPEN(name)                                                                          \
    static collet_status name(const collet_plugin *self, collet_device **device,                   \
                              collet_device_properties *properties, const collet_host *host,       \
                              uint32_t index, const char *name_of, collet_error *err)

/* ---- While the plugin is loaded---------------------------------------------------------------- */

static void crash(void)
{
    raise(SIGSEGV);
}

static void hang(void)
{
    for (;;)
        pause();
}

/* Its file changes. */
static void change_file(void)
{
    const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    Dl_info info;
    if (dladdr(zoo_json, &info))
        (void)utimensat(AT_FDCWD, info.dli_fname, times, 0);
}

/* Changes the floating-point state, as the start-up code of a library linked with -ffast-math does. */
static void flush_to_zero(void)
{
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040u);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)1 << 24));
#else
    fesetround(FE_UPWARD);
#endif
}

/* Writes a report as the probe does, with a code that would clear a terminal. */
static void forge_report(void)
{
    static const char text[] = "{\"code\":\"a\\u001b[2J\",\"reason\":\"no\",\"unproven\":false}\n";
    if (write(3, text, sizeof text - 1) > 0)
        _exit(0);
}

static void start_one(int session)
{
    if (fork() == 0) {
        if (session)
            setsid();
        if (fork() == 0)
            hang();
        _exit(0);
    }
}

static const char *memory = "none";

/* Ignores SIGCHLD, starts processes in its own process group and in a new session, and asks for more memory
 * than a machine has; `memory` records the result. */
static void leave_processes(void)
{
    const size_t huge = (size_t)1 << 45;
    signal(SIGCHLD, SIG_IGN);
    start_one(0);
    start_one(1);
    if (!strcmp(COLLET_SANITIZER, "none") &&
        mmap(NULL, huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
             0) != MAP_FAILED)
        memory = "got";
    if (mmap(NULL, huge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
        memory = "no addresses";
}

/* ---- In the entry function, after zoo_fill -------------------------------------------------- */

static void abort_with_text(collet_plugin *table)
{
    fprintf(stderr, "the zoo is\nclosed\n");
    abort();
}

static void exit_7(collet_plugin *table)
{
    exit(7);
}

/* Prints, and starts a process in a new session, which holds every descriptor open and creates the file
 * $ZOO_STARTED; then hangs. */
static void hang_and_print(collet_plugin *table)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            const char *path = getenv("ZOO_STARTED");
            if (path)
                creat(path, 0600);
            hang();
        }
        _exit(0);
    }
    for (;;)
        fprintf(stderr, "still here\n");
}

static void null_slot(collet_plugin *table)
{
    table->device_close = NULL;
}

/* One slot shorter than the first release's table. */
static void short_table(collet_plugin *table)
{
    table->struct_size = offsetof(collet_plugin, extension);
}

static void other_abi(collet_plugin *table)
{
    table->abi = (COLLET_ABI_MAJOR + 1u) << 16 | 7;
}

/* The address of the kernel rows is not mapped. */
static void unmapped_rows(collet_plugin *table)
{
    table->kernels = (const collet_kernel_row *)(uintptr_t)64;
}

static void own_op(collet_plugin *table)
{
    static const collet_ops_definition ops[] = {
        {.name = "zoo.twice", .shapes = "... : ...", .sigs = "f:f d:d", .alias = 1}};
    static const collet_kernel_row rows[] = {
        {.op = COLLET_OWN_OP(0), .sig = COLLET_SIG(COLLET_F32, COLLET_F32), .run = zoo_run},
    };
    table->ops = ops;
    table->op_count = 1;
    table->op_size = sizeof *ops;
    table->kernels = rows;
    table->kernel_count = 1;
}

static void change_rounding(const char *where)
{
    const char *wanted = getenv("ZOO_DRIVER_ROUNDS");
    if (wanted && !strcmp(wanted, where))
        fesetround(FE_UPWARD);
}

static void round_in_entry(collet_plugin *table)
{
    change_rounding("entry");
}

/* ---- In its capabilities --------------------------------------------------------------------- */

CAPABILITIES(round_in_capabilities)
{
    change_rounding("capabilities");
    return zoo_capabilities(self, json, capacity, needed, host, err);
}

CAPABILITIES(fail)
{
    *needed = 0;
    return host->fail_text(err, COLLET_FAILED, "the driver does not respond: %s");
}

/* Reports a device_count of two, but has one device. */
CAPABILITIES(one_of_two)
{
    return zoo_write("{\"jit\": false, \"parallel\": false, \"gpu\": false, \"device_count\": 2,"
                     " \"devices\": [{\"name\": \"one\"}]}",
                     json, capacity, needed);
}

/* The capabilities need a second, larger buffer and contain escaped characters. */
CAPABILITIES(long_name)
{
    static char text[100000];
    size_t length = strlen(strcpy(text, "{\"jit\": false, \"parallel\": false, \"gpu\": false,"
                                        " \"device_count\": 1, \"devices\": [{\"name\": \""));
    memset(text + length, '}', 90000);
    strcpy(text + length + 90000, "\"}]}");
    return zoo_write(text, json, capacity, needed);
}

CAPABILITIES(divide_by_zero)
{
    raise(SIGFPE);
    return zoo_capabilities(self, json, capacity, needed, host, err);
}

/* The name would clear a terminal and is not UTF-8. */
CAPABILITIES(hostile_name)
{
    return zoo_write("{\"jit\": false, \"parallel\": false, \"gpu\": false, \"device_count\": 1,"
                     " \"devices\": [{\"name\": \"\\u001b[2Jcard\\n\xff\xc2\x9b\\u009B \\\\n\","
                     " \"a\\nb\": 1}]}",
                     json, capacity, needed);
}

CAPABILITIES(report_memory)
{
    if (strcmp(memory, "none"))
        return host->fail(err, COLLET_FAILED, "memory: %s", memory);
    return zoo_capabilities(self, json, capacity, needed, host, err);
}

/* The setting zoo_own_op.devices=0 removes the device. */
CAPABILITIES(devices_as_set)
{
    const char *devices = host->config(host, "zoo_own_op.devices");
    return zoo_write(!strcmp(devices, "0")
                         ? "{\"jit\": true, \"parallel\": true, \"gpu\": true, \"device_count\": 0,"
                           " \"devices\": [], \"reason\": \"switched off\"}"
                         : zoo_json,
                     json, capacity, needed);
}

/* Reads settings that its manifest does not declare. */
CAPABILITIES(read_undeclared)
{
    if (host->config(host, "in_probe"))
        (void)host->config(host, "zoo_undeclared.probed");
    (void)host->config(host, "zoo_undeclared.secret");
    return zoo_capabilities(self, json, capacity, needed, host, err);
}

/* Dies in the way that the setting "dies" names: crash, hang, exit, or "always" (crashes in safe mode too). In safe
 * mode the backend is otherwise valid. */
static void die(const char *how)
{
    if (!strcmp(how, "crash") || !strcmp(how, "always"))
        raise(SIGILL);
    while (!strcmp(how, "hang"))
        pause();
    if (!strcmp(how, "exit"))
        _exit(3);
}

/* The number of descriptors that the probe inherited from the host; 0 to 3 are its own. */
static int descriptors(void)
{
    int count = 0;
    for (int i = 4; i < 256; i++)
        count += fcntl(i, F_GETFD) >= 0;
    return count;
}

CAPABILITIES(die_as_set)
{
    const char *safe = host->config(host, "zoo_fragile.safe_mode");
    const char *dies = host->config(host, "zoo_fragile.dies");
    char text[512];
    host->log_text(host, COLLET_LOG_DEBUG, "trying the library 100 %s");
    if (dies && (!safe || !strcmp(safe, "off") || !strcmp(dies, "always")))
        die(dies);
    snprintf(text, sizeof text, "%.*s, \"choices\": {\"probe\": \"%ld\"}, \"descriptors\": %d}",
             (int)(sizeof zoo_json - 2), zoo_json, (long)getpid(), descriptors());
    return zoo_write(text, json, capacity, needed);
}

/* ---- When its device opens ------------------------------------------------------------------- */

DEVICE_OPEN(hostile_message)
{
    return host->fail(err, COLLET_UNAVAILABLE, "the driver's \033[2J\r\n\xff\xc2\x9b message");
}

static const char *setting_or_none(const collet_host *host, const char *key)
{
    const char *value = host->config(host, key);
    return value ? value : "none";
}

DEVICE_OPEN(report_settings)
{
    return host->fail(err, COLLET_UNAVAILABLE, "probe: %s, in_probe: %s, safe_mode: %s",
                      setting_or_none(host, "zoo_fragile.probe"), setting_or_none(host, "in_probe"),
                      setting_or_none(host, "zoo_fragile.safe_mode"));
}

/* ---- The backends ---------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*load)(void);
    void (*entry)(collet_plugin *table);
    __typeof__(&zoo_capabilities) capabilities;
    __typeof__(&zoo_device_open) device_open;
} backends[] = {
    {"zoo_good", NULL, NULL, NULL, NULL}, /* tests also corrupt copies of it */
    {"zoo_entry_null", NULL, NULL, NULL, NULL},
    {"zoo_crash_constructor", crash, NULL, NULL, NULL},
    {"zoo_hang_constructor", hang, NULL, NULL, NULL},
    {"zoo_changes_itself", change_file, NULL, NULL, NULL},
    {"zoo_flush_to_zero", flush_to_zero, NULL, NULL, NULL},
    {"zoo_forged_report", forge_report, NULL, NULL, NULL},
    {"zoo_leaves_processes", leave_processes, NULL, report_memory, NULL},
    {"zoo_crash_entry", NULL, abort_with_text, NULL, NULL},
    {"zoo_exit_entry", NULL, exit_7, NULL, NULL},
    {"zoo_hang_entry", NULL, hang_and_print, NULL, NULL},
    {"zoo_null_slot", NULL, null_slot, NULL, NULL},
    {"zoo_short_vtable", NULL, short_table, NULL, NULL},
    {"zoo_table_abi", NULL, other_abi, NULL, NULL},
    {"zoo_table_garbage", NULL, unmapped_rows, NULL, NULL},
    {"zoo_own_op", NULL, own_op, devices_as_set, NULL},
    {"zoo_rounds", NULL, round_in_entry, round_in_capabilities, NULL},
    {"zoo_capabilities_fail", NULL, NULL, fail, NULL},
    {"zoo_capabilities_garbage", NULL, NULL, one_of_two, NULL},
    {"zoo_capabilities_long", NULL, NULL, long_name, NULL},
    {"zoo_crash_capabilities", NULL, NULL, divide_by_zero, NULL},
    {"zoo_undeclared", NULL, NULL, read_undeclared, NULL},
    {"zoo_hostile_text", NULL, NULL, hostile_name, hostile_message},
    {"zoo_fragile", NULL, NULL, die_as_set, report_settings},
};

static size_t row(void)
{
    size_t i = 0;
    while (strcmp(backends[i].name, ZOO_NAME) != 0)
        i++;
    return i;
}

__attribute__((constructor)) static void load(void)
{
    if (backends[row()].load)
        backends[row()].load();
}

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    zoo_fill(&zoo_table);
    if (backends[row()].capabilities)
        zoo_table.capabilities = backends[row()].capabilities;
    if (backends[row()].device_open)
        zoo_table.device_open = backends[row()].device_open;
    if (backends[row()].entry)
        backends[row()].entry(&zoo_table);
    return strcmp(ZOO_NAME, "zoo_entry_null") ? &zoo_table : NULL;
}

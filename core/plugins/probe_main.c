/* SPDX-License-Identifier: Apache-2.0 */
/* collet-probe - tries one plugin and writes the result to descriptor 3. libcore starts it;
 * probe.h describes its arguments and its report.
 * Tests: tests/fault/test_probe_calls.c */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <collet/collet.h>
#include <collet/floating.h>

#include "capabilities.h"
#include "util/json.h"
#include "manifest.h"
#include "open.h"
#include "probe.h"

#define OVERTIME_MS 2000 /* libcore should have ended this process by then */

/* The host that the plugin gets. */
typedef struct probe_host {
    collet_host table; /* first: the plugin returns its address */
    int32_t threads;
    char **settings; /* "key=value", NULL-terminated */
    manifest manifest;
    _Atomic int undeclared;        /* 1: a key was read that the manifest does not declare */
    char key[COLLET_MAX_NAME * 2]; /* the first such key */
} probe_host;

/* The last messages become part of the reason when the probe dies (probe.c). */
static void host_log(const collet_host *host, int32_t level, const char *format, ...)
{
    va_list arguments;
    (void)host;
    (void)level;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

static int32_t host_threads(const collet_host *host)
{
    return ((const probe_host *)host)->threads;
}

static const char *host_config(const collet_host *host, const char *key)
{
    probe_host *h = (probe_host *)(void *)(uintptr_t)host;
    const setting *s = manifest_setting(&h->manifest, key);
    const char *last = strcmp(key, "in_probe") ? "" : "yes";
    size_t length = strlen(key);
    for (char **text = h->settings; *text; text++)
        if (!strncmp(*text, key, length) && (*text)[length] == '=')
            last = *text + length + 1;
    if (!s && strchr(key, '.') && !atomic_exchange(&h->undeclared, 1))
        snprintf(h->key, sizeof h->key, "%s", key);
    if (!*last && s)
        last = s->fallback;
    return *last ? last : NULL;
}

static void write_all(const char *text, size_t length)
{
    while (length) {
        ssize_t n = write(PROBE_DESCRIPTOR, text, length);
        if (n < 0 && errno != EINTR)
            return;
        if (n > 0) {
            text += n;
            length -= (size_t)n;
        }
    }
}

static void write_step(char step)
{
    write_all(&step, 1);
}

#ifndef SYS_close_range
#define SYS_close_range 436 /* on every processor; Linux 5.9 */
#endif

/* Closes descriptors that the program opened without FD_CLOEXEC: a plugin must not inherit them.
 * Done here, because posix_spawn has an action for this only from glibc 2.34 on. */
static void close_inherited(void)
{
    if (!syscall(SYS_close_range, PROBE_DESCRIPTOR + 1, ~0u, 0))
        return;
    DIR *directory = opendir("/proc/self/fd");
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        long descriptor = strtol(entry->d_name, NULL, 10);
        if (descriptor > PROBE_DESCRIPTOR && descriptor != dirfd(directory))
            close((int)descriptor);
    }
    if (directory)
        closedir(directory);
}

/* A crash must end the process by its signal (a sanitizer would exit instead) and leave no core
 * file. RLIMIT_DATA limits written memory to the size of the machine's memory; sanitizers write
 * more, so there is no limit with them. The address space is not limited, because drivers of GPUs
 * reserve more addresses than the machine has memory. */
static void confine(void)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        signal(fatal[i], SIG_DFL);
    struct rlimit core = {1, 1}; /* with 0 the kernel would still pipe the dump to a collecting
                                    program */
    setrlimit(RLIMIT_CORE, &core);
    struct rlimit data;
    rlim_t all = (rlim_t)sysconf(_SC_PHYS_PAGES) * (rlim_t)sysconf(_SC_PAGESIZE);
    if (!strcmp(COLLET_SANITIZER, "none") && !getrlimit(RLIMIT_DATA, &data) && data.rlim_cur > all)
        setrlimit(RLIMIT_DATA, &(struct rlimit){all, all});
}

/* ---- The supervisor ---------------------------------------------------------------------- */

/* Kills children until none remain: the children of a killed process become children of this process. */
static void kill_children(void)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    while (waitpid(-1, NULL, WNOHANG) >= 0) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return;
        ssize_t length = read(fd, text, sizeof text - 1);
        text[length > 0 ? length : 0] = '\0';
        char *at = text, *end;
        for (long pid; (pid = strtol(at, &end, 10)) > 0 && *end; at = end)
            kill((pid_t)pid, SIGKILL);
        close(fd);
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
}

/* 1 if the worker has ended by itself. 0 at the time limit, or if libcore has sent SIGTERM, has closed its end of the
 * report or has died. */
static int wait_for(pid_t worker, int signals, int timeout_ms)
{
    siginfo_t info = {.si_pid = 0};
    struct signalfd_siginfo got;
    struct pollfd ends[] = {{.fd = signals, .events = POLLIN}, {.fd = PROBE_DESCRIPTOR}};
    while (poll(ends, 2, timeout_ms) > 0 && !ends[1].revents &&
           read(signals, &got, sizeof got) == (ssize_t)sizeof got && got.ssi_signo == SIGCHLD)
        if (!waitid(P_PID, (id_t)worker, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid)
            return 1;
    return 0;
}

/* Waits for the worker, kills it and all processes that it has started, and ends with the worker's
 * exit status or signal. */
static void supervise(pid_t worker, int signals, int timeout_ms)
{
    int status = 0, ended = wait_for(worker, signals, timeout_ms);
    kill(-worker, SIGKILL);
    kill(worker, SIGKILL);
    while (waitpid(worker, &status, 0) < 0 && errno == EINTR)
        continue;
    kill_children();
    if (ended && WIFEXITED(status))
        _exit(WEXITSTATUS(status));
    int number = ended ? WTERMSIG(status) : SIGALRM;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    signal(number, SIG_DFL);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    _exit(1);
}

/* Makes this process the reaper of all processes that the plugin starts, in any group or session.
 * Then forks, and returns in the child: the worker, in which the plugin runs, in its own process
 * group. */
static void divide(int timeout_ms)
{
    sigset_t ends, before;
    pid_t self = getpid();
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, &before);
    int signals = signalfd(-1, &ends, SFD_CLOEXEC);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t worker = signals < 0 ? -1 : fork();
    if (worker < 0) {
        fprintf(stderr, "collet-probe: cannot start the process that tries the plugin: %s\n",
                strerror(errno));
        _exit(1);
    }
    if (worker) {
        setpgid(worker, worker);
        supervise(worker, signals, timeout_ms);
    }
    close(signals);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (getppid() != self)
        _exit(1);
}

/* ---- The worker -------------------------------------------------------------------------- */

static collet_status try_plugin(const char *path, probe_host *h, char **capabilities, refusal *why)
{
    const collet_host *host = &h->table;
    const manifest *m = &h->manifest;
    const collet_plugin *plugin = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return refuse_with(why, COLLET_IO, "changed", "the file can no longer be opened: %s",
                           strerror(errno));
    collet_status status = manifest_read(fd, &h->manifest, why);
    close(fd);
    if (status == COLLET_OK)
        status = open_plugin(path, m, host, write_step, &plugin, why);
    if (status == COLLET_OK) {
        collet_floating before = collet_floating_now();
        write_step(PROBE_CAPABILITIES);
        status = capabilities_get(plugin, host, capabilities, why);
        if (!collet_floating_equal(before, collet_floating_now()))
            status = REFUSE("changes-floating-point",
                            "in its capabilities it changed the program's floating-point control");
    }
    if (status == COLLET_OK && h->undeclared)
        status = REFUSE("undeclared-setting",
                        "it reads the setting %s, which its manifest does not declare", h->key);
    return status;
}

static int report(const char *code, const char *reason, int unproven, const char *capabilities)
{
    cJSON *root = cJSON_CreateObject();
    if (!root || !cJSON_AddStringToObject(root, "code", code) ||
        !cJSON_AddStringToObject(root, "reason", reason) ||
        !cJSON_AddBoolToObject(root, "unproven", unproven) ||
        (capabilities && !cJSON_AddStringToObject(root, "capabilities", capabilities)))
        return 1;
    char *text = json_print(root);
    if (!text)
        return 1;
    size_t length = strlen(text);
    text[length] = '\n'; /* replaces the NUL, so that one write is enough */
    write_all(text, length + 1);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(
            stderr,
            "usage: collet-probe FILE THREADS TIMEOUT_MS (libcore starts it to try a plugin)\n");
        return 2;
    }
    probe_host host = {
        .table = {.abi = COLLET_ABI,
                  .struct_size = sizeof(collet_host),
                  .fail = collet_fail,
                  .log = host_log,
                  .threads = host_threads,
                  .config = host_config,
                  .extension = open_host_extension,
                  .fail_text = collet_fail_text,
                  .log_text = open_host_log_text},
        .threads = (int32_t)strtol(argv[2], NULL, 10),
        .settings = argv + 4,
    };
    manifest_init(&host.manifest);
    close_inherited();
    confine();
    long long timeout_ms = strtoll(argv[3], NULL, 10);
    divide((int)(timeout_ms < INT_MAX - OVERTIME_MS ? timeout_ms + OVERTIME_MS : INT_MAX));
    char *capabilities = NULL;
    refusal why;
    collet_status status = try_plugin(argv[1], &host, &capabilities, &why);
    int unproven = status == COLLET_NO_MEMORY || !strcmp(why.code, "missing-library") ||
                   !strcmp(why.code, "load-failed");
    int failed = report(why.code, status == COLLET_OK ? "" : why.text, unproven,
                        status == COLLET_OK ? capabilities : NULL);
    /* _exit(), because destructors of a refused plugin must not run. */
    _exit(failed);
}

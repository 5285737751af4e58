/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/fault/test_probe.c */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <collet/collet.h>

#include "capabilities.h"
#include "file.h"
#include "util/json.h"
#include "util/text.h"
#include "open.h"

#define TAIL 400    /* number of bytes kept from the end of the child's messages */
#define POLL_MS 20  /* interval of checking the child, whose pipe a grandchild may keep open */
#define REAP_MS 300 /* time after which a killed child that does not end is abandoned */

typedef struct child {
    pid_t pid;
    int report, messages; /* read ends, -1 when closed */
    char *text;
    size_t length, capacity;
    char tail[TAIL + 1];
    size_t tail_length;
    int64_t deadline;
    int settled, finished; /* settled: not waited for any more; finished: reaped or abandoned */
    int ended, status, status_known, timed_out;
} child;

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- Reports ----------------------------------------------------------------------------- */

void probe_report_clear(probe_report *report)
{
    free(report->code);
    free(report->reason);
    free(report->capabilities);
    *report = (probe_report){.code = NULL};
}

collet_status probe_report_set(probe_report *report, const char *code, const char *reason,
                               const char *capabilities, int unproven, collet_error *err)
{
    *report = (probe_report){.code = strdup(code),
                             .reason = strdup(reason),
                             .capabilities = capabilities ? strdup(capabilities) : NULL,
                             .unproven = unproven};
    if (report->code && report->reason && (report->capabilities || !capabilities))
        return COLLET_OK;
    probe_report_clear(report);
    return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the report of a probe");
}

static COLLET_PRINTF(5, 6) collet_status
    report_format(probe_report *report, const char *code, int unproven, collet_error *err,
                  const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    text_message(text, sizeof text, format, arguments);
    va_end(arguments);
    return probe_report_set(report, code, text, NULL, unproven, err);
}

/* ---- Starting ---------------------------------------------------------------------------- */

/* Makes a pipe with descriptors from 10 on, because spawn_with overwrites 0 to 3, which may be free
 * if the program closed them. EINVAL of fcntl means that the limit of open files is below 10. */
static int high_pipe(int ends[2])
{
    int low[2];
    if (pipe2(low, O_CLOEXEC))
        return errno;
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 10);
        close(low[i]);
    }
    if (ends[0] >= 0 && ends[1] >= 0 && !fcntl(ends[0], F_SETFL, O_NONBLOCK))
        return 0;
    return errno == EINVAL ? EMFILE : errno;
}

static int spawn_with(pid_t *pid, char *const *arguments, int report, int messages,
                      posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    /* The only possible error of these functions is lack of memory. */
    int error = posix_spawnattr_setflags(
        attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    error |= posix_spawnattr_setsigmask(attributes, &none);
    error |= posix_spawnattr_setsigdefault(attributes, &all);
    error |= posix_spawnattr_setpgroup(attributes, 0);
    error |= posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    error |= posix_spawn_file_actions_addopen(actions, 1, "/dev/null", O_WRONLY, 0);
    error |= posix_spawn_file_actions_adddup2(actions, messages, 2);
    error |= posix_spawn_file_actions_adddup2(actions, report, PROBE_DESCRIPTOR);
    /* With raised privileges the caller's environment variables must not influence the plugin's
     * libraries. */
    char *const nothing[] = {NULL};
    return error ? ENOMEM
                 : posix_spawn(pid, arguments[0], actions, attributes, arguments,
                               getauxval(AT_SECURE) ? nothing : environ);
}

static int spawn_arguments(char *const *arguments, int report, int messages, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        error = spawn_with(pid, arguments, report, messages, &actions, &attributes);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static int spawn(const probe_request *request, int report, int messages, pid_t *pid)
{
    char threads[16], timeout[24];
    size_t count = 0;
    snprintf(threads, sizeof threads, "%d", request->threads);
    snprintf(timeout, sizeof timeout, "%lld", (long long)request->timeout_ms);
    while (request->settings && request->settings[count])
        count++;
    const char *first[] = {request->program, request->path, threads, timeout};
    const char **arguments = calloc(count + 5, sizeof *arguments);
    if (!arguments)
        return ENOMEM;
    memcpy(arguments, first, sizeof first);
    if (count)
        memcpy(arguments + 4, request->settings, count * sizeof *arguments);
    int error = spawn_arguments((char *const *)arguments, report, messages, pid);
    free(arguments);
    return error;
}

static void close_end(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

/* Returns 0 or an errno. */
static int child_start(child *c, const probe_request *request)
{
    int report[2] = {-1, -1}, messages[2] = {-1, -1};
    int error = high_pipe(report);
    error = error ? error : high_pipe(messages);
    error = error ? error : spawn(request, report[1], messages[1], &c->pid);
    close_end(&report[1]);
    close_end(&messages[1]);
    if (error) {
        c->pid = 0;
        close_end(&report[0]);
        close_end(&messages[0]);
    }
    c->report = report[0];
    c->messages = messages[0];
    return error;
}

/* ---- Reading the child ------------------------------------------------------------------- */

/* Reads the available bytes; closes the descriptor at end of file and above PROBE_MAX_REPORT. */
static collet_status read_report(child *c, collet_error *err)
{
    while (c->report >= 0) {
        if (c->length == c->capacity) {
            size_t capacity = c->capacity ? 2 * c->capacity : 4096;
            char *text = capacity > PROBE_MAX_REPORT ? NULL : realloc(c->text, capacity);
            if (capacity > PROBE_MAX_REPORT) {
                close_end(&c->report);
                return COLLET_OK;
            }
            if (!text)
                return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a probe's report");
            c->text = text;
            c->capacity = capacity;
        }
        ssize_t n = read(c->report, c->text + c->length, c->capacity - c->length);
        if (n > 0)
            c->length += (size_t)n;
        else if (n < 0 && errno == EINTR)
            continue;
        else if (n < 0 && errno == EAGAIN)
            return COLLET_OK;
        else
            close_end(&c->report);
    }
    return COLLET_OK;
}

/* A limited number of reads, so that endless messages do not delay the deadline. */
static void read_messages(child *c)
{
    for (int i = 0; i < 16 && c->messages >= 0; i++) {
        char part[TAIL];
        ssize_t n = read(c->messages, part, sizeof part);
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            close_end(&c->messages);
            return;
        }
        size_t kept = c->tail_length + (size_t)n > TAIL ? TAIL - (size_t)n : c->tail_length;
        memmove(c->tail, c->tail + c->tail_length - kept, kept);
        memcpy(c->tail + kept, part, (size_t)n);
        c->tail_length = kept + (size_t)n;
        c->tail[c->tail_length] = '\0';
    }
}

/* 1 if the child has ended. The child's status is unknown if the program reaps or ignores its children. */
static int child_ended(child *c)
{
    if (c->ended)
        return 1;
    pid_t got = waitpid(c->pid, &c->status, WNOHANG);
    c->status_known = got == c->pid;
    c->ended = c->status_known || (got < 0 && errno == ECHILD);
    return c->ended;
}

static int reported(const child *c)
{
    return c->length && c->text[c->length - 1] == '\n';
}

/* Reads the bytes that the child has written. The child is settled when its report is complete, when it has
 * ended, or when its time is over. */
static collet_status child_listen(child *c, int ready, collet_error *err)
{
    /* Check the child before reading the pipe, so that everything that an ended child wrote is
     * read. */
    int ended = (!ready || c->report < 0) && child_ended(c);
    read_messages(c);
    collet_status status = read_report(c, err);
    c->settled = status != COLLET_OK || reported(c) || ended;
    if (!c->settled && now_ms() >= c->deadline)
        c->settled = c->timed_out = 1;
    return status;
}

/* Waits until an unsettled child has written something, or may have ended. */
static void children_poll(const child *children, size_t count, int ready[])
{
    struct pollfd ends[2 * PROBE_MAX_AT_ONCE];
    int64_t pause = POLL_MS, now = now_ms();
    for (size_t i = 0; i < count; i++) {
        const child *c = &children[i];
        ends[2 * i] = (struct pollfd){.fd = c->settled ? -1 : c->report, .events = POLLIN};
        ends[2 * i + 1] = (struct pollfd){.fd = c->settled ? -1 : c->messages, .events = POLLIN};
        if (!c->settled && c->deadline - now < pause)
            pause = c->deadline > now ? c->deadline - now : 0;
        if (!c->settled && c->report < 0 && pause > 1)
            pause = 1;
    }
    int some = poll(ends, 2 * count, (int)pause);
    for (size_t i = 0; i < count; i++)
        ready[i] = some > 0 && (ends[2 * i].revents || ends[2 * i + 1].revents);
}

static void wait_ended(child *c)
{
    int64_t deadline = now_ms() + REAP_MS;
    for (long pause = 100000; !child_ended(c) && now_ms() < deadline;
         pause += pause < 5000000 ? pause : 0)
        nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
}

/* Reaps the child. Unless kill_now, it first has up to REAP_MS to exit. SIGTERM is sent before
 * SIGKILL, so that the child can kill the processes that the plugin has started. */
static void child_finish(child *c, int kill_now)
{
    if (!kill_now)
        wait_ended(c);
    for (int i = 0; i < 2 && !child_ended(c); i++) {
        kill(c->pid, i ? SIGKILL : SIGTERM);
        wait_ended(c);
    }
    read_messages(c);
    close_end(&c->report);
    close_end(&c->messages);
    c->finished = 1;
}

/* ---- The report --------------------------------------------------------------------- */

/* sigabbrev_np (glibc 2.32) for the signals that end a process. */
static const char *signal_name(int number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {
        {SIGABRT, "ABRT"}, {SIGBUS, "BUS"},   {SIGFPE, "FPE"},   {SIGHUP, "HUP"},
        {SIGILL, "ILL"},   {SIGINT, "INT"},   {SIGKILL, "KILL"}, {SIGPIPE, "PIPE"},
        {SIGQUIT, "QUIT"}, {SIGSEGV, "SEGV"}, {SIGSYS, "SYS"},   {SIGTERM, "TERM"},
        {SIGTRAP, "TRAP"}, {SIGUSR1, "USR1"}, {SIGUSR2, "USR2"}, {SIGXCPU, "XCPU"},
        {SIGALRM, "ALRM"}, {SIGXFSZ, "XFSZ"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number)
            return names[i].name;
    return "?";
}

static const struct step {
    char mark;
    const char *code, *words;
} steps[] = {
    {OPEN_CONSTRUCTOR, "constructor", "in a constructor, while being loaded"},
    {OPEN_ENTRY, "entry", "in collet_plugin_entry"},
    {OPEN_TABLE, "vtable", "while its table was checked"},
    {PROBE_CAPABILITIES, "capabilities", "in its capabilities"},
};

static const struct step *last_step(const child *c, size_t *marks)
{
    const struct step *last = NULL;
    for (*marks = 0; *marks < c->length && c->text[*marks] != '{'; (*marks)++)
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
            if (steps[s].mark == c->text[*marks])
                last = &steps[s];
    return last;
}

/* Writes "; last output: ..." as one printable line, or "" if there is no output. */
static void quote_tail(child *c, char *out, size_t size)
{
    size_t end = c->tail_length;
    while (end && strchr(" \n\r\t", c->tail[end - 1]))
        end--;
    c->tail[end] = '\0';
    for (size_t i = 0; i < end; i++)
        if ((unsigned char)c->tail[i] < 0x20 || (unsigned char)c->tail[i] >= 0x7f)
            c->tail[i] = ' ';
    out[0] = '\0';
    if (end)
        snprintf(out, size, "; last output: %s", c->tail);
}

static collet_status report_from_end(child *c, const probe_request *request, probe_report *report,
                                     collet_error *err)
{
    size_t marks;
    char code[48], how[96], output[TAIL + 24];
    const char *kind = "exit";
    const struct step *step = last_step(c, &marks);
    int killed = c->status_known && WIFSIGNALED(c->status) ? WTERMSIG(c->status) : 0;
    quote_tail(c, output, sizeof output);
    if (!step)
        return report_format(report, "probe-unavailable", 1, err, "%s reported nothing%s",
                             request->program, output);
    if (c->timed_out || killed == SIGALRM) {
        kind = "hang";
        snprintf(how, sizeof how, " (no response after %lld ms%s)", (long long)request->timeout_ms,
                 probe_memory_is_limited() ? ", with limited address space: ulimit -v" : "");
    } else if (killed) {
        kind = "crash";
        snprintf(how, sizeof how, " (SIG%s)", signal_name(killed));
    } else if (c->status_known) {
        snprintf(how, sizeof how, " (status %d)", WEXITSTATUS(c->status));
    } else {
        how[0] = '\0';
    }
    snprintf(code, sizeof code, "%s-in-%s", kind, step->code);
    return report_format(report, code, 0, err, "%s %s%s%s",
                         *kind == 'h'   ? "hung"
                         : *kind == 'c' ? "crashed"
                                        : "ended the process",
                         step->words, how, output);
}

/* Parses the report. 0: malformed, because the plugin itself wrote to the descriptor. */
static int report_from_text(const child *c, size_t marks, probe_report *report,
                            collet_status *status, collet_error *err)
{
    cJSON *root = NULL;
    int32_t unproven;
    *status = json_parse(c->text + marks, c->length - marks, &root, NULL, err);
    if (*status != COLLET_OK)
        return *status == COLLET_NO_MEMORY;
    const char *code = json_string(root, "code"), *reason = json_string(root, "reason");
    const char *capabilities = json_string(root, "capabilities");
    int fine = code && reason && strlen(code) < 48 &&
               !code[strspn(code, "abcdefghijklmnopqrstuvwxyz-")] &&
               strlen(reason) <= COLLET_ERROR_TEXT && json_boolean(root, "unproven", &unproven) &&
               !strcmp(code, "ok") == !!capabilities &&
               (!capabilities || capabilities_verify(capabilities, NULL, NULL, NULL) == COLLET_OK);
    if (fine)
        *status = probe_report_set(report, code, reason, capabilities, unproven, err);
    cJSON_Delete(root);
    return fine;
}

int probe_memory_is_limited(void)
{
    struct rlimit limit;
    return !getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY;
}

int probe_died(const char *code)
{
    return !strncmp(code, "crash-in-", 9) || !strncmp(code, "hang-in-", 8) ||
           !strncmp(code, "exit-in-", 8);
}

/* ---- Concurrent probes --------------------------------------------------------------- */

static const char *start_mend(int error, const char *program)
{
    if (error == EMFILE)
        return " (raise the limit of open files: ulimit -n)";
    if (error == EAGAIN)
        return " (raise the limit of processes: ulimit -u)";
    return file_is_noexec(program) ? " (its file system is mounted noexec: remount it with exec)"
                                   : "";
}

static collet_status probe_start(child *c, const probe_request *request, probe_report *report,
                                 collet_error *err)
{
    *c = (child){.report = -1, .messages = -1, .deadline = now_ms() + request->timeout_ms};
    int error = child_start(c, request);
    if (!error)
        return COLLET_OK;
    c->settled = 1;
    if (error == ENOMEM)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a probe");
    return report_format(report, "probe-unavailable", 1, err, "%s cannot be started: %s%s",
                         request->program, strerror(error), start_mend(error, request->program));
}

static collet_status probe_end(child *c, const probe_request *request, probe_report *report,
                               collet_error *err)
{
    size_t marks;
    collet_status status = COLLET_OK;
    child_finish(c, c->timed_out);
    last_step(c, &marks);
    if (c->timed_out || !reported(c) || !report_from_text(c, marks, report, &status, err))
        status = report_from_end(c, request, report, err);
    report->milliseconds = (double)(now_ms() - (c->deadline - request->timeout_ms));
    return status;
}

/* Waits until every child is settled, or memory runs out. */
static collet_status probe_wait(child *children, const probe_request *requests,
                                probe_report *reports, size_t count, collet_error *err)
{
    collet_status status = COLLET_OK;
    int ready[PROBE_MAX_AT_ONCE];
    for (size_t settled = 0; settled < count && status == COLLET_OK;) {
        settled = 0;
        children_poll(children, count, ready);
        for (size_t i = 0; i < count && status == COLLET_OK; i++) {
            child *c = &children[i];
            if (!c->settled && (status = child_listen(c, ready[i], err)) == COLLET_OK && c->settled)
                status = probe_end(c, &requests[i], &reports[i], err);
            settled += c->settled != 0;
        }
    }
    return status;
}

collet_status probe_run(const probe_request *requests, probe_report *reports, size_t count,
                        collet_error *err)
{
    child children[PROBE_MAX_AT_ONCE];
    collet_status status = COLLET_OK;
    size_t started = 0;
    for (size_t i = 0; i < count; i++)
        reports[i] = (probe_report){.code = NULL};
    for (; started < count && status == COLLET_OK; started++)
        status = probe_start(&children[started], &requests[started], &reports[started], err);
    if (status == COLLET_OK)
        status = probe_wait(children, requests, reports, count, err);
    for (size_t i = 0; i < started; i++) {
        if (children[i].pid && !children[i].finished)
            child_finish(&children[i], 1); /* out of memory */
        free(children[i].text);
    }
    return status;
}

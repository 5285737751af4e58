/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_trace.c */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Numbers of devices' rows must not be process ids, which are below 2^22 on Linux. */
#define PROCESS_IDS (1 << 22)
#define DEVICES 64

struct trace {
    int fd;
    pid_t process;
    const message_log *log;
    _Atomic int failed;
};

int64_t trace_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

trace_row trace_here(int32_t device)
{
    return (trace_row){device, syscall(SYS_gettid)};
}

/* ---- Lines ------------------------------------------------------------------------------- */

typedef struct line {
    size_t length;
    char bytes[4096];
} line;

static void COLLET_PRINTF(2, 3) add(line *l, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(l->bytes + l->length, sizeof l->bytes - l->length, format, arguments);
    va_end(arguments);
    l->length += n > 0 ? (size_t)n : 0;
}

#define STRING_MAX 1024 /* bytes: all strings of a line, escaped or not, fit into it */

/* The name of a device may contain anything. */
static void add_string(line *l, const char *text)
{
    add(l, "\"");
    for (size_t end = l->length + STRING_MAX - 6; *text && l->length < end; text++) {
        if (*text == '"' || *text == '\\')
            l->bytes[l->length++] = '\\';
        if ((unsigned char)*text < 0x20)
            add(l, "\\u%04x", (unsigned)*text);
        else
            l->bytes[l->length++] = *text;
    }
    add(l, "\"");
}

static void add_member(line *l, const char *key, const char *text)
{
    if (!*text)
        return;
    add(l, "\"%s\":", key);
    add_string(l, text);
    add(l, ",");
}

/* Writes microseconds. The decimal point does not depend on the locale. */
static void add_time(line *l, const char *key, int64_t nanoseconds)
{
    int64_t ns = nanoseconds > 0 ? nanoseconds : 0;
    add(l, "\"%s\":%" PRId64 ".%03d,", key, ns / 1000, (int)(ns % 1000));
}

static void add_row(line *l, const trace *t, trace_row row)
{
    int64_t pid =
        row.device < 0 ? t->process : PROCESS_IDS + (int64_t)t->process * DEVICES + row.device;
    add(l, "\"pid\":%" PRId64 ",\"tid\":%" PRId64, pid, row.thread);
}

/* A write can end the program by a signal: if it exceeds the limit on the size of files (ulimit -f), or if it goes to
 * a pipe that nobody reads. The kernel sends both signals to the thread that writes. Returns 0 or errno. */
static int write_line(int fd, const line *l)
{
    sigset_t own, before, waiting;
    int failed = 0;
    sigemptyset(&own);
    sigaddset(&own, SIGXFSZ);
    sigaddset(&own, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &own, &before);
    sigpending(&waiting); /* signals that are pending before the write are the program's */
    errno = EIO;          /* the error if the write is short */
    if (write(fd, l->bytes, l->length) != (ssize_t)l->length)
        failed = errno;
    if (sigismember(&waiting, SIGXFSZ) == 1)
        sigdelset(&own, SIGXFSZ);
    if (sigismember(&waiting, SIGPIPE) == 1)
        sigdelset(&own, SIGPIPE);
    while (failed && (sigtimedwait(&own, NULL, &(struct timespec){0}) > 0 || errno == EINTR))
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

/* Writes a line in one call, so that lines of several writers do not mix. */
static void put(trace *t, const line *l)
{
    if (atomic_load_explicit(&t->failed, memory_order_relaxed))
        return;
    int failed = write_line(t->fd, l);
    if (failed && !atomic_exchange(&t->failed, 1))
        log_message(t->log, COLLET_LOG_ERROR, "the trace ends here: it could not be written: %s",
                    strerror(failed));
}

void trace_write(trace *t, const trace_event *e)
{
    line l = {.length = 0};
    add(&l, ",\n{\"ph\":\"X\",");
    add_member(&l, "cat", e->category);
    add_member(&l, "name", e->name);
    add_time(&l, "ts", e->begin);
    add_time(&l, "dur", e->end - e->begin);
    add_row(&l, t, e->row);
    add(&l, ",\"args\":{");
    add_member(&l, "device", e->device);
    add_member(&l, "detail", e->detail);
    add(&l, "\"clock\":\"%s\"}}", e->clock);
    put(t, &l);
}

static void add_name(line *l, const trace *t, trace_row row, const char *name)
{
    add(l, "{\"ph\":\"M\",\"name\":\"%s_name\",", row.thread ? "thread" : "process");
    add_row(l, t, row);
    add(l, ",\"args\":{\"name\":");
    add_string(l, name);
    add(l, "}}");
}

void trace_name(trace *t, trace_row row, const char *name)
{
    line l = {.length = 0};
    add(&l, ",\n");
    add_name(&l, t, row, name);
    put(t, &l);
}

/* ---- The file ---------------------------------------------------------------------------- */

/* Whether the file is empty, or an earlier trace, perhaps cut off: such files are replaced. */
static int may_replace(const char *path)
{
    static const char head[] = "[\n{\"ph\":\"M\",\"name\":\"process_name\",";
    char found[sizeof head] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, found, sizeof found - 1);
    if (fd >= 0)
        close(fd);
    return length >= 0 && !strncmp(found, head, (size_t)length);
}

/* Takes a shared lock; a trace holds this lock while the trace is open. If no other trace is being written to the
 * file, sets *alone to 1 and empties the file. The exclusive lock is held only briefly. On a file
 * system without locks *alone is 1. */
static collet_status join(int fd, const char *path, int *alone, collet_error *err)
{
    struct stat s;
    *alone = 0;
    while (flock(fd, LOCK_EX | LOCK_NB)) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            break;
        if (errno == EWOULDBLOCK && !flock(fd, LOCK_SH | LOCK_NB))
            return COLLET_OK;
        sched_yield();
    }
    *alone = 1;
    if (fstat(fd, &s) || !S_ISREG(s.st_mode))
        return COLLET_OK;
    if (!may_replace(path))
        return collet_fail(
            err, COLLET_IO,
            "the trace cannot be written: %s exists and is not a trace: name another "
            "file (setting trace, COLLET_TRACE)",
            path);
    if (ftruncate(fd, 0))
        return COLLET_OK; /* the first write will fail, too, and will be reported */
    return COLLET_OK;
}

/* A pipe without a reader is refused: opening it would wait for a reader. */
static int open_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
    int flags = fd >= 0 ? fcntl(fd, F_GETFL) : -1;
    if (flags >= 0)
        fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
    return fd;
}

static void begin(trace *t, int alone)
{
    line l = {.length = 0};
    add(&l, alone ? "[\n" : ",\n");
    add_name(&l, t, (trace_row){TRACE_HOST, 0}, program_invocation_short_name);
    put(t, &l);
    flock(t->fd, LOCK_SH);
}

collet_status trace_create(trace **out, const char *path, const message_log *log, collet_error *err)
{
    int alone = 0;
    trace *t = calloc(1, sizeof *t);
    if (!t)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a trace");
    *t = (trace){.process = getpid(), .log = log};
    t->fd = open_file(path);
    collet_status status =
        t->fd >= 0
            ? join(t->fd, path, &alone, err)
            : collet_fail(err, COLLET_IO,
                          "the trace cannot be written: %s: %s (setting trace, COLLET_TRACE)", path,
                          errno == ENXIO ? "nobody reads the pipe" : strerror(errno));
    if (status != COLLET_OK) {
        if (t->fd >= 0)
            close(t->fd);
        free(t);
        return status;
    }
    begin(t, alone);
    *out = t;
    return COLLET_OK;
}

void trace_destroy(trace *t)
{
    static const line end = {3, "\n]\n"};
    if (!t)
        return;
    if (!flock(t->fd, LOCK_EX | LOCK_NB))
        put(t, &end);
    close(t->fd);
    free(t);
}

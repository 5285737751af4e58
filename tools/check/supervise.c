/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor. A plugin may crash, exit or hang: its current row fails, and another worker continues with the next
 * row.
 * Tests: tests/conformance/test_hangs.c, tests/conformance/test_broken.c */
#include "check.h"

#include "common/stats.h"
#include "io/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct worker_process {
    pid_t pid;
    int pipe;     /* receives a byte for each step; end of file when the worker has ended */
    int output;   /* file with the worker's output */
    bool hangs;   /* a case took longer than options->timeout */
    bool time_up; /* the whole run took longer than options->limit */
} worker_process;

typedef struct supervision {
    const check_options *options;
    check_shared *shared;
    int32_t first;    /* first row of the next worker */
    int32_t reported; /* number of rows reported */
    int hangs;        /* number of cases that took longer than options->timeout */
    double began;
    double shown; /* time when a line was last printed */
} supervision;

static bool start(const supervision *s, worker_process *p)
{
    int ends[2];
    *p = (worker_process){
        .pid = -1, .pipe = -1, .output = memfd_create("backend-check", MFD_CLOEXEC)};
    if (p->output < 0 || pipe(ends) != 0)
        return false;
    fflush(NULL);
    pid_t parent = getpid();
    p->pid = fork();
    if (p->pid == 0) {
        /* The worker is killed when the supervisor ends, even during a call that hangs. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        close(ends[0]);
        /* CLOEXEC: programs that the worker starts (the probe) inherit only standard descriptors. */
        FILE *messages = fdopen(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3), "w");
        if (!messages)
            _exit(KIT_EXIT_MEMORY);
        dup2(p->output, STDOUT_FILENO);
        dup2(p->output, STDERR_FILENO);
        check_work(s->options, s->shared, s->first, &(check_files){ends[1], p->output, messages});
        exit(0);
    }
    close(ends[1]);
    p->pipe = ends[0];
    return p->pid > 0;
}

/* Erases the line of the terminal, on which progress may be shown. */
static void erase_line(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

/* Reports the rows that ended since the last report. */
static void report_rows(supervision *s)
{
    const check_shared *shared = s->shared;
    if (shared->phase != CHECK_RUNNING && shared->phase != CHECK_AGAIN &&
        shared->phase != CHECK_DONE)
        return;
    for (; s->reported < shared->row_count; s->reported++) {
        const check_row *row = &shared->rows[s->reported];
        if (__atomic_load_n(&row->state, __ATOMIC_ACQUIRE) == CHECK_ROW_WAITING)
            break;
        if (s->reported == 0)
            check_report_begin(s->options, shared);
        erase_line();
        check_report_row(s->options, row);
        s->shown = tool_now();
    }
}

/* Seconds without output after which a line shows the current row and case. */
static double interval(const check_options *options)
{
    if (isatty(STDERR_FILENO))
        return 1;
    return options->timeout && options->timeout < 20 ? options->timeout / 2.0 : 10;
}

/* Shows what is running. If the worker is just writing the text of its next case, the shown text may be a mixture of
 * two texts. */
static void show_work(supervision *s, double now, double since)
{
    const check_shared *shared = s->shared;
    char most[40] = "";
    if (s->options->timeout)
        snprintf(most, sizeof most, " of at most %d", s->options->timeout);
    erase_line();
    if (shared->row < 0)
        fprintf(stderr, "backend-check: the plugin is being loaded, %.0f%s s so far", now - since,
                most);
    else
        fprintf(stderr, "backend-check: row %d of %d, %.0f s so far; %.*s, %.0f%s s so far",
                (int)shared->row + 1, (int)shared->row_count, now - s->began,
                isatty(STDERR_FILENO) ? 20 : 300, shared->number < 0 ? "next case" : shared->text,
                now - since, most);
    fputs(isatty(STDERR_FILENO) ? "" : "\n", stderr);
    fflush(stderr);
    s->shown = now;
}

/* Seconds left until `limit` seconds after `since`; infinite if `limit` is 0. */
static double left_of(int limit, double since, double now)
{
    return limit ? since + limit - now : (double)INFINITY;
}

/* Waits until the worker ends or time is up. */
static void watch(supervision *s, worker_process *p)
{
    char beats[512];
    double since = tool_now(), pause = interval(s->options);
    for (;;) {
        double now = tool_now(), of_case = left_of(s->options->timeout, since, now),
               of_all = left_of(s->options->limit, s->began, now);
        p->time_up = of_all <= 0;
        p->hangs = !p->time_up && of_case <= 0;
        if (p->time_up || p->hangs)
            return;
        if (now >= s->shown + pause && now >= since + 1)
            show_work(s, now, since);
        double next = fmin(fmin(of_case, of_all), fmax(s->shown + pause - now, 1));
        struct pollfd descriptor = {.fd = p->pipe, .events = POLLIN};
        int ready = poll(&descriptor, 1, (int)(next * 1000) + 1);
        if (ready == 0 || (ready < 0 && errno == EINTR))
            continue;
        if (ready < 0 || read(p->pipe, beats, sizeof beats) <= 0)
            return;
        since = tool_now();
        report_rows(s);
    }
}

#define END_TEXT 200 /* bytes of the text about how a worker ended */

/* Waits for the worker, or kills it if its time is up. `words` becomes a text about its end, "" after success. */
static void finish(worker_process *p, const check_shared *shared, char words[END_TEXT])
{
    int status = 0;
    words[0] = '\0';
    if (p->hangs || p->time_up)
        kill(p->pid, SIGKILL);
    close(p->pipe);
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (p->time_up)
        snprintf(words, END_TEXT, "time was up (--limit)");
    else if (p->hangs)
        snprintf(words, END_TEXT,
                 "it did not return in time (--timeout) and its process was ended");
    else if (WIFSIGNALED(status))
        snprintf(words, END_TEXT, "the process was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) == KIT_EXIT_MEMORY)
        snprintf(words, END_TEXT, "backend-check ran out of memory");
    else if (shared->phase <= CHECK_RUNNING)
        snprintf(words, END_TEXT, "the process exited with status %d in the middle of a call",
                 WEXITSTATUS(status));
    else if (status)
        snprintf(words, END_TEXT, "the process ended with status %d", WEXITSTATUS(status));
}

/* Shows the output of a worker that crashed or was killed: it may contain the reason (a sanitizer's report). */
static void show_output(int output)
{
    char text[4096 + 1];
    off_t at = 0;
    ssize_t count;
    while ((count = pread(output, text, sizeof text - 1, at)) > 0) {
        text[count] = '\0';
        char *shown = io_utf8_shown(text, "\n\t");
        fputs(shown ? shown : "(out of memory)\n", stderr);
        free(shown);
        at += count;
    }
}

static void mark_lost(check_shared *shared, const char *words)
{
    check_row *row = &shared->rows[shared->row];
    row->result.failures++;
    row->result.cases++;
    row->result.first = shared->number;
    snprintf(row->why, sizeof row->why, "%.1000s: %.500s",
             shared->number >= 0 ? shared->text : "between two cases", words);
    row->state = CHECK_ROW_FAIL;
}

static int status_of(const check_shared *shared)
{
    switch (shared->phase) {
    case CHECK_DONE:
        for (int32_t i = 0; i < shared->row_count; i++)
            if (shared->rows[i].state == CHECK_ROW_FAIL)
                return TOOL_EXIT_FAILURE;
        return TOOL_EXIT_OK;
    case CHECK_STOPPED:
        return TOOL_EXIT_INCOMPLETE;
    case CHECK_NO_DEVICE:
        return TOOL_EXIT_UNAVAILABLE;
    case CHECK_NOTHING:
        return TOOL_EXIT_USAGE;
    default:
        return TOOL_EXIT_FAILURE;
    }
}

/* Sets the result of the row during which a worker crashed or was killed. */
static void judge_end(supervision *s, const worker_process *p, const char *words)
{
    check_shared *shared = s->shared;
    if (p->time_up && shared->phase == CHECK_LOADING)
        shared->phase = CHECK_RUNNING;
    if (shared->phase == CHECK_LOADING) {
        snprintf(shared->reason, sizeof shared->reason, "%s while the plugin was loaded", words);
        shared->phase = CHECK_REFUSED;
    } else if (shared->phase == CHECK_DONE && shared->row >= 0) {
        snprintf(shared->rows[shared->row].why, KIT_TEXT, "when the backend was closed: %s", words);
        shared->rows[shared->row].state = CHECK_ROW_FAIL;
    } else if (shared->phase == CHECK_RUNNING && shared->row >= 0 && !p->time_up) {
        mark_lost(shared, words);
        s->first = shared->row + 1;
        if (s->first == shared->row_count)
            shared->phase = CHECK_DONE;
    }
}

/* Ends the run if time is up. */
static void stop(supervision *s, const worker_process *p)
{
    check_shared *shared = s->shared;
    int waiting = 0;
    if (shared->phase != CHECK_RUNNING && shared->phase != CHECK_AGAIN)
        return;
    for (int32_t i = 0; i < shared->row_count; i++)
        waiting += shared->rows[i].state == CHECK_ROW_WAITING;
    if (p->time_up)
        snprintf(shared->reason, sizeof shared->reason,
                 "ended after %d s (--limit) during %.1000s: %d row%s not checked",
                 s->options->limit,
                 shared->row < 0      ? "loading"
                 : shared->number < 0 ? "no case"
                                      : shared->text,
                 waiting, waiting == 1 ? " was" : "s were");
    else if (s->hangs >= CHECK_HANGS)
        snprintf(shared->reason, sizeof shared->reason,
                 "ended after %d calls that did not return within %d s (--timeout): %d row%s not "
                 "checked; --op NAME checks one kernel",
                 s->hangs, s->options->timeout, waiting, waiting == 1 ? " was" : "s were");
    else
        return;
    shared->phase = CHECK_STOPPED;
}

/* Runs workers. If a worker ends at a row, the next worker begins with the row after it. False: a worker could not
 * be started. */
static bool work(supervision *s)
{
    check_shared *shared = s->shared;
    char words[END_TEXT];
    do {
        worker_process p;
        shared->phase = CHECK_LOADING;
        shared->row = -1;
        shared->number = -1;
        if (!start(s, &p))
            return false;
        watch(s, &p);
        finish(&p, shared, words);
        if (words[0])
            show_output(p.output);
        close(p.output);
        if (shared->phase == CHECK_AGAIN)
            s->first = shared->row + 1;
        if (words[0])
            judge_end(s, &p, words);
        s->hangs += p.hangs;
        report_rows(s);
        stop(s, &p);
    } while (shared->phase == CHECK_RUNNING || shared->phase == CHECK_AGAIN);
    return true;
}

/* Fails if no row has the case of --case; single rows may lack it. */
static void refuse_missing_case(const check_options *options, check_shared *shared)
{
    int most = 0, run = 0;
    for (int32_t i = 0; i < shared->row_count; i++) {
        const kit_result *result = &shared->rows[i].result;
        run += result->cases;
        most = result->planned > most ? result->planned : most;
    }
    if (shared->phase != CHECK_DONE || options->only < 0 || run > 0)
        return;
    shared->phase = CHECK_NOTHING;
    snprintf(shared->reason, sizeof shared->reason,
             most ? "--case %d: the selected kernels have cases 0 to %d"
                  : "--case %d: the selected kernels have no cases",
             options->only, most - 1);
}

int check_supervise(const check_options *options)
{
    check_shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        fprintf(stderr, "backend-check: out of memory\n");
        return TOOL_EXIT_FAILURE;
    }
    double now = tool_now();
    supervision s = {.options = options, .shared = shared, .began = now, .shown = now};
    if (options->in_process) {
        shared->row = -1;
        check_work(options, shared, 0, &(check_files){-1, -1, stderr});
        report_rows(&s);
    } else if (!work(&s)) {
        fprintf(stderr, "backend-check: cannot start a process: %s\n", strerror(errno));
        munmap(shared, sizeof *shared);
        return TOOL_EXIT_FAILURE;
    }
    refuse_missing_case(options, shared);
    int status = status_of(shared);
    check_report_end(options, shared, status, tool_now() - s.began);
    munmap(shared, sizeof *shared);
    return status;
}

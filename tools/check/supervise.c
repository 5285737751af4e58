/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor. A plugin may crash, exit or hang: its current row fails, and another worker
 * continues with the next one. */
#include "check.h"

#include "common/stats.h"
#include "io/utf8.h"

#include <errno.h>
#include <fcntl.h>
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
    int pipe;   /* a byte for each step; end of file when it ended */
    int output; /* what it printed */
    bool late;  /* killed by the time limit */
} worker_process;

static bool start(const check_options *options, check_shared *shared, int32_t first,
                  worker_process *p)
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
        /* A hanging call ends with the supervisor. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        close(ends[0]);
        /* The probe inherits only standard descriptors. */
        FILE *messages = fdopen(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3), "w");
        if (!messages)
            _exit(KIT_EXIT_MEMORY);
        dup2(p->output, STDOUT_FILENO);
        dup2(p->output, STDERR_FILENO);
        check_work(options, shared, first, &(check_files){ends[1], p->output, messages});
        exit(0);
    }
    close(ends[1]);
    p->pipe = ends[0];
    return p->pid > 0;
}

/* Reports the rows that ended since `reported`. */
static int32_t report_rows(const check_options *options, const check_shared *shared,
                           int32_t reported)
{
    if (shared->phase != CHECK_RUNNING && shared->phase != CHECK_AGAIN &&
        shared->phase != CHECK_DONE)
        return reported;
    for (; reported < shared->row_count; reported++) {
        const check_row *row = &shared->rows[reported];
        if (__atomic_load_n(&row->state, __ATOMIC_ACQUIRE) == CHECK_ROW_WAITING)
            break;
        if (reported == 0)
            check_report_begin(options, shared);
        if (isatty(STDERR_FILENO)) /* the worker's progress may be there */
            fputs("\r\033[K", stderr);
        check_report_row(options, row);
    }
    return reported;
}

/* Waits until the worker ends or is late. */
static void watch(const check_options *options, const check_shared *shared, worker_process *p,
                  int32_t *reported)
{
    char beats[512];
    for (;;) {
        struct pollfd descriptor = {.fd = p->pipe, .events = POLLIN};
        int ready = poll(&descriptor, 1, options->timeout * 1000);
        if (ready < 0 && errno == EINTR)
            continue;
        p->late = ready == 0;
        if (ready <= 0 || read(p->pipe, beats, sizeof beats) <= 0)
            return;
        *reported = report_rows(options, shared, *reported);
    }
}

#define END_TEXT 200 /* bytes of how a worker ended */

/* Kills it if late. `words` describes its end, "" after success. */
static void finish(worker_process *p, const check_shared *shared, char words[END_TEXT])
{
    int status = 0;
    words[0] = '\0';
    if (p->late)
        kill(p->pid, SIGKILL);
    close(p->pipe);
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (p->late)
        snprintf(words, END_TEXT, "the call did not return in time and its process was ended");
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

/* The output of a lost worker may contain the reason (a sanitizer's report). */
static void show_output(int output)
{
    char text[4096 + 1];
    off_t at = 0;
    ssize_t count;
    while ((count = pread(output, text, sizeof text - 1, at)) > 0) {
        text[count] = '\0';
        char *shown = collet_utf8_shown(text, "\n\t");
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
                return CHECK_FAILED;
        return CHECK_PASSED;
    case CHECK_NO_DEVICE:
        return CHECK_ABSENT;
    case CHECK_NOTHING:
        return CHECK_USAGE;
    default:
        return CHECK_UNLOADABLE;
    }
}

/* Runs workers, each from the row after the one that ended the last. False: a start failed. */
static bool work(const check_options *options, check_shared *shared)
{
    int32_t first = 0, reported = 0;
    char words[END_TEXT];
    do {
        worker_process p;
        shared->phase = CHECK_LOADING;
        shared->row = -1;
        shared->number = -1;
        if (!start(options, shared, first, &p))
            return false;
        watch(options, shared, &p, &reported);
        finish(&p, shared, words);
        if (words[0])
            show_output(p.output);
        close(p.output);
        if (shared->phase == CHECK_AGAIN)
            first = shared->row + 1;
        bool lost = words[0] && shared->phase == CHECK_RUNNING && shared->row >= 0;
        if (words[0] && shared->phase == CHECK_LOADING) {
            snprintf(shared->reason, sizeof shared->reason, "%s while the plugin was loaded",
                     words);
            shared->phase = CHECK_REFUSED;
        } else if (words[0] && shared->phase == CHECK_DONE && shared->row >= 0) {
            snprintf(shared->rows[shared->row].why, KIT_TEXT, "when the backend was closed: %s",
                     words);
            shared->rows[shared->row].state = CHECK_ROW_FAIL;
        }
        if (lost) {
            mark_lost(shared, words);
            first = shared->row + 1;
            if (first == shared->row_count)
                shared->phase = CHECK_DONE;
        }
        reported = report_rows(options, shared, reported);
    } while (shared->phase == CHECK_RUNNING || shared->phase == CHECK_AGAIN);
    return true;
}

/* Rows may lack the case of --case, but not all of them. */
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
    double start_time = bench_now();
    check_shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        fprintf(stderr, "backend-check: out of memory\n");
        return CHECK_FAILED;
    }
    if (options->in_process) {
        shared->row = -1;
        check_work(options, shared, 0, &(check_files){-1, -1, stderr});
        (void)report_rows(options, shared, 0);
    } else if (!work(options, shared)) {
        fprintf(stderr, "backend-check: cannot start a process: %s\n", strerror(errno));
        munmap(shared, sizeof *shared);
        return CHECK_FAILED;
    }
    refuse_missing_case(options, shared);
    int status = status_of(shared);
    check_report_end(options, shared, status, bench_now() - start_time);
    munmap(shared, sizeof *shared);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/shape.h"

#define ANSWER_MILLISECONDS (600 * 1000) /* a plan by measuring may take minutes */
#define SPEC_TEXT 256
#define ENVIRONMENT_ADDED 4

extern char **environ;

/* ---- Starting -------------------------------------------------------------------------------- */

static int is_set(const char *entry, char *const *added, int count)
{
    size_t name = strcspn(entry, "=") + 1;
    for (int i = 0; i < count; i++)
        if (!strncmp(entry, added[i], name))
            return 1;
    return 0;
}

/* The environment with the library's variable and every library's number of threads. */
static char **make_environment(const reference_process *p, int32_t threads,
                               char text[ENVIRONMENT_ADDED][SPEC_TEXT])
{
    static const char *const counts[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                         "BLIS_NUM_THREADS"};
    char *added[ENVIRONMENT_ADDED];
    int count = 0, kept = 0;
    size_t entries = 0;
    while (environ[entries])
        entries++;
    char **made = calloc(entries + ENVIRONMENT_ADDED + 1, sizeof *made);
    if (!made)
        return NULL;
    for (; count < 3; count++) {
        snprintf(text[count], SPEC_TEXT, "%s=%d", counts[count], (int)threads);
        added[count] = text[count];
    }
    if (p->library->variable) {
        snprintf(text[count], SPEC_TEXT, "%s=%s", p->library->variable, p->value ? p->value : "");
        added[count] = text[count];
        count++;
    }
    for (size_t i = 0; i < entries; i++)
        if (!is_set(environ[i], added, count))
            made[kept++] = environ[i];
    /* Without a value the library chooses by itself: its variable is removed. */
    for (int i = 0; i < count; i++)
        if (i < 3 || p->value)
            made[kept++] = added[i];
    return made;
}

static void describe_operand(const bench_operand *o, char text[SPEC_TEXT])
{
    char shape[BENCH_SHAPE_TEXT];
    if (o->make == '-')
        snprintf(text, SPEC_TEXT, "-");
    else
        snprintf(text, SPEC_TEXT, "%c:%s:%s", o->make, collet_dtype_name(o->dtype),
                 bench_shape_text(o->ndim, o->shape, shape));
}

static int32_t axes_of(const bench_layout *l)
{
    int32_t count = 0;
    for (int32_t i = 0; i < l->shape.count; i++)
        count += (int32_t)(l->axes >> i & 1);
    return count;
}

/* Runs this program with the socket as its only connection; output of the library goes to
 * standard error. */
static int spawn(reference_process *p, int socket, const bench_layout *l, int32_t threads)
{
    char specs[COLLET_MAX_OPERANDS][SPEC_TEXT], axes[16], count[16];
    char added[ENVIRONMENT_ADDED][SPEC_TEXT];
    char *argv[COLLET_MAX_OPERANDS + 8] = {(char *)(uintptr_t) "backend-bench",
                                           (char *)(uintptr_t)REFERENCE_ARGUMENT,
                                           (char *)(uintptr_t)p->library->name,
                                           (char *)(uintptr_t)l->op.name,
                                           axes,
                                           count};
    posix_spawn_file_actions_t actions;
    char **environment = make_environment(p, threads, added);
    snprintf(axes, sizeof axes, "%d", (int)axes_of(l));
    snprintf(count, sizeof count, "%d", (int)threads);
    for (uint32_t i = 0; i < l->count; i++) {
        describe_operand(&l->operands[i], specs[i]);
        argv[6 + i] = specs[i];
    }
    if (!environment || posix_spawn_file_actions_init(&actions)) {
        free(environment);
        return ENOMEM;
    }
    int error = posix_spawn_file_actions_adddup2(&actions, 2, 1);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, socket, REFERENCE_SOCKET);
    if (!error)
        error = posix_spawn(&p->pid, "/proc/self/exe", &actions, NULL, argv, environment);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return error;
}

/* ---- Talking --------------------------------------------------------------------------------- */

static void end_child(reference_process *p)
{
    int status = 0;
    if (p->from)
        (void)fclose(p->from);
    if (p->to)
        (void)fclose(p->to);
    p->from = p->to = NULL;
    if (p->pid <= 0)
        return;
    /* The child exits when the connection closes, unless it hangs. */
    for (int i = 0; i < 100 && waitpid(p->pid, &status, WNOHANG) == 0; i++)
        (void)poll(NULL, 0, 10);
    if (waitpid(p->pid, &status, WNOHANG) == 0) {
        (void)kill(p->pid, SIGKILL);
        (void)waitpid(p->pid, &status, 0);
    }
    p->pid = 0;
}

static void give_up(reference_process *p, reference_state state, const char *why)
{
    int status = 0;
    p->state = state;
    if (p->pid > 0 && waitpid(p->pid, &status, WNOHANG) == p->pid) {
        p->pid = 0;
        if (WIFSIGNALED(status))
            snprintf(p->text, sizeof p->text, "its process died of signal %d (%s)",
                     WTERMSIG(status), strsignal(WTERMSIG(status)));
        else
            snprintf(p->text, sizeof p->text, "%s", why);
    } else {
        snprintf(p->text, sizeof p->text, "%s", why);
    }
    end_child(p);
}

/* Reads a line from the child; 0 when there is none. */
static int32_t hear(reference_process *p, char *line, int size, int wait)
{
    struct pollfd ready = {.fd = fileno(p->from), .events = POLLIN};
    if (wait && poll(&ready, 1, ANSWER_MILLISECONDS) <= 0)
        return 0;
    if (!fgets(line, size, p->from)) {
        (void)poll(NULL, 0, 50); /* the exit is visible a little after the connection closed */
        return 0;
    }
    line[strcspn(line, "\n")] = '\0';
    return 1;
}

static void take_greeting(reference_process *p, const char *line)
{
    char *text;
    p->same = (int32_t)strtol(line, &text, 10);
    snprintf(p->text, sizeof p->text, "%s", text + (*text == ' '));
}

void reference_start(reference_process *p, const reference_library *library, const char *value,
                     const bench_layout *layout, int32_t threads)
{
    int ends[2] = {-1, -1}, again = -1;
    char line[REFERENCE_TEXT + 16];
    *p = (reference_process){.library = library, .value = value, .state = REFERENCE_RUNS};
    p->samples = calloc(BENCH_SAMPLES_MAX, sizeof *p->samples);
    if (!p->samples || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
        give_up(p, REFERENCE_DEAD, "no memory or no descriptor for its process");
        return;
    }
    int error = spawn(p, ends[1], layout, threads);
    (void)close(ends[1]);
    again = fcntl(ends[0], F_DUPFD_CLOEXEC, 0);
    p->from = fdopen(ends[0], "r");
    p->to = again >= 0 ? fdopen(again, "w") : NULL;
    if (error || !p->from || !p->to)
        give_up(p, REFERENCE_DEAD, error ? strerror(error) : "no descriptor for its process");
    else if (!hear(p, line, sizeof line, 1))
        give_up(p, REFERENCE_DEAD, "its process ended before it was ready");
    else if (strncmp(line, "ready ", 6))
        give_up(p, REFERENCE_ABSENT, strchr(line, ' ') ? strchr(line, ' ') + 1 : line);
    else
        take_greeting(p, line + 6);
}

static int32_t take_samples(reference_process *p)
{
    char line[64];
    long long count, calls;
    if (!hear(p, line, sizeof line, 1) || sscanf(line, "samples %lld %lld %lf %lf", &count, &calls,
                                                 &p->digest.magnitude, &p->digest.signature) != 4)
        return 0;
    p->calls = calls;
    for (long long i = 0; i < count; i++) {
        if (!hear(p, line, sizeof line, 0))
            return 0;
        if (p->count < BENCH_SAMPLES_MAX)
            p->samples[p->count++] = strtod(line, NULL) / (double)calls;
    }
    return 1;
}

void reference_sample(reference_process *p, double seconds)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    (void)sigaction(SIGPIPE, &ignore, &before);
    fprintf(p->to, "run %.6f\n", seconds);
    int32_t fine = fflush(p->to) == 0 && take_samples(p);
    (void)sigaction(SIGPIPE, &before, NULL);
    if (!fine)
        give_up(p, REFERENCE_DEAD, "it failed in the middle of the measurement");
}

int32_t reference_stats(reference_process *p, bench_stats *stats)
{
    if (p->count == 0)
        return 0;
    bench_stats_of(p->samples, p->count, 1, stats);
    stats->calls_per_sample = p->calls;
    return 1;
}

void reference_stop(reference_process *p)
{
    end_child(p);
    free(p->samples);
    p->samples = NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench_against.c */
#include "process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define REPLY_MILLISECONDS (600 * 1000) /* a plan by measuring may take minutes */

extern char **environ;

int32_t reference_send(int socket, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes) {
        ssize_t sent = send(socket, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return 0;
        at += sent;
        bytes -= (size_t)sent;
    }
    return 1;
}

int32_t reference_receive(int socket, void *data, size_t bytes, int timeout)
{
    char *at = data;
    while (bytes) {
        struct pollfd ready = {.fd = socket, .events = POLLIN};
        int waited = poll(&ready, 1, timeout);
        ssize_t received = waited > 0 ? recv(socket, at, bytes, 0) : waited;
        if (received < 0 && errno == EINTR)
            continue;
        if (received <= 0)
            return 0;
        at += received;
        bytes -= (size_t)received;
    }
    return 1;
}

/* Runs this program with the socket as its only connection; output of the library goes to
 * standard error. */
static int spawn(reference_process *p, int socket)
{
    char *argv[] = {(char *)(uintptr_t) "backend-bench", (char *)(uintptr_t)REFERENCE_ARGUMENT,
                    NULL};
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawn_file_actions_adddup2(&actions, 2, 1);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, socket, REFERENCE_SOCKET);
    if (!error)
        error = posix_spawn(&p->pid, "/proc/self/exe", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Between its turns a process is stopped: OpenBLAS lets its threads spin for 0.1 s after a call. */
static void let_run(const reference_process *p, int32_t runs)
{
    if (p->pid > 0)
        (void)kill(p->pid, runs ? SIGCONT : SIGSTOP);
}

static void end_child(reference_process *p)
{
    int status = 0;
    let_run(p, 1);
    if (p->socket >= 0)
        (void)close(p->socket);
    p->socket = -1;
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
    snprintf(p->text, sizeof p->text, "%s", why);
    (void)poll(NULL, 0, 50); /* the exit is visible a little after the connection closed */
    if (p->pid > 0 && waitpid(p->pid, &status, WNOHANG) == p->pid) {
        p->pid = 0;
        if (WIFSIGNALED(status))
            snprintf(p->text, sizeof p->text, "its process died of signal %d (%s)",
                     WTERMSIG(status), strsignal(WTERMSIG(status)));
    }
    end_child(p);
}

static int32_t axes_of(const bench_layout *l)
{
    int32_t count = 0;
    for (int32_t i = 0; i < l->shape.count; i++)
        count += (int32_t)(l->axes >> i & 1);
    return count;
}

void reference_start(reference_process *p, size_t library, size_t variant, const char *file,
                     const bench_layout *l, int32_t threads)
{
    int ends[2];
    reference_reply reply;
    reference_request request = {.library = library,
                                 .variant = variant,
                                 .count = l->count,
                                 .axes = axes_of(l),
                                 .threads = threads};
    snprintf(request.op, sizeof request.op, "%s", l->op.name);
    snprintf(request.file, sizeof request.file, "%s", file ? file : "");
    memcpy(request.operands, l->operands, sizeof request.operands);
    *p = (reference_process){.library = &reference_libraries[library],
                             .value = reference_libraries[library].variants[variant].value,
                             .file = file,
                             .state = REFERENCE_RUNS,
                             .socket = -1};
    p->samples = calloc(TOOL_SAMPLES_MAX, sizeof *p->samples);
    if (!p->samples || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
        give_up(p, REFERENCE_DEAD, "no memory or no descriptor for its process");
        return;
    }
    p->socket = ends[0];
    int error = spawn(p, ends[1]);
    (void)close(ends[1]);
    if (error) {
        give_up(p, REFERENCE_DEAD, strerror(error));
    } else if (!reference_send(p->socket, &request, sizeof request) ||
               !reference_receive(p->socket, &reply, sizeof reply, REPLY_MILLISECONDS)) {
        give_up(p, REFERENCE_DEAD, "its process ended before it was ready");
    } else if (!reply.ready) {
        give_up(p, REFERENCE_ABSENT, reply.text);
    } else {
        p->same = reply.same;
        memcpy(p->text, reply.text, sizeof p->text);
    }
}

static int32_t take_samples(reference_process *p)
{
    reference_round round;
    double *added = p->samples + p->count;
    if (!reference_receive(p->socket, &round, sizeof round, REPLY_MILLISECONDS) ||
        round.count > TOOL_SAMPLES_MAX - p->count ||
        !reference_receive(p->socket, added, (size_t)round.count * sizeof *added,
                           REPLY_MILLISECONDS))
        return 0;
    for (int64_t i = 0; i < round.count; i++)
        added[i] /= (double)round.calls;
    p->count += round.count;
    p->calls = round.calls;
    p->digest = round.digest;
    return 1;
}

void reference_sample(reference_process *p, double seconds)
{
    let_run(p, 1);
    if (!reference_send(p->socket, &seconds, sizeof seconds) || !take_samples(p))
        give_up(p, REFERENCE_DEAD, "it failed in the middle of the measurement");
    let_run(p, 0);
}

int32_t reference_stats(reference_process *p, tool_stats *stats)
{
    if (p->count == 0)
        return 0;
    tool_stats_of(p->samples, p->count, 1, stats);
    stats->calls_per_sample = p->calls;
    return 1;
}

void reference_stop(reference_process *p)
{
    end_child(p);
    free(p->samples);
    p->samples = NULL;
}

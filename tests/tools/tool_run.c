/* SPDX-License-Identifier: Apache-2.0 */
#include "tool_run.h"

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define MOST_ARGUMENTS 64

/* Output of one stream of the program so far. */
typedef struct stream {
    int fd; /* -1: ended */
    char *text;
    size_t length;
} stream;

static void stream_read(stream *s)
{
    char buffer[4096];
    ssize_t n = read(s->fd, buffer, sizeof buffer);

    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) { /* a terminal whose other side is closed returns EIO */
        close(s->fd);
        s->fd = -1;
        return;
    }
    s->text = realloc(s->text, s->length + (size_t)n + 1);
    assert_non_null(s->text);
    memcpy(s->text + s->length, buffer, (size_t)n);
    s->length += (size_t)n;
    s->text[s->length] = '\0';
}

static void collect(stream streams[2])
{
    while (streams[0].fd >= 0 || streams[1].fd >= 0) {
        struct pollfd waiting[2];

        for (int i = 0; i < 2; i++)
            waiting[i] = (struct pollfd){streams[i].fd, POLLIN, 0};
        if (poll(waiting, 2, -1) < 0 && errno != EINTR)
            fail_msg("poll: %s", strerror(errno));
        for (int i = 0; i < 2; i++)
            if (waiting[i].fd >= 0 && waiting[i].revents != 0)
                stream_read(&streams[i]);
    }
}

static char **kept; /* the texts of all runs */
static size_t kept_count;

static char *keep(char *text)
{
    kept = realloc(kept, (kept_count + 1) * sizeof *kept);
    assert_non_null(kept);
    return kept[kept_count++] = text;
}

__attribute__((destructor)) static void free_texts(void)
{
    while (kept_count)
        free(kept[--kept_count]);
    free(kept);
}

static void open_pair(int pair[2], int terminal)
{
    if (!terminal)
        assert_int_equal(pipe(pair), 0);
    else if (openpty(&pair[0], &pair[1], NULL, NULL, NULL) != 0)
        skip(); /* a bare chroot has no terminals */
}

static void exec_program(const char *name, const char *const *args, const tool_setup *setup)
{
    const char *argv[MOST_ARGUMENTS] = {name};
    char path[4096];
    size_t n = 0;

    while (args[n] != NULL && n < MOST_ARGUMENTS - 2) {
        argv[n + 1] = args[n];
        n++;
    }
    if (setup->directory != NULL && chdir(setup->directory) != 0)
        _exit(125);
    if (setup->prepare != NULL)
        setup->prepare(setup->user);
    snprintf(path, sizeof path, "%s/%s", COLLET_TEST_BIN, name);
    execv(path, (char *const *)argv);
    _exit(126);
}

tool_result tool_run(const char *name, const char *const *args, const tool_setup *setup)
{
    static const tool_setup plain;
    int out[2], err[2], status;
    stream streams[2] = {{0}, {0}};
    tool_result result;
    pid_t child;

    if (setup == NULL)
        setup = &plain;
    open_pair(out, 0);
    open_pair(err, setup->terminal);
    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(out[1], STDOUT_FILENO);
        dup2(err[1], STDERR_FILENO);
        for (int i = 0; i < 2; i++) {
            close(out[i]);
            close(err[i]);
        }
        exec_program(name, args, setup);
    }
    close(out[1]);
    close(err[1]);
    streams[0].fd = out[0];
    streams[1].fd = err[0];
    for (int i = 0; i < 2; i++) {
        streams[i].text = calloc(1, 1);
        assert_non_null(streams[i].text);
    }
    if (setup->meanwhile != NULL)
        setup->meanwhile(child);
    collect(streams);
    assert_int_equal(waitpid(child, &status, 0), child);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.out = keep(streams[0].text);
    result.err = keep(streams[1].text);
    return result;
}

void tool_to_full_device(void *user)
{
    if (!freopen("/dev/full", "w", stdout))
        _exit(125);
}

void tool_from_file(void *path)
{
    if (!freopen(path, "r", stdin))
        _exit(125);
}

void tool_to_closed_pipe(void *user)
{
    int ends[2];

    signal(SIGPIPE, SIG_DFL);
    if (pipe(ends) || dup2(ends[1], STDOUT_FILENO) < 0 || close(ends[0]) || close(ends[1]))
        _exit(125);
}

void tool_limit_files(void *bytes)
{
    const rlim_t most = strtoul(bytes, NULL, 10);

    setrlimit(RLIMIT_FSIZE, &(struct rlimit){most, most});
}

void tool_preload(void *library)
{
    char options[1024];
    const char *before = getenv("ASAN_OPTIONS");

    snprintf(options, sizeof options, "%s:verify_asan_link_order=0", before ? before : "");
    setenv("ASAN_OPTIONS", options, 1);
    /* A blank ends a name in LD_PRELOAD, but not in LD_LIBRARY_PATH. */
    char *folder = strdup(library), *name = strrchr(folder, '/');
    *name++ = '\0';
    setenv("LD_LIBRARY_PATH", folder, 1);
    setenv("LD_PRELOAD", name, 1);
    free(folder);
}

void tool_kill_at(void *call)
{
    setenv("KILL_AT", call, 1);
    tool_preload(COLLET_TEST_BIN "/../tests/libkill_at.so");
}

void tool_expect(const tool_result *result, int status)
{
    if (result->status != status)
        fail_msg("status %d, not %d\n%s%s", result->status, status, result->out, result->err);
}

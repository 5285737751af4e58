/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_extract_options.c */
#include "progress.h"

#include "stats.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define INTERVAL 0.1       /* seconds, on a terminal */
#define LINES_INTERVAL 0.5 /* seconds, elsewhere */

void tool_progress_begin(tool_progress *progress, const char *program, const char *unit,
                         FILE *stream, int quiet)
{
    double now = tool_now();
    int terminal = isatty(fileno(stream));

    *progress = (tool_progress){.program = program,
                                .unit = unit,
                                .stream = stream,
                                .shown = !quiet,
                                .terminal = terminal,
                                .began = now,
                                .next = terminal ? now + INTERVAL : now,
                                .lock = PTHREAD_MUTEX_INITIALIZER};
}

void tool_progress_format(char *text, size_t size, const char *unit, int64_t count, int64_t offset,
                          double fraction, double seconds)
{
    double left = fraction > 0 ? seconds * (1 - fraction) / fraction : 1e9;
    long long remaining = left < 1e9 ? (long long)(left + 0.5) : -1;
    char speed[40] = "", time[60] = "";

    if (offset > 0 && seconds > 0)
        snprintf(speed, sizeof speed, ", %.0f MB/s", (double)offset * 1e-6 / seconds);
    if (remaining >= 0)
        snprintf(time, sizeof time, ", %lld:%02lld:%02lld left", remaining / 3600,
                 remaining / 60 % 60, remaining % 60);
    snprintf(text, size, "%lld %s, %.0f %%%s%s", (long long)count, unit, 100 * fraction, speed,
             time);
}

/* Draws the line, cut to the width of the terminal: a wrapped line could not be replaced. */
static void draw(tool_progress *progress, const char *text)
{
    struct winsize size = {0};
    int columns = ioctl(fileno(progress->stream), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;

    fprintf(progress->stream, "\r%.*s\033[K", columns > 1 ? columns - 1 : 79, text);
    fflush(progress->stream);
    progress->drawn = 1;
}

void tool_progress_update(tool_progress *progress, int64_t count, int64_t offset, double fraction)
{
    double now = tool_now(), share;
    char line[120];

    if (!progress->shown || !progress->terminal)
        return;
    pthread_mutex_lock(&progress->lock);
    if (now >= progress->next) {
        share = progress->expected > 0 ? (double)offset / (double)progress->expected : 0;
        if (fraction > share)
            share = fraction;
        tool_progress_format(line, sizeof line, progress->unit, count, offset,
                             share > 1 ? 1 : share, now - progress->began);
        draw(progress, line);
        progress->next = now + INTERVAL;
    }
    pthread_mutex_unlock(&progress->lock);
}

static void print(tool_progress *progress, const char *text)
{
    fprintf(progress->stream, "%s: %s\n", progress->program, text);
    fflush(progress->stream);
}

static void show(tool_progress *progress, const char *text, double *next)
{
    double now = tool_now();

    if (!progress->shown)
        return;
    pthread_mutex_lock(&progress->lock);
    if (progress->terminal) {
        draw(progress, text);
    } else if (now >= *next) {
        print(progress, text);
        *next = now + LINES_INTERVAL;
    }
    pthread_mutex_unlock(&progress->lock);
}

void tool_progress_text(tool_progress *progress, const char *text)
{
    show(progress, text, &progress->next);
}

static void erase(tool_progress *progress)
{
    if (progress->drawn) {
        fputs("\r\033[K", progress->stream);
        fflush(progress->stream);
    }
    progress->drawn = 0;
}

void tool_progress_end(tool_progress *progress)
{
    pthread_mutex_lock(&progress->lock);
    erase(progress);
    pthread_mutex_unlock(&progress->lock);
}

void tool_log(void *user, int32_t level, const char *text)
{
    static const char compiling[] = "compiling kernels";
    tool_progress *progress = user;

    (void)level;
    if (strncmp(text, compiling, sizeof compiling - 1) == 0) {
        show(progress, text, &progress->next_compiled);
        return;
    }
    pthread_mutex_lock(&progress->lock);
    erase(progress);
    print(progress, text);
    pthread_mutex_unlock(&progress->lock);
}

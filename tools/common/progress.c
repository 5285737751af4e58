/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include "stats.h"

#include <stdio.h>
#include <unistd.h>

#define INTERVAL 0.1

void tool_progress_begin(tool_progress *progress, const char *unit, int64_t bytes, int quiet)
{
    progress->unit = unit;
    progress->shown = !quiet && isatty(STDERR_FILENO);
    progress->began = bench_now();
    progress->next = progress->began + INTERVAL;
    progress->expected = bytes;
    progress->drawn = 0;
}

void tool_progress_format(char *text, size_t size, const char *unit, int64_t count, int64_t offset,
                          double fraction, double seconds)
{
    double left = fraction > 0 ? seconds * (1 - fraction) / fraction : 0;
    long long remaining = left < 1e9 ? (long long)(left + 0.5) : 0;
    char speed[40] = "";

    if (offset > 0 && seconds > 0)
        snprintf(speed, sizeof speed, ", %.0f MB/s", (double)offset * 1e-6 / seconds);
    snprintf(text, size, "%lld %s, %.0f %%%s, %lld:%02lld:%02lld left", (long long)count, unit,
             100 * fraction, speed, remaining / 3600, remaining / 60 % 60, remaining % 60);
}

void tool_progress_update(tool_progress *progress, int64_t count, int64_t offset, double fraction)
{
    double now, share;
    char line[120];

    if (!progress->shown)
        return;
    now = bench_now();
    if (now < progress->next)
        return;
    share = progress->expected > 0 ? (double)offset / (double)progress->expected : 0;
    if (fraction > share)
        share = fraction;
    tool_progress_format(line, sizeof line, progress->unit, count, offset, share > 1 ? 1 : share,
                         now - progress->began);
    fprintf(stderr, "\r%s\033[K", line);
    fflush(stderr);
    progress->drawn = 1;
    progress->next = now + INTERVAL;
}

void tool_progress_text(tool_progress *progress, const char *text)
{
    if (!progress->shown)
        return;
    fprintf(stderr, "\r%.119s\033[K", text);
    fflush(stderr);
    progress->drawn = 1;
}

void tool_progress_end(tool_progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define INTERVAL 0.1

double extract_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void extract_progress_begin(extract_progress *progress, int64_t bytes, int quiet)
{
    progress->shown = !quiet && isatty(STDERR_FILENO);
    progress->began = extract_clock();
    progress->next = progress->began + INTERVAL;
    progress->expected = bytes;
    progress->drawn = 0;
    progress->reserved = 0;
}

void extract_progress_format(char *text, size_t size, int64_t frames, int64_t offset,
                             double fraction, double seconds)
{
    double left = fraction > 0 ? seconds * (1 - fraction) / fraction : 0;
    long long remaining = left < 1e9 ? (long long)(left + 0.5) : 0;
    double speed = seconds > 0 ? (double)offset * 1e-6 / seconds : 0;

    snprintf(text, size, "%lld frames, %.0f %%, %.0f MB/s, %lld:%02lld:%02lld left",
             (long long)frames, 100 * fraction, speed, remaining / 3600, remaining / 60 % 60,
             remaining % 60);
}

void extract_progress_update(extract_progress *progress, int64_t frames, int64_t offset,
                             double fraction)
{
    double now, share;
    char line[120];

    if (!progress->shown)
        return;
    now = extract_clock();
    if (now < progress->next)
        return;
    share = progress->expected > 0 ? (double)offset / (double)progress->expected : 0;
    if (fraction > share)
        share = fraction;
    extract_progress_format(line, sizeof line, frames, offset, share > 1 ? 1 : share,
                            now - progress->began);
    fprintf(stderr, "\r%s\033[K", line);
    fflush(stderr);
    progress->drawn = 1;
    progress->next = now + INTERVAL;
}

void extract_progress_end(extract_progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a kernel preserves the state of the process.
 * Tests: tests/conformance/test_broken.c */
#include "kit.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t printed(int output)
{
    struct stat file;
    return output >= 0 && fstat(output, &file) == 0 ? file.st_size : 0;
}

/* The first line from byte `at` on, cut to the size of `text`. */
static void read_line(int output, int64_t at, char *text, size_t size)
{
    ssize_t count = pread(output, text, size - 1, at);
    text[count > 0 ? count : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
}

void kit_conduct_take(kit_conduct *state, int output)
{
    *state = (kit_conduct){conduct_now(), printed(output)};
}

void kit_conduct_check(const kit_conduct *before, int output, kit_verdict *v)
{
    char text[CONTRACT_TEXT];
    int64_t bytes = printed(output) - before->printed;
    const char *locale = before->thread.process_locale;
    if (conduct_changed(&before->thread, text))
        kit_fail(v, "conduct: %s; `run` must restore it before it returns", text);
    if (strcmp(setlocale(LC_ALL, NULL), locale) != 0)
        (void)setlocale(LC_ALL, locale);
    if (bytes) {
        read_line(output, before->printed, text, sizeof text);
        kit_fail(v, "conduct: %lld bytes were printed, '%s'; use host->log instead",
                 (long long)bytes, text);
    }
}

int kit_thread_count(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    if (!tasks)
        return 0;
    for (struct dirent *entry = readdir(tasks); entry; entry = readdir(tasks))
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

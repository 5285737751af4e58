/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the state of the process that a plugin must not change, while it is loaded and in its
 * calls.
 * Tests: tests/conformance/test_broken.c, tests/conformance/test_floating.c */
#include "kit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const __rlimit_resource_t limits[KIT_LIMITS] = {
    RLIMIT_NOFILE, RLIMIT_STACK, RLIMIT_CORE, RLIMIT_AS, RLIMIT_DATA, RLIMIT_CPU, RLIMIT_FSIZE};

/* A library may request an executable stack; then the system makes all stacks executable. */
static bool has_executable_stack(void)
{
    char line[512];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps))
        found = found || (strstr(line, "[stack]") && strstr(line, "rwxp"));
    if (maps)
        fclose(maps);
    return found;
}

void kit_process_take(kit_process *s)
{
    struct stat file;
    memset(s, 0, sizeof *s);
    for (int i = 1; i < KIT_SIGNALS; i++)
        sigaction(i, NULL, &s->actions[i]);
    if (!getcwd(s->directory, sizeof s->directory))
        s->directory[0] = '\0';
    for (size_t i = 0; i < KIT_LIMITS; i++)
        getrlimit(limits[i], &s->limits[i]);
    s->mask = umask(0);
    umask(s->mask);
    for (char **e = environ; e && *e; e++)
        for (const char *c = *e; *c; c++)
            s->environment = s->environment * 31 + (unsigned char)*c;
    for (int i = 0; i < 3; i++)
        if (fstat(i, &file) == 0)
            s->files[i] = (kit_file){file.st_dev, file.st_ino};
    s->executable_stack = has_executable_stack();
}

void kit_process_set_limits(const kit_process *s)
{
    for (size_t i = 0; i < KIT_LIMITS; i++)
        setrlimit(limits[i], &s->limits[i]);
}

/* The C library adds flags that mean nothing without a handler. */
static bool same_action(const struct sigaction *a, const struct sigaction *b)
{
    bool has_handler = a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN;
    int flags = has_handler ? ~0 : SA_NOCLDWAIT;
    return a->sa_handler == b->sa_handler && (a->sa_flags & flags) == (b->sa_flags & flags);
}

bool kit_process_same(const kit_process *before, const kit_process *now, int except,
                      char text[KIT_TEXT])
{
    text[0] = '\0';
    for (size_t i = 0; i < KIT_LIMITS; i++)
        if (before->limits[i].rlim_cur != now->limits[i].rlim_cur ||
            before->limits[i].rlim_max != now->limits[i].rlim_max)
            snprintf(text, KIT_TEXT, "conduct: the resource limit %d was changed", limits[i]);
    for (int i = 1; i < KIT_SIGNALS; i++)
        if (!same_action(&before->actions[i], &now->actions[i]) && i != except)
            snprintf(text, KIT_TEXT, "conduct: the action of signal %d was changed", i);
    if (strcmp(before->directory, now->directory) != 0)
        snprintf(text, KIT_TEXT, "conduct: the working directory was changed");
    if (before->mask != now->mask)
        snprintf(text, KIT_TEXT, "conduct: the umask was changed");
    if (before->environment != now->environment)
        snprintf(text, KIT_TEXT, "conduct: environment variables were changed");
    for (int i = 0; i < 3; i++)
        if (before->files[i].device != now->files[i].device ||
            before->files[i].number != now->files[i].number)
            snprintf(text, KIT_TEXT, "conduct: file descriptor %d was closed or replaced", i);
    if (now->executable_stack && !before->executable_stack)
        snprintf(text, KIT_TEXT,
                 "conduct: it requests an executable stack for all threads of the process; link "
                 "it with -z noexecstack");
    return !text[0];
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS 64
#define PATHS 64
/* The text before a kernel's name on its line in preprocessed source. */
#define MARK "extern \"C\" __attribute__((used)) void"

extern char **environ;

typedef struct build_files {
    char directory[PATHS], source[PATHS + 8], made[PATHS + 8], messages[PATHS + 8];
} build_files;

static int create_files(build_files *w)
{
    const char *base = getenv("TMPDIR");
    (void)snprintf(w->directory, sizeof w->directory, "%.40s/collet-nvrtc-XXXXXX",
                   base ? base : "/tmp");
    if (!mkdtemp(w->directory))
        return 0;
    (void)snprintf(w->source, sizeof w->source, "%s/a.cc", w->directory);
    (void)snprintf(w->made, sizeof w->made, "%s/b", w->directory);
    (void)snprintf(w->messages, sizeof w->messages, "%s/c", w->directory);
    return 1;
}

static void remove_files(const build_files *w)
{
    (void)remove(w->source);
    (void)remove(w->made);
    (void)remove(w->messages);
    (void)rmdir(w->directory);
}

static int write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    int ok = file && fputs(text, file) >= 0;
    return file && fclose(file) == 0 && ok;
}

/* Returns `head` uninitialised bytes, a file's text and a NUL. */
static char *read_file(const char *path, size_t head, size_t *bytes)
{
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    char *text = NULL;
    *bytes = 0;
    if (file >= 0 && fstat(file, &about) == 0 &&
        (text = calloc(1, head + (size_t)about.st_size + 1))) {
        ssize_t got;
        while ((got = read(file, text + head + *bytes, (size_t)about.st_size - *bytes)) > 0)
            *bytes += (size_t)got;
    }
    if (file >= 0)
        close(file);
    return text;
}

static int run(const char *const *arguments, const char *messages)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, messages, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (posix_spawnp(&child, arguments[0], &actions, NULL, (char *const *)(uintptr_t)arguments,
                     environ) == 0)
        waitpid(child, &status, 0);
    posix_spawn_file_actions_destroy(&actions);
    return status == 0;
}

/* Preprocesses or, if `whole`, compiles w->source to w->made. */
static int compile(const build_files *w, int whole, int count, const char *const *options)
{
    const char *arguments[ARGUMENTS] = {getenv("FAKE_NVRTC_CXX"), "-std=c++17", "-w",
                                        "-ffp-contract=off"};
    int used = 4;
    for (int i = 0; i < count && used < ARGUMENTS - 12; i++)
        if (strncmp(options[i], "-D", 2) == 0)
            arguments[used++] = options[i];
    if (whole) {
        arguments[used++] = "-O1";
        /* As on a GPU, an unaligned access ends the process. */
        arguments[used++] = "-fsanitize=alignment";
        arguments[used++] = "-fsanitize-undefined-trap-on-error";
        arguments[used++] = "-fPIC";
        arguments[used++] = "-shared";
        arguments[used++] = "-x";
        arguments[used++] = "c++-cpp-output";
    } else {
        arguments[used++] = "-E";
        arguments[used++] = "-include";
        arguments[used++] = COLLET_FAKE_DEVICE;
    }
    arguments[used++] = w->source;
    arguments[used++] = "-o";
    arguments[used++] = w->made;
    return arguments[0] && run(arguments, w->messages);
}

/* Writes the preprocessed text, followed by an entry point for each kernel. */
static int add_entries(const build_files *w)
{
    size_t bytes;
    char *text = read_file(w->made, 0, &bytes);
    FILE *file = fopen(w->source, "w");
    int ok = text && file && fputs(text, file) >= 0;
    for (const char *at = text; ok && (at = strstr(at, MARK));) {
        char name[64] = "";
        at += strlen(MARK);
        if (sscanf(at, " %63[A-Za-z0-9_]", name) == 1)
            (void)fprintf(file,
                          "\nextern \"C\" void fake_entry_%s(void **arguments)\n"
                          "{ fake_call(%s, arguments); }\n"
                          "extern \"C\" int fake_sizes_%s(unsigned *sizes)\n"
                          "{ return fake_measure(%s, sizes); }\n",
                          name, name, name, name);
    }
    free(text);
    return file && fclose(file) == 0 && ok;
}

char *fake_compile(const char *source, int count, const char *const *options, size_t *bytes,
                   char log[4096])
{
    char head[32] = "", *image = NULL;
    build_files w;
    size_t size = 0, messages;
    if (!create_files(&w))
        return NULL;
    int ok = write_file(w.source, source) && compile(&w, 0, count, options) && add_entries(&w) &&
             compile(&w, 1, 0, NULL);
    if (ok && (image = read_file(w.made, sizeof head, &size))) {
        int length = snprintf(head, sizeof head, FAKE_HOST_IMAGE, size);
        memmove(image + length, image + sizeof head, size);
        memcpy(image, head, (size_t)length);
        *bytes = (size_t)length + size;
    }
    char *text = read_file(w.messages, 0, &messages);
    (void)snprintf(log, 4096, "%.4000s", text && *text ? text : "no message of the compiler");
    free(text);
    remove_files(&w);
    return image;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvrtc_compile LIBRARY ARCHITECTURE PRELUDE DIRECTORY: compiles every device source in the
 * directory with NVRTC; no GPU is needed. Skipped (77) without the library, without sources, or if
 * the library does not support the architecture.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIPPED 77
#define MOST_OPTIONS 64

/* The same as in plugins/cuda/providers/abi/nvrtc.h. */
typedef struct nvrtc_program nvrtc_program;
typedef struct nvrtc {
    int (*create)(nvrtc_program **program, const char *source, const char *name, int headers,
                  const char *const *header_texts, const char *const *header_names);
    int (*compile)(nvrtc_program *program, int count, const char *const *options);
    int (*log_size)(nvrtc_program *program, size_t *bytes);
    int (*log)(nvrtc_program *program, char *log);
    int (*code_size)(nvrtc_program *program, size_t *bytes);
    int (*code)(nvrtc_program *program, char *code);
    int (*destroy)(nvrtc_program **program);
    int (*architecture_count)(int *count);
    int (*architectures)(int *list);
} nvrtc;

static int nvrtc_open(nvrtc *n, const char *path)
{
    static const char *const names[] = {
        "nvrtcCreateProgram",  "nvrtcCompileProgram",       "nvrtcGetProgramLogSize",
        "nvrtcGetProgramLog",  "nvrtcGetPTXSize",           "nvrtcGetPTX",
        "nvrtcDestroyProgram", "nvrtcGetNumSupportedArchs", "nvrtcGetSupportedArchs",
    };
    void **slots = (void **)(void *)n;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        slots[i] = dlsym(library, names[i]);
        if (!slots[i])
            return 0;
    }
    return 1;
}

static int supports(const nvrtc *n, int architecture)
{
    int count = 0, list[128] = {0}, found = 0;
    if (n->architecture_count(&count) || count > 128 || n->architectures(list))
        return 0;
    for (int i = 0; i < count; i++)
        found = found || list[i] == architecture;
    return found;
}

/* Appends the file's text to `text`, which it frees; returns NULL if it cannot be read. */
static char *append_file(char *text, const char *path)
{
    size_t length = text ? strlen(text) : 0;
    FILE *f = fopen(path, "rb");
    long size = -1;
    if (f && !fseek(f, 0, SEEK_END))
        size = ftell(f);
    char *all = size >= 0 ? realloc(text, length + (size_t)size + 1) : NULL;
    if (all && !fseek(f, 0, SEEK_SET) && fread(all + length, 1, (size_t)size, f) == (size_t)size) {
        all[length + (size_t)size] = '\0';
        (void)fclose(f);
        return all;
    }
    if (f)
        (void)fclose(f);
    free(all ? all : text);
    return NULL;
}

static void show_log(const nvrtc *n, nvrtc_program *program)
{
    size_t bytes = 0;
    if (n->log_size(program, &bytes) || !bytes)
        return;
    char *log = calloc(1, bytes + 1);
    if (log && !n->log(program, log))
        printf("%s\n", log);
    free(log);
}

/* Splits the comment on the first line into options. */
static int options_of(char *line, const char **options, int count)
{
    for (char *word = strtok(line, " "); word && count < MOST_OPTIONS; word = strtok(NULL, " "))
        options[count++] = word;
    return count;
}

/* Returns 1 if the text compiles and contains a kernel. */
static int compile(const nvrtc *n, const char *architecture, const char *text, char *own)
{
    char target[64];
    const char *options[MOST_OPTIONS] = {target,
                                         "--fmad=false",
                                         "--ftz=false",
                                         "--prec-div=true",
                                         "--prec-sqrt=true",
                                         "-default-device",
                                         "-DGROUP=256",
                                         "-DPER_ITEM=4",
                                         "-DHAVE_F64=1",
                                         "-DEXACT_F32=1"};
    nvrtc_program *program = NULL;
    size_t bytes = 0;
    snprintf(target, sizeof target, "--gpu-architecture=%s", architecture);
    int count = options_of(own, options, 10);
    if (n->create(&program, text, "device.cu", 0, NULL, NULL))
        return 0;
    int ok = !n->compile(program, count, options) && !n->code_size(program, &bytes) && bytes;
    char *code = ok ? calloc(1, bytes + 1) : NULL;
    ok = code && !n->code(program, code) && strstr(code, ".entry");
    if (!ok)
        show_log(n, program);
    free(code);
    n->destroy(&program);
    return ok;
}

static int compile_file(const nvrtc *n, const char *architecture, const char *prelude,
                        const char *path)
{
    char own[1024] = "";
    FILE *f = fopen(path, "rb");
    if (f) {
        if (!fgets(own, sizeof own, f))
            own[0] = '\0';
        (void)fclose(f);
    }
    own[strcspn(own, "\n")] = '\0';
    char *text = append_file(append_file(NULL, prelude), path);
    int ok = text && !strncmp(own, "// ", 3) && compile(n, architecture, text, own + 3);
    if (!ok)
        printf("^ %s\n", path);
    free(text);
    return ok;
}

int main(int argc, char **argv)
{
    nvrtc n;
    int done = 0, failed = 0;
    if (argc != 5)
        return 2;
    if (!nvrtc_open(&n, argv[1])) {
        printf("NVRTC not found: %s\n", dlerror());
        return SKIPPED;
    }
    if (!supports(&n, atoi(argv[2] + strlen("compute_")))) {
        printf("this NVRTC does not support %s\n", argv[2]);
        return SKIPPED;
    }
    DIR *d = opendir(argv[4]);
    for (struct dirent *entry = d ? readdir(d) : NULL; entry; entry = readdir(d)) {
        char path[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", argv[4], entry->d_name);
        failed += !compile_file(&n, argv[2], argv[3], path);
        done++;
    }
    if (d)
        closedir(d);
    printf("%s: %d sources, %d failed\n", argv[2], done, failed);
    return !done ? SKIPPED : failed != 0;
}

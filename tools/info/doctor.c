/* SPDX-License-Identifier: Apache-2.0 */
/* backend-info --doctor: lists missing requirements, the reasons, and the commands that correct them. The findings
 * have the same texts as in collet.doctor() (python/collet/_doctor.py), which adds findings about Python.
 * Tests: tests/tools/test_info.c, python/tests/test_runtime.py */
#include "info.h"

#include "common/json_add.h"
#include "common/output.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct finding {
    char *what, *why, *fix;
} finding;

typedef struct findings {
    const char *called; /* the command that started this program */
    finding *items;
    size_t count;
    int out_of_memory;
} findings;

/* Parts of reasons, each with the command that corrects it. */
static const char *const mends[][2] = {
    {"libcuda.so", "apt-get install nvidia-driver   # on a machine with an NVIDIA card"},
    {"libnvrtc.so", "pip install nvidia-cuda-nvrtc-cu12   # or install the CUDA toolkit"},
    {"libcu", "install the CUDA toolkit"},
    {"libOpenCL.so", "apt-get install ocl-icd-libopencl1"},
    {"libclblast.so", "apt-get install libclblast1"},
    {"no platform", "apt-get install pocl-opencl-icd   # for the processor; for a GPU its driver"},
    {"libgomp", "apt-get install libgomp1"},
};
static const char *const missing[] = {"not found", "cannot be opened", " lacks "};
static const char *const policy[] = {" may write to ", " may create files in ", " are trusted: "};
#define START "the backend "

static int has_any(const char *text, const char *const *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(text, parts[i]))
            return 1;
    return 0;
}
#define HAS_ANY(text, parts) has_any(text, parts, sizeof(parts) / sizeof *(parts))

/* ---- Texts ------------------------------------------------------------------------------- */

static char *COLLET_PRINTF(1, 2) text_of(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    return text;
}

/* Returns the command for the packages in a text such as "(Debian: libopenblas0 or libopenblas-dev)". */
static char *package_fix(const char *names)
{
    int length = (int)strcspn(names, ")");
    const char *other = strstr(names, " or ");
    if (!other || other - names >= length)
        return text_of("apt-get install %.*s", length, names);
    int first = (int)(other - names);
    return text_of("apt-get install %.*s   # or: %.*s", first, names, length - first - 4,
                   other + 4);
}

static char *fix_of(const char *reason)
{
    const char *debian = strstr(reason, "(Debian: "), *last = reason;
    if (debian)
        return package_fix(debian + 9);
    for (const char *next; (next = strstr(last, ": "));)
        last = next + 2;
    if (!strncmp(last, "set ", 4) || !strncmp(last, "chmod ", 6) || !strncmp(last, "unset ", 6) ||
        HAS_ANY(reason, policy))
        return strdup(last);
    for (size_t i = 0; i < sizeof mends / sizeof *mends; i++)
        if (strstr(reason, mends[i][0]))
            return strdup(mends[i][1]);
    return strdup("");
}

/* ---- Findings ---------------------------------------------------------------------------- */

static void clear(finding *f)
{
    free(f->what);
    free(f->why);
    free(f->fix);
}

/* Merges two findings that the same command corrects: "the backends cuda, opencl". */
static void merge(finding *into, finding *f)
{
    char *what = !strncmp(into->what, "the backends ", 13) && !strncmp(f->what, START, 12)
                     ? text_of("%s, %s", into->what, f->what + 12)
                 : !strncmp(into->what, START, 12) && !strncmp(f->what, START, 12)
                     ? text_of("the backends %s, %s", into->what + 12, f->what + 12)
                     : text_of("%s, %s", into->what, f->what);
    clear(f);
    if (what) {
        free(into->what);
        into->what = what;
    }
}

/* Takes the texts over. */
static void add(findings *all, char *what, char *why, char *fix)
{
    finding f = {what, why, fix};
    finding *grown =
        what && why && fix ? realloc(all->items, (all->count + 1) * sizeof *all->items) : NULL;
    if (!grown) {
        clear(&f);
        all->out_of_memory = 1;
        return;
    }
    all->items = grown;
    for (size_t i = 0; i < all->count; i++)
        if (!strcmp(grown[i].why, why) && !strcmp(grown[i].fix, fix)) {
            merge(&grown[i], &f);
            return;
        }
    grown[all->count++] = f;
}

/* Adds the texts of the capabilities that state what is missing, each with the name of its subject. */
static void add_texts(findings *all, const char *backend, const cJSON *object, const char *name)
{
    const cJSON *value;
    cJSON_ArrayForEach(value, object)
    {
        const char *about = *name && !strcmp(value->string, "reason") ? name : value->string;
        const cJSON *part = cJSON_IsArray(value) ? value->child : value;
        for (; part; part = cJSON_IsArray(value) ? part->next : NULL) {
            if (cJSON_IsObject(part))
                add_texts(all, backend, part, about);
            else if (cJSON_IsString(part) && HAS_ANY(part->valuestring, missing))
                add(all, text_of("%s for %s", about, backend), strdup(part->valuestring),
                    fix_of(part->valuestring));
        }
    }
}

static void examine_backend(findings *all, const collet_backend_info *b)
{
    if (strstr(b->reason, "name a backend")) /* the backend worker, which needs nothing more */
        return;
    if (b->state == COLLET_BACKEND_UNAVAILABLE) {
        char *fix = fix_of(b->reason);
        if (fix && !*fix) {
            free(fix);
            fix = text_of("%s --why %s", all->called, b->name);
        }
        add(all, text_of(START "%s", b->name), strdup(b->reason), fix);
        return;
    }
    cJSON *capabilities = cJSON_Parse(b->capabilities);
    /* The choices repeat the reasons under other names. */
    cJSON_DeleteItemFromObjectCaseSensitive(capabilities, "choices");
    add_texts(all, b->name, capabilities, "");
    cJSON_Delete(capabilities);
}

/* Returns the directory of plugins beside libcore; the caller frees it. */
static char *beside_libcore(void)
{
    Dl_info library;
    if (!dladdr((const void *)(uintptr_t)collet_version, &library))
        return NULL;
    char *file = realpath(library.dli_fname, NULL), *slash = file ? strrchr(file, '/') : NULL;
    char *directory = slash ? text_of("%.*s/collet", (int)(slash - file), file) : NULL;
    free(file);
    return directory;
}

static void add_no_backend(findings *all, const collet_runtime *runtime)
{
    collet_setting s = {.struct_size = sizeof s};
    size_t i = 0;
    while (collet_setting_at(runtime, &s, i++, NULL) == COLLET_OK && strcmp(s.key, "plugin_path"))
        ;
    char *beside = beside_libcore();
    if (!beside)
        all->out_of_memory = 1;
    else if (*s.value && *s.value != '+')
        add(all, strdup("any usable backend"),
            text_of("the setting plugin_path (%s) is %s, so %s is not searched",
                    s.environment, s.value, beside),
            text_of("unset %s, or begin it with '+' to search both", s.environment));
    else
        add(all, strdup("any usable backend"), text_of("searched %s", beside),
            text_of("%s --why", all->called));
    free(beside);
}

/* Checks the backend that the environment or the configuration file names. */
static void examine_choice(findings *all, collet_runtime *runtime, char *usable)
{
    collet_context *context = NULL;
    collet_error err;
    if (!*usable)
        return;
    if (collet_context_create(runtime, &context, &err) != COLLET_OK)
        add(all, strdup("the backend that is chosen"), strdup(err.text),
            text_of("set COLLET_BACKEND (the setting backend) to %s", usable));
    collet_context_destroy(context);
}

/* Adds the directories and files that did not give a backend, except directories that do not exist or were searched
 * already under a different name: the directory beside libcore may also be the system's directory of plugins. */
static void examine_records(findings *all, const collet_runtime *runtime)
{
    collet_plugin_record r;
    collet_backend_info b;
    for (size_t i = 0; i < collet_record_count(runtime); i++) {
        int known = 0;
        r = (collet_plugin_record){.struct_size = sizeof r};
        if (collet_record_at(runtime, &r, i, NULL) != COLLET_OK || r.accepted ||
            !strcmp(r.code, "not-found") || !strcmp(r.code, "duplicate-directory"))
            continue;
        for (size_t k = 0; k < collet_backend_count(runtime); k++) {
            b = (collet_backend_info){.struct_size = sizeof b};
            if (collet_backend_info_at(runtime, &b, k, NULL) == COLLET_OK)
                known |= !strcmp(b.path, r.path) ||
                         (!strcmp(r.stage, "policy") && !strcmp(b.reason, r.reason));
        }
        if (!known)
            add(all, strdup(r.path), strdup(r.reason), fix_of(r.reason));
    }
}

static const char *setting_of(const collet_runtime *runtime, const char *key)
{
    collet_setting s = {.struct_size = sizeof s};
    for (size_t i = 0; collet_setting_at(runtime, &s, i, NULL) == COLLET_OK; i++)
        if (!strcmp(s.key, key))
            return s.value;
    return "";
}

/* Adds a finding if every usable backend computes on one thread, as the reference backend does. */
static void examine_threads(findings *all, const collet_runtime *runtime)
{
    int32_t usable = 0;
    for (size_t i = 0; i < collet_backend_count(runtime); i++) {
        collet_backend_info b = {.struct_size = sizeof b};
        if (collet_backend_info_at(runtime, &b, i, NULL) != COLLET_OK ||
            b.state == COLLET_BACKEND_UNAVAILABLE)
            continue;
        if (b.parallel || b.gpu)
            return;
        usable++;
    }
    if (usable)
        add(all, strdup("a backend that computes on all cores"),
            strdup("every usable backend computes on one thread"),
            strdup("install the backend cpu_openmp; a build from source needs a compiler with "
                   "OpenMP"));
}

/* Adds a finding if this machine is not calibrated although it has a device other than a CPU: such a
 * device is not the fastest for every size. */
static void examine_calibration(findings *all, const collet_runtime *runtime)
{
    char other[COLLET_MAX_NAME] = "";
    uint32_t usable = 0, calibrated = 0;
    for (size_t i = 0; i < collet_backend_count(runtime); i++) {
        collet_backend_info b = {.struct_size = sizeof b};
        collet_device_info d = {.struct_size = sizeof d};
        if (collet_backend_info_at(runtime, &b, i, NULL) != COLLET_OK ||
            collet_device_info_at(runtime, &d, i, 0, NULL) != COLLET_OK)
            continue;
        usable++;
        calibrated += *b.calibration != '\0';
        if (!*other && d.kind != COLLET_DEVICE_CPU)
            snprintf(other, sizeof other, "%s", b.name);
    }
    if (usable > 1 && *other && !calibrated && !strcmp(setting_of(runtime, "calibration"), "on"))
        add(all, strdup("a calibration of this machine"),
            text_of("the sizes from which %s is faster than the other backends were not measured: auto takes the "
                    "first backend that has a kernel",
                    other),
            text_of("%s calibrate",
                    strcmp(all->called, "backend-info") ? all->called : "backend-bench"));
}

/* ---- The report -------------------------------------------------------------------------- */

static void print_devices(const collet_runtime *runtime, size_t index, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        collet_device_info d = {.struct_size = sizeof d};
        if (collet_device_info_at(runtime, &d, index, k, NULL) == COLLET_OK)
            printf(", %s", tool_shown(d.name));
    }
}

static void print_memory(void)
{
    char total[TOOL_SIZE_TEXT];
    collet_memory_limit limit = {.struct_size = sizeof limit};
    if (collet_memory_limit_read(&limit, NULL) != COLLET_OK)
        return;
    printf("  memory: %s", tool_size_format(total, (double)limit.total));
    if (*limit.by)
        printf(", %s", tool_shown(limit.by));
    putchar('\n');
}

static void print_findings(const collet_runtime *runtime, const findings *all)
{
    const char *plain = tool_colour(stdout, TOOL_PLAIN);
    printf("collet %s\n", collet_version());
    for (size_t i = 0; i < collet_backend_count(runtime); i++) {
        collet_backend_info b = {.struct_size = sizeof b};
        if (collet_backend_info_at(runtime, &b, i, NULL) != COLLET_OK)
            continue;
        printf("  %s: %s", tool_shown(b.name), info_state_text(&b));
        print_devices(runtime, i, b.device_count);
        putchar('\n');
    }
    print_memory();
    for (size_t i = 0; i < all->count; i++) {
        const finding *f = &all->items[i];
        printf("%smissing:%s %s\n  why:   %s\n", tool_colour(stdout, TOOL_YELLOW), plain,
               tool_shown(f->what), tool_shown(f->why));
        if (*f->fix)
            printf("  %sfix:%s   %s\n", tool_colour(stdout, TOOL_GREEN), plain, tool_shown(f->fix));
    }
    if (!all->count)
        puts("nothing is missing");
}

static int32_t print_json(const findings *all)
{
    cJSON *root = cJSON_CreateObject();
    cJSON *list = root && json_add_text(root, "collet", collet_version())
                      ? cJSON_AddArrayToObject(root, "findings")
                      : NULL;
    int32_t fine = list != NULL;
    for (size_t i = 0; i < all->count && fine; i++) {
        cJSON *row = json_append_object(list);
        fine = row && json_add_text(row, "what", all->items[i].what) &&
               json_add_text(row, "why", all->items[i].why) &&
               json_add_text(row, "fix", all->items[i].fix);
    }
    fine = fine && tool_print_json(root);
    cJSON_Delete(root);
    return fine;
}

/* Collects all findings, and sets *any to 1 if a backend is usable. The caller releases the findings. */
static findings examine(collet_runtime *runtime, const char *called, int32_t *any)
{
    findings all = {.called = called};
    char usable[1024] = "";
    collet_backend_info b;
    *any = 0;
    for (size_t i = 0; i < collet_backend_count(runtime); i++) {
        b = (collet_backend_info){.struct_size = sizeof b};
        if (collet_backend_info_at(runtime, &b, i, NULL) != COLLET_OK)
            continue;
        size_t length = strlen(usable);
        if (b.state != COLLET_BACKEND_UNAVAILABLE)
            snprintf(usable + length, sizeof usable - length, "%s%s", length ? " or " : "", b.name);
        *any |= b.state == COLLET_BACKEND_USABLE;
    }
    if (!*any)
        add_no_backend(&all, runtime);
    for (size_t i = 0; i < collet_backend_count(runtime); i++) {
        b = (collet_backend_info){.struct_size = sizeof b};
        if (collet_backend_info_at(runtime, &b, i, NULL) == COLLET_OK)
            examine_backend(&all, &b);
    }
    examine_choice(&all, runtime, usable);
    examine_records(&all, runtime);
    examine_threads(&all, runtime);
    examine_calibration(&all, runtime);
    return all;
}

/* Releases the findings. Prints a message and returns 0 if memory ran out, else returns 1. */
static int release(findings *all)
{
    if (all->out_of_memory)
        tool_complain("backend-info", "out of memory for the report");
    for (size_t i = 0; i < all->count; i++)
        clear(&all->items[i]);
    free(all->items);
    return !all->out_of_memory;
}

int info_doctor(collet_runtime *runtime, const info_options *options)
{
    int32_t any;
    findings all = examine(runtime, options->called, &any);
    if (!all.out_of_memory && options->json)
        all.out_of_memory = !print_json(&all);
    else if (!all.out_of_memory)
        print_findings(runtime, &all);
    return !release(&all) ? TOOL_EXIT_FAILURE : any ? TOOL_EXIT_OK : TOOL_EXIT_UNAVAILABLE;
}

void info_list_missing(collet_runtime *runtime, const info_options *options)
{
    int32_t any;
    findings all = examine(runtime, options->called, &any);
    if (!all.count)
        puts("\nNothing is missing.");
    else
        printf("\nMissing, and how to get it (%s --doctor says why):\n", options->called);
    for (size_t i = 0; i < all.count; i++) {
        const finding *f = &all.items[i];
        int indent = printf("  %s: ", tool_shown(f->what));
        wrap_print(*f->fix ? f->fix : f->why, indent);
    }
    release(&all);
}

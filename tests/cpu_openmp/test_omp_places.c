/* SPDX-License-Identifier: Apache-2.0 */
/*
 * If a program's OpenMP runtime bound the initial thread before libcore was loaded (OMP_PROC_BIND,
 * OMP_PLACES, GOMP_CPU_AFFINITY), cpu_openmp uses the processors of all places, each processor once.
 * cpu_openmp uses no processor outside the affinity with which the program was started, or to which
 * the program bound itself later.
 */
#include <dirent.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <collet/collet.h>
#include <collet/ops/array.h>

#define LIMIT 30 /* seconds within which a worker must have run */
#define LENGTH (INT64_C(1) << 18)

static char logged[COLLET_ERROR_TEXT];

static void note(void *user, int32_t level, const char *text)
{
    if (level == COLLET_LOG_WARNING)
        snprintf(logged, sizeof logged, "%s", text);
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int fail(const char *what)
{
    fprintf(stderr, "test_omp_places: %s\n", what);
    return 1;
}

/* Whether a worker runs in a call. */
static int workers_run(collet_context *cx)
{
    collet_array *a, *b;
    const int64_t shape[] = {LENGTH};
    const collet_scalar zero = {.dtype = COLLET_F64};
    double begin = seconds(CLOCK_MONOTONIC), others = 0;
    if (collet_array_create(cx, &a, COLLET_F64, 1, shape) ||
        collet_array_create(cx, &b, COLLET_F64, 1, shape) || collet_op_fill(cx, a, &zero))
        return 0;
    while (others < 1e-3 && seconds(CLOCK_MONOTONIC) - begin < LIMIT) {
        if (collet_op_exp(cx, b, a))
            return 0;
        others = seconds(CLOCK_PROCESS_CPUTIME_ID) - seconds(CLOCK_THREAD_CPUTIME_ID);
    }
    collet_array_destroy(a);
    collet_array_destroy(b);
    return others >= 1e-3;
}

/* The processors of place number `first` and all later places. */
static cpu_set_t processors(int first)
{
    cpu_set_t set;
    int ids[CPU_SETSIZE];
    CPU_ZERO(&set);
    for (int p = first; p < omp_get_num_places(); p++) {
        omp_get_place_proc_ids(p, ids);
        for (int i = 0; i < omp_get_place_num_procs(p); i++)
            CPU_SET((size_t)ids[i], &set);
    }
    return set;
}

/* The threads of this process are bound to places that together contain all processors. */
static int workers_apart(void)
{
    cpu_set_t all = processors(0), found, one;
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *task;
    CPU_ZERO(&found);
    while (tasks && (task = readdir(tasks)))
        if (atoi(task->d_name) && !sched_getaffinity(atoi(task->d_name), sizeof one, &one))
            CPU_OR(&found, &found, &one);
    if (tasks)
        closedir(tasks);
    return CPU_EQUAL(&found, &all);
}

/* A runtime with `setting` uses `threads` threads and reports the reason `why`. */
static int check(const char *setting, int threads, const char *why)
{
    const char *const settings[] = {setting, NULL};
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = COLLET_TEST_PLUGINS "/cpu_openmp.so",
                                      .backend = "cpu_openmp",
                                      .settings = settings,
                                      .log = note};
    collet_runtime *rt;
    collet_context *cx;
    collet_backend_info info = {.struct_size = sizeof info};
    collet_error err;
    char expected[256];
    logged[0] = '\0';
    if (collet_runtime_create(&rt, &options, &err) || collet_context_create(rt, &cx, &err) ||
        collet_backend_info_at(rt, &info, 0, &err))
        return fail(err.text);
    snprintf(expected, sizeof expected, "\"threads\": %d, \"threads_limit\": \"%s", threads, why);
    int wrong = !strstr(info.capabilities, expected) ? fail(info.capabilities)
                : threads > 1 && !workers_run(cx)    ? fail("no worker runs")
                : threads > 1 && !workers_apart()    ? fail("workers share a processor")
                                                     : 0;
    collet_context_destroy(cx);
    collet_runtime_destroy(rt);
    return wrong;
}

/* Whether a child of this process may use the processors of all places. */
static int child_is_free(void)
{
    cpu_set_t all = processors(0), set;
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    int found = 0;
    while (processes && (entry = readdir(processes))) {
        char path[300];
        int parent = 0;
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *stat = atoi(entry->d_name) ? fopen(path, "r") : NULL;
        if (stat && fscanf(stat, "%*d (collet-worker) %*c %d", &parent) == 1 &&
            parent == (int)getpid())
            found |=
                !sched_getaffinity(atoi(entry->d_name), sizeof set, &set) && CPU_EQUAL(&set, &all);
        if (stat)
            fclose(stat);
    }
    if (processes)
        closedir(processes);
    return found;
}

/* The process that the backend `worker` starts is not bound to the place of the thread that starts
 * it. */
static int check_worker(void)
{
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = COLLET_TEST_PLUGINS,
                                      .backend = "worker:cpu_scalar"};
    const collet_scalar zero = {.dtype = COLLET_F32};
    collet_runtime *rt;
    collet_context *cx;
    collet_array *a;
    collet_error err;
    if (collet_runtime_create(&rt, &options, &err) || collet_context_create(rt, &cx, &err))
        return fail(err.text);
    if (collet_array_create(cx, &a, COLLET_F32, 0, NULL) || collet_op_fill(cx, a, &zero))
        return fail(collet_last_error(cx));
    int wrong = child_is_free() ? 0 : fail("the worker is bound to a place");
    collet_array_destroy(a);
    collet_context_destroy(cx);
    collet_runtime_destroy(rt);
    return wrong;
}

/* Runs the program again with an affinity of one processor, as taskset does. Lists of processors in OMP_PLACES
 * and GOMP_CPU_AFFINITY take precedence over this affinity. */
static int check_one(const char *program)
{
    const char *places = getenv("OMP_PLACES");
    if (getenv("GOMP_CPU_AFFINITY") || (places && *places == '{'))
        return 0;
    cpu_set_t one;
    int status = 0;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    pid_t child = fork();
    if (!child) {
        sched_setaffinity(0, sizeof one, &one);
        execl(program, program, "one", NULL);
        _exit(2);
    }
    return waitpid(child, &status, 0) != child || !WIFEXITED(status) ? fail("the child died")
                                                                     : WEXITSTATUS(status);
}

/* After the OpenMP runtime has bound the program to the first place, the program binds itself to the last place. */
static int check_pinned(const cpu_set_t *own)
{
    cpu_set_t last = processors(omp_get_num_places() - 1), now;
    if (CPU_EQUAL(&last, own))
        return 0;
    if (sched_setaffinity(0, sizeof last, &last))
        return fail("cannot be bound to the last place");
    int wrong = check("cache=on", CPU_COUNT(&last), "the processor affinity of the program");
    return wrong || (!sched_getaffinity(0, sizeof now, &now) && CPU_EQUAL(&last, &now)
                         ? 0
                         : fail("the program's own affinity is not kept"));
}

int main(int argc, char **argv)
{
    cpu_set_t own, places = processors(0);
    int all = CPU_COUNT(&places);
    if (sched_getaffinity(0, sizeof own, &own))
        return 1;
    if (argc > 1) {
        int wrong = check("num_threads=2", 1, "the processor affinity of the program");
        return wrong || strstr(logged, "num_threads is 2") ? wrong : fail("nothing is logged");
    }
    if (all < 1 || (all < 2 && omp_get_num_places() < 2) || (all > 1 && CPU_EQUAL(&own, &places)))
        return 77; /* only one processor, or an OpenMP runtime that binds later */
    if (all == 1)
        return check("cache=on", 1, "the processor affinity of the program");
    char together[64];
    snprintf(together, sizeof together, "num_threads=%d", all);
    return check("cache=on", all, "the places") || check(together, all, "the setting") ||
           check("num_threads=1", 1, "the setting") || check_worker() || check_one(argv[0]) ||
           check_pinned(&own);
}

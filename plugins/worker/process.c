/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/worker/test_worker.c, tests/cpu_openmp/test_omp_places.c */
#include "process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "wire.h"

/* Functions of the program's OpenMP runtime; the plugin itself is not linked to one. */
typedef struct places {
    int (*count)(void);
    int (*processors)(int place);
    void (*ids)(int place, int *ids);
} places;

static bool find(places *p)
{
    if (!getenv("OMP_PROC_BIND") && !getenv("OMP_PLACES") && !getenv("GOMP_CPU_AFFINITY"))
        return false;
    /* If a library of the program has loaded the runtime, the runtime's functions may not be in the global scope. */
    void *loaded = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *scope = loaded ? loaded : RTLD_DEFAULT;
    *(void **)&p->count = dlsym(scope, "omp_get_num_places");
    *(void **)&p->processors = dlsym(scope, "omp_get_place_num_procs");
    *(void **)&p->ids = dlsym(scope, "omp_get_place_proc_ids");
    if (loaded)
        dlclose(loaded);
    return p->count && p->processors && p->ids;
}

/* Adds the processors of a place to the set; false if the place has more than a set can hold. */
static bool add(const places *p, int place, cpu_set_t *set)
{
    int ids[CPU_SETSIZE], count = p->processors(place);
    if (count > CPU_SETSIZE)
        return false;
    p->ids(place, ids);
    for (int i = 0; i < count; i++)
        CPU_SET((size_t)ids[i], set);
    return true;
}

/* The places of OpenMP (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY). The OpenMP runtime binds the thread that
 * loads it to the first place, and new threads and processes inherit this binding. */

/* If OpenMP has bound the calling thread to the first place, lets the thread use the processors of all places
 * (host->threads counts these processors). Else changes nothing. */
static void places_leave(void)
{
    places p;
    cpu_set_t own, all;
    int count = find(&p) ? p.count() : 0, place = 0;
    if (count < 1 || sched_getaffinity(0, sizeof own, &own) != 0)
        return;
    CPU_ZERO(&all);
    while (place < count && add(&p, place, &all) && (place > 0 || CPU_EQUAL(&all, &own)))
        place++;
    if (place == count)
        (void)sched_setaffinity(0, sizeof all, &all);
}

#define STACK 65536
#define GRACE_MS 2000 /* a worker that was told to end is killed after this time */
#define POLL_MS 100   /* period of polling if Linux lacks pidfds */

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* ---- Starting -------------------------------------------------------------------------------- */

/* The child process between clone and exec. It shares the program's memory; the thread that started it waits until
 * the new program is loaded. All signals are blocked. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static int child(void *argument)
{
    process *p = argument;
    if (dup2(p->their_control, WIRE_CONTROL) >= 0 && dup2(p->their_events, WIRE_EVENTS) >= 0)
        execve(p->words[0], p->words, environ);
    p->error = errno;
    return 127;
}

static int start(process *p)
{
    void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return errno;
    p->error = 0;
    p->pid = clone(child, (char *)stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, p);
    int error = p->pid < 0 ? errno : p->error;
    if (p->pid > 0 && error)
        waitpid(p->pid, NULL, __WALL);
    munmap(stack, STACK);
    return error;
}

/* ---- The thread ------------------------------------------------------------------------------ */

static void set_state(process *p, process_state state)
{
    pthread_mutex_lock(&p->lock);
    p->state = state;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

/* Passes one message, a level and a text, to the log. Returns 0 if there will be no more messages. */
static int pass_on(const process *p)
{
    struct {
        int32_t level;
        char text[WIRE_TEXT];
    } message;
    char text[WIRE_TEXT];
    memset(&message, 0, sizeof message);
    long got = wire_receive(p->events, &message, sizeof message - 1, NULL, NULL, MSG_DONTWAIT);
    if (got <= 0)
        return got == -EAGAIN;
    wire_text(text, message.text);
    int32_t level = message.level < COLLET_LOG_ERROR || message.level > COLLET_LOG_DEBUG
                        ? COLLET_LOG_WARNING
                        : message.level;
    p->host->log(p->host, level, "%s: %s", p->name, text);
    return 1;
}

static bool has_ended(const process *p)
{
    siginfo_t info = {.si_pid = 0};
    int got = waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL);
    return got < 0 || info.si_pid == p->pid;
}

static void watch(process *p)
{
    int pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
    struct pollfd ends[2] = {{.fd = p->events, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};
    do {
        int ready = poll(ends, 2, pidfd < 0 ? POLL_MS : -1);
        if (ready > 0 && ends[0].revents && !pass_on(p))
            ends[0].fd = -1;
        if (ready < 0)
            poll(NULL, 0, POLL_MS);
    } while (!has_ended(p));
    for (int i = 0; i < 1000 && ends[0].fd >= 0 && poll(ends, 1, 0) > 0 && pass_on(p); i++)
        continue;
    if (pidfd >= 0)
        close(pidfd);
}

static void *thread_main(void *argument)
{
    process *p = argument;
    fesetenv(FE_DFL_ENV);
    places_leave(); /* the worker inherits the processors of this thread */
    int error = start(p);
    close(p->their_control);
    close(p->their_events);
    p->error = error;
    set_state(p, error ? PROCESS_ENDED : PROCESS_RUNS);
    if (error)
        return NULL;
    watch(p);
    pthread_mutex_lock(&p->lock);
    p->status = -1;
    waitpid(p->pid, &p->status, __WALL);
    p->state = PROCESS_ENDED;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    p->ended(p->user);
    return NULL;
}

/* ---- The interface --------------------------------------------------------------------------- */

/* Makes a pair of sockets whose descriptors are at least 10: the worker uses lower descriptors, and a program may have
 * closed 0 to 2. fcntl fails with EINVAL if the limit of open files is 10 or less. */
static int pair(int *own, int *theirs)
{
    int low[2], *to[2] = {own, theirs}, error = 0;
    *own = *theirs = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, low))
        return errno;
    for (int i = 0; i < 2; i++) {
        *to[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 10);
        error = *to[i] < 0 ? errno : error;
        close(low[i]);
    }
    return error == EINVAL ? EMFILE : error;
}

static void close_end(int fd)
{
    if (fd >= 0)
        close(fd);
}

static int thread_start(process *p)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&p->thread, NULL, thread_main, p);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static void process_free(process *p)
{
    close_end(p->control);
    close_end(p->events);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
}

static collet_status start_failed(const process *p, int error, collet_error *err)
{
    struct statvfs fs;
    bool noexec = !statvfs(p->words[0], &fs) && (fs.f_flag & ST_NOEXEC);
    const char *mend = error == EMFILE    ? "raise the limit of open files: ulimit -n"
                       : error == EAGAIN  ? "raise the limit of processes: ulimit -u"
                       : error == ENOEXEC ? "it is built for another processor"
                       : noexec ? "its file system is mounted noexec: remount it with exec"
                                : "it is installed beside the backend";
    return p->host->fail(err, COLLET_UNAVAILABLE, "%s cannot be started: %s (%s)", p->words[0],
                         strerror(error), mend);
}

collet_status process_start(process *p, collet_error *err)
{
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, &clock);
    pthread_condattr_destroy(&clock);
    p->state = PROCESS_STARTING;
    p->events = p->their_events = -1;
    int error = pair(&p->control, &p->their_control);
    error = error ? error : pair(&p->events, &p->their_events);
    error = error ? error : thread_start(p);
    if (error) {
        close_end(p->their_control);
        close_end(p->their_events);
        process_free(p);
        return start_failed(p, error, err);
    }
    pthread_mutex_lock(&p->lock);
    while (p->state == PROCESS_STARTING)
        pthread_cond_wait(&p->changed, &p->lock);
    error = p->error;
    pthread_mutex_unlock(&p->lock);
    if (!error)
        return COLLET_OK;
    pthread_join(p->thread, NULL);
    process_free(p);
    return start_failed(p, error, err);
}

void process_kill(process *p)
{
    pthread_mutex_lock(&p->lock);
    if (p->state == PROCESS_RUNS)
        kill(p->pid, SIGKILL);
    pthread_mutex_unlock(&p->lock);
}

bool process_wait(process *p, int milliseconds)
{
    struct timespec limit;
    clock_gettime(CLOCK_MONOTONIC, &limit);
    limit.tv_sec += milliseconds / 1000;
    limit.tv_nsec += (milliseconds % 1000) * 1000000L;
    if (limit.tv_nsec >= 1000000000) {
        limit.tv_sec++;
        limit.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&p->lock);
    while (p->state == PROCESS_RUNS &&
           pthread_cond_timedwait(&p->changed, &p->lock, &limit) != ETIMEDOUT)
        continue;
    bool ended = p->state == PROCESS_ENDED;
    pthread_mutex_unlock(&p->lock);
    return ended;
}

/* The name of a signal. Replaces sigabbrev_np, which needs glibc 2.32. */
static const char *signal_name(int number)
{
    switch (number) {
    case SIGSEGV:
        return " (SIGSEGV)";
    case SIGBUS:
        return " (SIGBUS)";
    case SIGILL:
        return " (SIGILL)";
    case SIGFPE:
        return " (SIGFPE)";
    case SIGABRT:
        return " (SIGABRT)";
    case SIGKILL:
        return " (SIGKILL)";
    case SIGTERM:
        return " (SIGTERM)";
    default:
        return "";
    }
}

void process_end_text(process *p, char *text, size_t size)
{
    pthread_mutex_lock(&p->lock);
    int status = p->status;
    bool ended = p->state == PROCESS_ENDED;
    pthread_mutex_unlock(&p->lock);
    if (!ended)
        snprintf(text, size, "no longer answers");
    else if (status != -1 && WIFSIGNALED(status))
        snprintf(text, size, "was ended by signal %d%s", WTERMSIG(status),
                 signal_name(WTERMSIG(status)));
    else if (status != -1)
        snprintf(text, size, "ended with status %d", WEXITSTATUS(status));
    else
        snprintf(text, size, "ended");
}

void process_stop(process *p)
{
    shutdown(p->control, SHUT_RDWR);
    if (!process_wait(p, GRACE_MS))
        process_kill(p);
    pthread_join(p->thread, NULL);
    process_free(p);
}

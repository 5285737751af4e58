/* SPDX-License-Identifier: Apache-2.0 */
/* State of the process that a plugin must not change, and the state of the plugin's threads.
 * Tests: tests/conformance/verbs/defects.sh */
#include "verbs/verbs.h"

#include <dirent.h>
#include <fenv.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* Sets rounding upwards and, if the processor can, denormals to zero. */
static void floating_unusual(void)
{
    fesetround(FE_UPWARD);
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
}

/* Calls that testbed_scenario does not make, and refused calls. */
static void call_others(testbed *b)
{
    slot_call s;
    collet_device *device = b->device, *none = NULL;
    void *buffer = NULL;
    uint64_t needed = 0;
    slot_begin(&s, b, "capabilities");
    slot_end(&s, b->plugin->capabilities(b->plugin, NULL, 0, &needed, &b->target->host, &s.err),
             CONTRACT_OPEN);
    (void)try_open(b, b->target->device_count, &none);
    b->device = device;
    if (b->own_memory && allocation_watched())
        (void)try_alloc(b, (uint64_t)1 << 62, &buffer);
    if (b->own_memory)
        testbed_free(b, NULL);
    testbed_reset_peak(b);
    const collet_trim_extension *trim = testbed_extension(b, COLLET_EXTENSION_TRIM);
    if (trim) {
        slot_begin(&s, b, "collet.trim/1 trim");
        trim->trim(b->device);
        slot_end(&s, COLLET_OK, 0);
    }
    for (uint32_t i = 0; b->plugin->device_supports && i < b->plugin->kernel_count; i++) {
        slot_begin(&s, b, "device_supports");
        (void)b->plugin->device_supports(b->device, i);
        slot_end(&s, COLLET_OK, 0);
    }
}

/* Makes calls in a thread whose state a plugin does not expect; slot_end checks after every call
 * that it is unchanged. */
static void unusual(testbed *b, int number, void *user)
{
    sigset_t signals;
    (void)number;
    (void)user;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigaddset(&signals, SIGWINCH);
    pthread_sigmask(SIG_SETMASK, &signals, NULL);
    /* libcore sets the floating-point state, but other callers may not. With the layer validation the state is not
     * changed, because the layer would report the change as an error of libcore. */
    if (!target_has_layers(b->target))
        floating_unusual();
    testbed_open(b);
    testbed_scenario(b);
    call_others(b);
    testbed_scenario(b);
    testbed_close(b);
}

static void state(testbed *b)
{
    char before[128];
    snprintf(before, sizeof before, "%s", setlocale(LC_ALL, NULL));
    if (!setlocale(LC_ALL, "C.UTF-8") && !setlocale(LC_ALL, "en_US.UTF-8"))
        (void)setlocale(LC_ALL, "");
    testbed_threads(b, 1, unusual, NULL);
    (void)setlocale(LC_ALL, before);
}

static void load(testbed *b)
{
    testbed_require(b, !b->target->loaded[0], "while the plugin was loaded: %s", b->target->loaded);
}

static void nothing(int number)
{
    (void)number;
}

static void handler(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

/* Sets a state that no plugin would choose, so that device_open cannot hide a change by setting the
 * state that an earlier device_open had set. */
static void process_mark(const kit_process *of)
{
    for (int i = 1; i < KIT_SIGNALS; i++)
        if (i != SIGKILL && i != SIGSTOP && i != SIGALRM)
            signal(i, i == SIGCHLD ? nothing : handler);
    kit_process marked = *of;
    for (size_t i = 0; i < KIT_LIMITS; i++) {
        rlim_t *l = &marked.limits[i].rlim_cur;
        /* Lowers large limits by a page: the address sanitizer of a worker's process needs a stack of whole pages. */
        *l = *l == RLIM_INFINITY ? (rlim_t)1 << 50 : *l - (*l > 1 << 20 ? 4096 : *l > 16);
    }
    kit_process_set_limits(&marked);
    umask(0037);
    if (chdir("/proc") != 0 && chdir("/tmp") != 0)
        return;
}

static void process_restore(const kit_process *to)
{
    for (int i = 1; i < KIT_SIGNALS; i++)
        sigaction(i, &to->actions[i], NULL);
    kit_process_set_limits(to);
    umask(to->mask);
    if (chdir(to->directory) != 0)
        return;
}

static void process(testbed *b)
{
    kit_process first, before, after;
    char text[KIT_TEXT];
    kit_process_take(&first);
    process_mark(&first);
    kit_process_take(&before);
    testbed_open(b);
    testbed_scenario(b);
    testbed_close(b);
    kit_process_take(&after);
    process_restore(&first);
    /* The layer validation handles SIGSEGV. */
    testbed_require(
        b, kit_process_same(&before, &after, target_has_layers(b->target) ? SIGSEGV : 0, text),
        "%s", text);
}

/* Numbers such as 1/3, whose sums differ when they are rounded upwards, and denormals. */
static double rounded(int i)
{
    return i % 4 == 3 ? 1e-40 : 1.0 / (3 + i % 97);
}

static void create_unusual(testbed *b, int number, void *user)
{
    (void)number;
    if (!target_has_layers(b->target))
        floating_unusual();
    testbed_open(b);
    *(collet_queue **)user = testbed_queue(b);
}

/* Calls a kernel that sums numbers. The kernel may change the state of the thread. */
static void sum_up(testbed *b, collet_queue *q, void *in, void *out, int64_t n)
{
    int32_t row = testbed_row(b, COLLET_OP_SUM, COLLET_SIG(b->dtype, b->dtype));
    testbed_operand sum[2] = {testbed_vector(b, out, 0, 1), testbed_vector(b, in, 0, n)};
    collet_reduce_params params = {.struct_size = sizeof params, .axes = 1};
    uint64_t bytes = 0;
    if (row < 0 || try_accepts(b, (uint32_t)row, sum, 2, 1, &params, &bytes) != COLLET_OK)
        return;
    void *scratch = bytes ? testbed_scratch(b, q, bytes) : NULL;
    (void)try_run(b, q, (uint32_t)row, sum, 2, 1, &params, scratch, bytes);
    testbed_settle(b, q);
    if (scratch)
        testbed_free(b, scratch);
}

void testbed_rounding(testbed *b, collet_queue *q, const char *what)
{
    enum { N = 4000 };
    float x[N], y[N], sum[N];
    if (b->add < 0 || b->dtype != COLLET_F32)
        return;
    for (int i = 0; i < N; i++) {
        x[i] = (float)rounded(i);
        y[i] = (float)rounded(i) * (i % 4 == 3 ? 1.0f : 0x1p-12f);
    }
    x[0] = INFINITY; /* inf - inf is an invalid operation, FLT_MAX + FLT_MAX overflows */
    y[0] = -INFINITY;
    x[1] = y[1] = FLT_MAX;
    void *a = testbed_alloc(b, sizeof x), *c = testbed_alloc(b, sizeof x),
         *out = testbed_alloc(b, sizeof x);
    testbed_write(b, q, a, 0, x, sizeof x);
    testbed_write(b, q, c, 0, y, sizeof y);
    testbed_operand add[3] = {testbed_vector(b, out, 0, N), testbed_vector(b, a, 0, N),
                              testbed_vector(b, c, 0, N)};
    testbed_require(b, try_run(b, q, (uint32_t)b->add, add, 3, 1, NULL, NULL, 0) == COLLET_OK,
                    "run of add failed");
    testbed_read(b, q, out, 0, sum, sizeof sum);
    for (int i = 0; i < 2; i++)
        testbed_require(b, !isfinite(sum[i]), "conduct: %g + %g is %g %s", (double)x[i],
                        (double)y[i], (double)sum[i], what);
    for (int i = 2; i < N; i++)
        testbed_require(b, sum[i] == x[i] + y[i],
                        "conduct: %a + %a is %a %s: threads of a plugin set their own "
                        "floating-point state, and kernels leave it as it is",
                        (double)x[i], (double)y[i], (double)sum[i], what);
    testbed_free_all(b, a, c, out);
}

/* Kernels in queues must not depend on the state of the thread that created the queue. */
static void floating(testbed *b)
{
    enum { N = 4000 };
    collet_queue *q = NULL;
    testbed_threads(b, 1, create_unusual, &q);
    if (b->dtype != COLLET_F32)
        testbed_skip(b, "the device has no kernel add of f32");
    void *in = testbed_numbers(b, q, N, 1), *out = testbed_numbers(b, q, 1, 0);
    sum_up(b, q, in, out, N);
    testbed_rounding(
        b, q,
        "where the thread that opened the device and made the queue rounds upwards and "
        "flushes denormals, and after sum");
    testbed_settle(b, q);
    testbed_free_all(b, in, out);
    testbed_destroy(b, q);
    testbed_close(b);
}

/* Signals that a program handles and that must not interrupt a plugin's threads. */
static const int asynchronous[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,  SIGUSR1, SIGUSR2,
                                   SIGALRM, SIGCHLD, SIGPIPE, SIGWINCH, SIGTSTP};

static unsigned long long blocked_by(const char *thread)
{
    char path[300], line[256];
    unsigned long long blocked = ~0ull;
    snprintf(path, sizeof path, "/proc/self/task/%s/status", thread);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "SigBlk: %llx", &blocked) == 1)
            break;
    if (f)
        fclose(f);
    return blocked; /* all bits if the thread has ended */
}

static void look_at_threads(testbed *b)
{
    char own[32];
    snprintf(own, sizeof own, "%ld", syscall(SYS_gettid));
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks)
        testbed_skip(b, "the system does not report threads");
    for (struct dirent *entry = readdir(tasks); entry; entry = readdir(tasks)) {
        if (entry->d_name[0] == '.' || !strcmp(entry->d_name, own))
            continue;
        unsigned long long blocked = blocked_by(entry->d_name);
        for (size_t i = 0; i < sizeof asynchronous / sizeof *asynchronous; i++)
            if (!(blocked >> (asynchronous[i] - 1) & 1)) {
                closedir(tasks);
                testbed_fail(
                    b,
                    "conduct: a thread of the plugin or of a library that it uses does not "
                    "block %s: block all signals while threads are created",
                    strsignal(asynchronous[i]));
            }
    }
    closedir(tasks);
}

static void signals(testbed *b)
{
    collet_queue *q = testbed_queue(b);
    testbed_scenario(b);
    look_at_threads(b);
    testbed_destroy(b, q);
}

const kit_verb verbs_conduct[] = {
    {"conduct.state", NEEDS_CLOSED, state},
    {"conduct.load", NEEDS_CLOSED, load},
    {"conduct.process", NEEDS_CLOSED, process},
    {"conduct.floating", NEEDS_ADD | NEEDS_QUEUES | NEEDS_CLOSED, floating},
    {"conduct.signals", 0, signals},
    {0},
};

/* SPDX-License-Identifier: Apache-2.0 */
/* The thread team of cpu_openmp on simulated machines of several NUMA nodes: the linker lets
 * functions of this file replace system functions that the team calls. */

#include "common/test.h"
#include "in_child.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "cpu_openmp/runtime/nodes.h"
#include "cpu_openmp/runtime/team.h"

#define THREADS 64

static pthread_t caller;

/* ---- A simulated machine --------------------------------------------------------------------- */

typedef struct machine {
    const char *nodes;    /* the system's list of the nodes that have processors */
    const char *lists[4]; /* processors of each node; NULL: there is no file */
    int usable;           /* processors with lower numbers are in the process's affinity */
    int here;             /* the processor of the caller */
} machine;

static machine pretended = {.usable = 64}; /* initially: the machine while the team is loaded */
static _Thread_local cpu_set_t bound; /* processors of this thread; empty: the processors of the process */
/* How often the caller moved a worker: to the caller's processor, away from it, and back to the worker's node. */
static int pulls, pushes, returns;
static bool workers_are_late; /* woken workers do not run */

/* The functions are exported, so that the linker also replaces them in libraries of a sanitizer's
 * build. */
#pragma GCC visibility push(default)
int __wrap_sched_getaffinity(pid_t thread, size_t size, cpu_set_t *set);
int __wrap_sched_setaffinity(pid_t thread, size_t size, const cpu_set_t *set);
int __wrap_sched_getcpu(void);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
#pragma GCC visibility pop

int __wrap_sched_getaffinity(pid_t thread, size_t size, cpu_set_t *set)
{
    *set = bound;
    for (int i = 0; i < pretended.usable && CPU_COUNT(&bound) == 0; i++)
        CPU_SET((size_t)i, set);
    return 0;
}

int __wrap_sched_setaffinity(pid_t thread, size_t size, const cpu_set_t *set)
{
    if (thread == 0)
        bound = *set;
    else if (CPU_COUNT(set) == pretended.usable)
        returns++;
    else if (CPU_ISSET((size_t)pretended.here, set))
        pulls += CPU_COUNT(set) == 1;
    else
        pushes += CPU_COUNT(set) == pretended.usable - 1;
    return 0;
}

int __wrap_sched_getcpu(void)
{
    return pthread_equal(pthread_self(), caller) ? pretended.here : -1;
}

long __wrap_syscall(long number, ...)
{
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    bool wakes = number == SYS_futex && ((int)a[1] & FUTEX_CMD_MASK) == FUTEX_WAKE_BITSET;
    return wakes && workers_are_late ? 1
                                     : __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void write_text(const char *name, const char *text)
{
    unlink(name);
    FILE *file = text ? fopen(name, "w") : NULL;
    if (file) {
        fprintf(file, "%s\n", text);
        fclose(file);
    }
}

/* Writes the files that describe the machine's nodes to NODES_DIRECTORY, where the team as built for
 * this test reads them. */
static void pretend(const machine *m)
{
    char name[64];
    pretended = *m;
    caller = pthread_self();
    mkdir(NODES_DIRECTORY, 0755);
    write_text(NODES_DIRECTORY "/has_cpu", m->nodes);
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, NODES_DIRECTORY "/node%d", i);
        mkdir(name, 0755);
        snprintf(name, sizeof name, NODES_DIRECTORY "/node%d/cpulist", i);
        write_text(name, m->lists[i]);
    }
}

static void find_nodes(nodes *n)
{
    cpu_set_t allowed;
    assert_int_equal(0, sched_getaffinity(0, sizeof allowed, &allowed));
    nodes_find(n, &allowed, NODES_DIRECTORY);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static const machine four_nodes = {"0-3", {"0-15", "16-31", "32-47", "48-63"}, 64, 0};

static void block_is(const nodes *n, int32_t thread, int32_t threads, int32_t first, int32_t end)
{
    nodes_block b;
    nodes_place(n, thread, threads, &b);
    assert_int_equal(first, b.first);
    assert_int_equal(end, b.end);
}

TEST(test_blocks_of_threads)
{
    static nodes n;
    nodes_block b;
    pretend(&four_nodes);
    find_nodes(&n);
    assert_int_equal(64, n.count);
    block_is(&n, 0, 64, 0, 16);
    block_is(&n, 47, 64, 32, 48);
    block_is(&n, 100, 192, 96, 144); /* more threads than processors */
    block_is(&n, 1, 2, 1, 2);        /* fewer than nodes */
    block_is(&n, 3, 7, 2, 4);
    nodes_place(&n, 20, 64, &b);
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        assert_int_equal(i >= 16 && i < 32, CPU_ISSET(i, &b.processors) != 0);

    /* Each core has two processors. The caller is in the second node, so thread 0 belongs to it. */
    pretend(&(machine){"0-1", {"0-3,8-11", "4-7,12-15"}, 16, 13});
    find_nodes(&n);
    block_is(&n, 0, 16, 0, 8);
    nodes_place(&n, 0, 16, &b);
    assert_true(CPU_ISSET(12, &b.processors) && !CPU_ISSET(8, &b.processors));
    nodes_place(&n, 15, 16, &b);
    assert_true(CPU_ISSET(11, &b.processors) && !CPU_ISSET(15, &b.processors));
}

/* Nodes of different sizes, nodes without processors, nodes outside the affinity, and no nodes. */
TEST(test_odd_nodes)
{
    static nodes n;
    pretend(&(machine){"0-1", {"0-3", "4-15"}, 16, 0});
    find_nodes(&n);
    block_is(&n, 0, 16, 0, 4);
    block_is(&n, 7, 8, 2, 8);
    block_is(&n, 63, 64, 16, 64);
    static const machine odd[] = {
        {"0,2", {"0-7", "", "8-15", ""}, 16, 0},
        {"0-3", {"0-7", "", "8-15", NULL}, 16, 0},
        {"0-1", {"0-7", "8-15"}, 9, 0},
        {"0-1", {"0-7", "8-15"}, 8, 0},
        {"0", {"0-15"}, 16, 0},
        {"", {"0-7", "8-15"}, 16, 0},
        {NULL, {"0-7", "8-15"}, 16, 0},
        {"0-1", {"-", "7-0"}, 16, 0},
        {"0-1", {"0-3", "4-4000000000"}, 16, 0},
        {"0-1", {"0-1023", "0-1023"}, 1024, 0},
    };
    static const int32_t processors[] = {16, 16, 9, 0, 0, 0, 0, 0, 16, 1024};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        pretend(&odd[i]);
        find_nodes(&n);
        assert_int_equal(processors[i], n.count);
    }
}

/* ---- Work ------------------------------------------------------------------------------------ */

#define PIECES 8 /* for each thread */
#define MOST 192 /* threads */

/* Which thread did which items, in which order, and to which processors the threads were bound. */
typedef struct diary {
    _Atomic int32_t count;
    int32_t threads;
    int32_t thread[MOST * PIECES];
    int32_t item[MOST * PIECES];
    cpu_set_t bound[MOST];
} diary;

/* Five of eight shares of the items (first, third, fifth, seventh, last) take long: threads help other
 * threads of their node, and then other nodes. */
static void note(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    diary *d = argument;
    for (int32_t item = (int32_t)begin; item < end; item++) {
        int32_t i = atomic_fetch_add(&d->count, 1);
        d->thread[i] = thread;
        d->item[i] = item;
    }
    d->bound[thread] = bound;
    int64_t share = begin * 8 / (d->threads * PIECES);
    doze(share % 2 == 0 || share == 7 ? 2 : 0);
}

static void run_noted(diary *d, int32_t threads)
{
    atomic_store(&d->count, 0);
    d->threads = threads;
    team_run(threads, threads * PIECES, 1, note, d);
}

static bool each_item_once(const diary *d)
{
    bool done[MOST * PIECES] = {false};
    for (int i = 0; i < d->count; i++) {
        if (done[d->item[i]])
            return false;
        done[d->item[i]] = true;
    }
    return d->count == d->threads * PIECES;
}

/* Whether each worker was bound to its node, and no thread did an item of its own node after an
 * item of another node. Adds to *helped the items of other nodes. */
static bool keeps_to_nodes(const diary *d, const nodes *n, int *helped)
{
    bool away[MOST] = {false};
    for (int i = 0; i < d->count; i++) {
        int thread = d->thread[i], item = d->item[i];
        nodes_block b;
        nodes_place(n, thread, d->threads, &b);
        bool foreign = item / PIECES < b.first || item / PIECES >= b.end;
        if ((away[thread] && !foreign) ||
            (thread > 0 && !CPU_EQUAL(&b.processors, &d->bound[thread])))
            return false;
        away[thread] = foreign;
        *helped += foreign;
    }
    return true;
}

/* Whether threads begin in their own node in most runs of a team that has grown to `threads`. On a
 * busy machine a worker that has not run since the previous run may begin in another node. */
static bool own_node_is_first(const nodes *n, int32_t threads)
{
    static diary d;
    int helped = 0, kept = 0;
    run_noted(&d, threads);
    for (int run = 0; run < 20; run++) {
        run_noted(&d, threads);
        if (!each_item_once(&d))
            return false;
        kept += keeps_to_nodes(&d, n, &helped);
    }
    return helped > 0 && kept > 10;
}

/* Tests with as many threads as processors, and with three times as many threads. Work has at most
 * JOB_PARTS parts, so in the second case several threads share a part. */
static bool right_on_four_nodes(void)
{
    static nodes n;
    pretend(&four_nodes);
    find_nodes(&n);
    return own_node_is_first(&n, THREADS) && own_node_is_first(&n, MOST);
}

static bool right_on_odd_nodes(void)
{
    static nodes n;
    pretend(&(machine){"0,2-3", {"0-20", "", "21-24", "25-63"}, 64, 22});
    find_nodes(&n);
    return own_node_is_first(&n, THREADS);
}

/* The first worker is in the third node and moves to the first. */
static bool right_in_a_team_that_grows(void)
{
    static nodes n;
    static diary d;
    pretend(&four_nodes);
    find_nodes(&n);
    for (int run = 0; run < 1000 && CPU_COUNT(&d.bound[1]) == 0; run++)
        run_noted(&d, 2);
    return CPU_ISSET(32, &d.bound[1]) && own_node_is_first(&n, THREADS);
}

/* No worker is bound. */
static bool unbound(const machine *m)
{
    static diary d;
    pretend(m);
    for (int run = 0; run < 20; run++) {
        run_noted(&d, THREADS);
        for (int i = 0; i < THREADS; i++) {
            if (CPU_COUNT(&d.bound[i]) > 0)
                return false;
        }
    }
    return d.count == THREADS * PIECES;
}

static bool unbound_on_one_node(void)
{
    return unbound(&(machine){"0-1", {"0-63", "64-127"}, 64, 0});
}

static bool unbound_by_the_user(void)
{
    setenv("OMP_PROC_BIND", "false", 1);
    return unbound(&four_nodes);
}

static _Atomic int32_t stuck;

/* One worker stays in its piece of work and sleeps. */
static void stay(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    if (thread > 0 && atomic_fetch_add(&stuck, 1) == 0)
        doze(20);
    else
        doze(1);
}

static bool pulled(void)
{
    pretend(&(machine){"0-1", {"0-63", "64-127"}, 64, 7});
    for (int run = 0; run < 100 && pulls == 0; run++) {
        atomic_store(&stuck, 0);
        team_run(2, 4, 1, stay, NULL);
    }
    return pulls > 0 && returns == pulls + pushes;
}

/* A caller that waits for a stuck worker moves the worker to the caller's processor. Later the worker
 * may leave that processor. */
TEST(test_a_stuck_worker_moves)
{
    assert_true(in_child(pulled));
}

static void do_nothing(void *argument, int32_t thread, int64_t begin, int64_t end)
{
}

static bool pushed(void)
{
    pretend(&(machine){"0-1", {"0-63", "64-127"}, 64, 7});
    workers_are_late = true;
    for (int run = 0; run < 1000 && pushes == 0; run++) {
        team_run(2, 4, 1, do_nothing, NULL);
        doze(1);
    }
    return pushes > 0 && returns == pulls + pushes;
}

/* A woken worker that did no work is moved away from the processor of the caller, and may return. */
TEST(test_a_late_worker_moves)
{
    assert_true(in_child(pushed));
}

TEST(test_work_on_nodes)
{
    assert_true(in_child(right_on_four_nodes));
    assert_true(in_child(right_on_odd_nodes));
    assert_true(in_child(right_in_a_team_that_grows));
    assert_true(in_child(unbound_on_one_node));
    assert_true(in_child(unbound_by_the_user));
}

static int enter_directory(void **state)
{
    char directory[] = "/tmp/collet-nodes-XXXXXX";
    *state = mkdtemp(directory) ? strdup(directory) : NULL;
    return *state ? chdir(*state) : -1;
}

static int leave_directory(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r '%s'", (char *)*state);
    free(*state);
    return system(command);
}

TEST_GROUP(enter_directory, leave_directory)

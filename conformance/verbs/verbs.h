/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.h - checks of a plugin's slots (memory, queues, devices). The checks call the plugin's table directly, in
 * ways in which libcore may call it. Each topic has a file; run.c lists the checks.
 *
 * A check is a function of a testbed, which has a fresh device. Helpers check the rules for every
 * call: the slot may return this status, an error has a text, and the process state is unchanged. A
 * failure ends the check: on the main thread by a jump, on others by pthread_exit.
 */
#pragma once

#include <pthread.h>
#include <setjmp.h>

#include <collet/extensions.h>

#include "kit.h"

/* ---- The plugin (target.c) ----------------------------------------------------------------- */

#define VERB_SETTINGS 2

struct kit_target {
    collet_host host; /* the first member: host slots find the target by its address */
    const collet_runtime *runtime;
    const collet_plugin *plugin;
    const char *named; /* as in kit_target_open */
    uint32_t device_count;
    struct {
        char key[COLLET_MAX_NAME * 2], value[32];
    } settings[VERB_SETTINGS]; /* settings of the present check; "": none */
    const char *begin, *end;   /* range of the plugin's code and data */
    pthread_mutex_t lock;
    char logged[KIT_TEXT]; /* the first error of this check */
    char loaded[KIT_TEXT]; /* the state that loading the plugin changed */
    int64_t elements;      /* size of slow work on device `measured`; 0: not measured */
    int chain;             /* as in testbed */
    uint32_t measured;
};

/* The argument `name` of device_open for a device. */
const char *target_device_name(const kit_target *t, uint32_t device);
bool target_has_layers(const kit_target *t); /* 1: layers are over the plugin */
/* Sets NAME.word for devices that are opened from now on. False: the plugin has no such setting. */
bool target_set(kit_target *t, const char *word, const char *value);

/* ---- Allocations (allocation.c) ------------------------------------------------------------ */

/* Watches the calls of malloc, similar functions and pthread_create by code at [begin, end). */
bool allocation_watched(void); /* false: this build cannot watch them */
void allocation_watch(const char *begin, const char *end);
int64_t allocation_live(void); /* number of blocks not freed */
/* Makes call number n, counted from now and from 0, fail; -1: no call fails. */
void allocation_fail(int64_t n);
bool allocation_has_failed(void);
void thread_creation_fail(bool fails);

/* ---- The testbed (testbed.c) --------------------------------------------------------------- */

/* Memory of the arguments of a finished call; each byte is KEPT. */
#define KEPT 0x6b
typedef struct kept_block {
    void *bytes;
    size_t size;
} kept_block;

typedef struct testbed {
    kit_target *target;
    const collet_plugin *plugin;
    const kit_session *session;
    uint32_t index;
    collet_device *device; /* NULL: closed */
    bool own_memory, has_queues, one_thread;
    uint32_t max_queues; /* at least 1 */
    bool entered;        /* the check has begun */
    bool patient;        /* arguments of `run` are overwritten only when the work is done */
    int64_t elements;    /* number of elements of an operand of slow work */
    int chain;           /* additions that take so long that the host sees them pending; >= CHAIN */
    int32_t add;         /* number of the row of add; -1: none */
    collet_dtype dtype;
    int64_t size; /* bytes of an element of add */

    pthread_t main;
    jmp_buf escape;
    pthread_mutex_t *lock;   /* guards the members below */
    pthread_mutex_t *serial; /* held in each call if only one thread at a time may use the device */
    kit_verdict *verdict;
    bool skipped;
    kept_block kept[256];
    size_t kept_at;
} testbed;

void testbed_fail(testbed *b, const char *format, ...) COLLET_PRINTF(2, 3)
    __attribute__((noreturn));
void testbed_skip(testbed *b, const char *format, ...) COLLET_PRINTF(2, 3)
    __attribute__((noreturn));
void testbed_check(testbed *b); /* on the main thread, after the other threads: ends the check if a thread failed */

#define testbed_require(b, condition, ...) ((condition) ? (void)0 : testbed_fail(b, __VA_ARGS__))

/* A call of a slot has three steps: slot_begin, the call with &s.err, slot_end. */
typedef struct slot_call {
    testbed *b;
    const char *slot;
    kit_conduct before;
    collet_error err;
} slot_call;
void slot_begin(slot_call *s, testbed *b, const char *slot);
/* `allowed`: CONTRACT_... Returns `status`. */
collet_status slot_end(slot_call *s, collet_status status, uint32_t allowed);

void testbed_logged(testbed *b, const char *slot); /* ends the check if an error was logged */

/* Each function returns the status of the call; the device or queue is NULL if there is none. */
collet_status try_open(testbed *b, uint32_t index, collet_device **device);
collet_status try_alloc(testbed *b, uint64_t bytes, void **buffer);
collet_status try_queue(testbed *b, collet_queue **queue);
collet_status try_write(testbed *b, collet_queue *q, void *buffer, uint64_t offset,
                        const void *source, uint64_t bytes);
collet_status try_read(testbed *b, collet_queue *q, void *buffer, uint64_t offset, void *target,
                       uint64_t bytes);
collet_status try_wait(testbed *b, collet_queue *q, uint64_t value, int64_t nanoseconds);
collet_status try_after(testbed *b, collet_queue *q, collet_queue *other, uint64_t value);

/* These functions make the same calls, but a failure ends the check. */
void testbed_open(testbed *b);
void testbed_close(testbed *b);
void *testbed_alloc(testbed *b, uint64_t bytes);
void testbed_free(testbed *b, void *buffer);
/* testbed_free_all(b, x, y, ...) frees several. */
#define testbed_free_all(b, ...)                                                                   \
    testbed_free_each(b, (void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
void testbed_free_each(testbed *b, void *const *buffers, size_t count);
collet_queue *testbed_queue(testbed *b);
void testbed_destroy(testbed *b, collet_queue *q);
/* Writes from memory that is overwritten as soon as the slot has returned. */
void testbed_write(testbed *b, collet_queue *q, void *buffer, uint64_t offset, const void *source,
                   uint64_t bytes);
void testbed_read(testbed *b, collet_queue *q, void *buffer, uint64_t offset, void *target,
                  uint64_t bytes);
uint64_t testbed_mark(testbed *b, collet_queue *q);
void testbed_wait(testbed *b, collet_queue *q, uint64_t value);
void testbed_after(testbed *b, collet_queue *q, collet_queue *other, uint64_t value);
/* Waits with a limit: OK or NOT_READY. Ends the check if NOT_READY comes before the limit. */
collet_status testbed_poll(testbed *b, collet_queue *q, uint64_t value, int64_t nanoseconds);
void testbed_settle(testbed *b, collet_queue *q);            /* waits for all work of the queue */
const void *testbed_extension(testbed *b, const char *name); /* NULL: not offered */
bool testbed_statistics(testbed *b, collet_memory_stats *stats); /* false: the device has none */
void testbed_reset_peak(testbed *b);
bool testbed_failed(testbed *b);
int64_t testbed_now(void); /* nanoseconds of a monotonic clock */

/* collet.timing/1. */
const collet_timing_extension *
testbed_timing(testbed *b); /* NULL: the device has no queues, or does not offer the extension */
collet_status try_stamp(testbed *b, collet_queue *q, collet_stamp **stamp);
int64_t testbed_elapsed(testbed *b, collet_stamp *first, collet_stamp *last);
void testbed_release(testbed *b, collet_stamp *stamp);

/* Takes ownership of a block of arguments after its call. */
void arguments_keep(testbed *b, void *block, size_t size);
bool arguments_free(testbed *b); /* false: a block was written after its call */
/* Makes a testbed for another device, which shares the lock and the verdict. It keeps no
 * arguments. */
testbed testbed_beside(const testbed *b);
void testbed_end(testbed *b); /* closes its device */

/* ---- Calls of kernels (arguments.c) ------------------------------------------------------- */

typedef struct testbed_operand {
    void *buffer;
    uint64_t offset; /* bytes */
    collet_dtype dtype;
    int32_t ndim;
    int64_t shape[COLLET_MAX_DIMS], strides[COLLET_MAX_DIMS];
} testbed_operand;

bool row_asks(const testbed *b, uint32_t row);                    /* 1: it may ask for scratch */
/* 1: the first row of its op; a run with --signatures 1 has compiled its kernels */
bool row_is_first(const testbed *b, uint32_t row);
int32_t testbed_row(const testbed *b, uint32_t op, uint64_t sig); /* -1: the device has none */
/* Calls a row with the workspace `scratch`. All memory that the call points to is overwritten after
 * `run` has returned. */
collet_status try_run(testbed *b, collet_queue *q, uint32_t row, const testbed_operand *operands,
                      uint32_t count, uint32_t n_out, const void *params, void *scratch,
                      uint64_t scratch_bytes);
/* The scratch that a row requests for a call. */
collet_status try_accepts(testbed *b, uint32_t row, const testbed_operand *operands, uint32_t count,
                          uint32_t n_out, const void *params, uint64_t *bytes);

/* ---- Work (work.c) ------------------------------------------------------------------------- */

/* An operand of `n` elements, of the dtype of add, from element `at` of a buffer on. */
testbed_operand testbed_vector(const testbed *b, void *buffer, int64_t at, int64_t n);

/* Creates a buffer of `n` equal numbers. */
void *testbed_numbers(testbed *b, collet_queue *q, int64_t n, double value);
/* Enqueues x = x + one on n elements, `count` times; `one` has one element. */
void testbed_chain(testbed *b, collet_queue *q, void *x, void *one, int64_t n, int count);
/* Checks that all n elements of the buffer are `value`. */
void testbed_expect(testbed *b, collet_queue *q, void *buffer, int64_t n, double value,
                    const char *what);
/* Chooses b->elements so that CHAIN additions take a while. On the fastest devices CHAIN additions
 * are too short; b->chain additions take a while on every device. */
#define CHAIN 16
void testbed_slow(testbed *b);

/* testbed_scratch makes a workspace filled with garbage. testbed_scratch_check frees it, and ends
 * the check if the row wrote beyond its end. */
void *testbed_scratch(testbed *b, collet_queue *q, uint64_t bytes);
void testbed_scratch_check(testbed *b, collet_queue *q, void *scratch, uint64_t bytes,
                           const kit_row *row);

/* Runs `body` on `count` threads, with the numbers 0..count-1, and ends the check if one failed. */
void testbed_threads(testbed *b, int count, void (*body)(testbed *b, int number, void *user),
                     void *user);
/* Skips the check on a device that supports fewer than `count` queues. */
void testbed_need_queues(testbed *b, uint32_t count);
/* Creates `count` queues, or as many as the device supports; returns their number. */
int testbed_queues(testbed *b, collet_queue **queues, int count);

/* Uses each feature of the device: transfers, kernels, queues, marks and waits; the results are
 * checked. */
void testbed_scenario(testbed *b);

/* Calls `body` often; memory that it allocates and keeps in each round is a leak (leaks.c). */
void testbed_repeat(testbed *b, int times, void (*body)(testbed *b), const char *what);

/* ---- Conduct (conduct.c) --------------------------------------------------------------------- */

/* Ends the check unless add of f32, if the device has it, rounds to nearest, keeps denormals and
 * does not trap; `what` follows "x + y is z" in messages. */
void testbed_rounding(testbed *b, collet_queue *q, const char *what);

/* ---- Rows (rows.c) -------------------------------------------------------------------------- */

/* Operand k as libcore passes it to a kernel: with the "..." axes of output 0. */
testbed_operand testbed_operand_of(const kit_case *c, uint32_t k, void *buffer);

/* Call some rows, or only their `accepts`, beginning with rows that may request a workspace. */
void testbed_rows(testbed *b);
void testbed_ask_rows(testbed *b);

/* Calls kernels with operands whose rows of elements are spread over the whole buffer, forwards and backwards. */
void testbed_far_rows(testbed *b, void *buffer, uint64_t bytes);

/* ---- The checks ---------------------------------------------------------------------------- */

/* The features of the device that a check needs. */
#define NEEDS_MEMORY 1u
#define NEEDS_QUEUES 2u
#define NEEDS_ADD 4u
#define NEEDS_CLOSED 8u /* the device is closed: the check opens it */

struct kit_verb {
    const char *name; /* NULL: end of the list */
    uint32_t needs;
    void (*check)(testbed *b);
};

extern const kit_verb verbs_device[], verbs_order[], verbs_wait[], verbs_queues[], verbs_memory[],
    verbs_large[], verbs_calls[], verbs_conduct[], verbs_leaks[], verbs_short[], verbs_failure[],
    verbs_extensions[], verbs_own[], verbs_rows[], verbs_timing[], verbs_limits[];

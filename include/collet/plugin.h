/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/plugin.h - the interface for backends. The only header a plugin needs, unless it offers
 * extensions (collet/extensions.h).
 *
 * A backend is one shared object that exports one symbol, `collet_plugin_entry`, and carries a JSON
 * manifest in an ELF note. libcore reads the manifest from the file, probes the plugin in a child
 * process, and only then opens it; see core/DESIGN.md. plugins/README.md shows how to write one.
 *
 * Versioning. Both tables, `collet_host` and `collet_plugin`, begin with {abi, struct_size} in
 * every version. A minor version appends fields and slots; a major version may change anything. libcore
 * and the plugin read a field of each other's table only after checking that struct_size covers it.
 * Arrays of structs are passed with a count and an element size.
 *
 * Slots. The comment of each function that a plugin supplies begins with a tag, [when; threads]:
 *   required     never NULL
 *   optional     may be NULL; the comment states what libcore does then
 *   memory       required by a device with COLLET_MEMORY_OWN, not called for others
 *   queue        required by a device with COLLET_ORDER_QUEUES, not called for others
 *   any thread   on any thread, also while other calls for the device are in progress
 *   one a queue  on any thread; two calls with this tag for the same `queue` are never in progress at
 *                once (with `queue` NULL they may be)
 *   last         on any thread; the last call for the object, with no other in progress
 * libcore never writes a buffer while another call uses it, and never frees a buffer while a call or a command uses it.
 * Other uses of a buffer may overlap: several queues may read it at once. A device with COLLET_THREADS_ONE gets one
 * call at a time. A slot does not block unless its comment says so; `run`, buffer_write and queue_after may also block
 * while a queue has no room for the command. For a device with COLLET_ORDER_SYNCHRONOUS every `queue` is NULL.
 *
 * Errors. A slot returns only OK and the statuses that its comment lists. NO_MEMORY means too little memory of the
 * host; REFUSED means too little memory of the device. After a failure nothing has changed unless the comment states
 * otherwise, and the call may be repeated; libcore does not read what *out parameters hold. DEVICE_LOST: the device
 * will do no more work, and later calls return DEVICE_LOST too; libcore still frees its objects.
 *
 * Floating point. libcore calls every slot, row and extension, and the entry, in the state of
 * collet/floating.h: round to nearest, subnormal numbers kept, no traps. So kernels may rely on it, also
 * for values that they cache.
 *
 * Conduct. A plugin never aborts, exits or prints, and leaves as it found them: MXCSR/FPCR, locale,
 * signal mask, the current CUDA context and the host's thread counts, and the process's working
 * directory, umask, environment, signal actions and resource limits. Its threads, and the threads
 * of libraries that it opens, block all signals except the signals of faults (SIGSEGV, SIGBUS, SIGFPE, SIGILL). Its
 * own threads also set their floating-point state, because a new thread inherits mask and state from the thread that
 * created it. Messages go through `host->fail` and
 * `host->log`.
 */
#ifndef COLLET_PLUGIN_H
#define COLLET_PLUGIN_H

#include <collet/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COLLET_ABI_MAJOR 2
#define COLLET_ABI_MINOR 0
/* Without a cast, so that programs that translate headers can compute it. */
#define COLLET_ABI (COLLET_ABI_MAJOR * 65536u + COLLET_ABI_MINOR)

/* ---- Kernels ----------------------------------------------------------------------------- */

/* A plugin's own op k (index into `collet_plugin.ops`) in its kernel rows: 2^31 + k. */
#define COLLET_OWN_OP(k) (0x80000000u | (uint32_t)(k))

/*
 * A kernel signature has five bits for the dtype of each operand, outputs first. Operand 0 has the lowest bits: the
 * signature is the sum of dtype << (5 * i) over the operands i. COLLET_SIG(COLLET_F64, COLLET_F32, COLLET_F32) is f64
 * <- f32, f32: 4 + (3 << 5) + (3 << 10) = 3172.
 */
#define COLLET_SIG_BITS 5
#define COLLET_SIG_AT(operand, dtype) ((uint64_t)(dtype) << ((operand)*COLLET_SIG_BITS))
#define COLLET_SIG_12(a, b, c, d, e, f, g, h, i, j, k, l, ...)                                     \
    (COLLET_SIG_AT(0, a) | COLLET_SIG_AT(1, b) | COLLET_SIG_AT(2, c) | COLLET_SIG_AT(3, d) |       \
     COLLET_SIG_AT(4, e) | COLLET_SIG_AT(5, f) | COLLET_SIG_AT(6, g) | COLLET_SIG_AT(7, h) |       \
     COLLET_SIG_AT(8, i) | COLLET_SIG_AT(9, j) | COLLET_SIG_AT(10, k) | COLLET_SIG_AT(11, l))
#define COLLET_SIG(...) COLLET_SIG_12(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

/* Opaque to libcore; a plugin defines them for itself. */
typedef struct collet_device collet_device;
typedef struct collet_queue collet_queue;
typedef struct collet_buffer collet_buffer;

/*
 * One operand of a call: a strided view of a buffer.
 *
 * buffer       Device memory from buffer_alloc; for a device with COLLET_MEMORY_HOST, the host
 *              address of the storage's first byte. NULL when the operand is absent.
 * byte_offset  The offset of the first element from the buffer's start; a multiple of the element's
 *              size.
 * shape        ndim extents, all >= 0. Valid during the call, as are `strides`.
 * strides      ndim strides in elements; may be zero (inputs only) or negative. The stride of an
 *              axis of one element is the extent times the stride of the next axis (1 for the last
 *              axis), or 0 where the axis was added or broadcast. All strides of an operand without
 *              elements are 0. So a stride times its extent and the size of an element does not
 *              overflow.
 *
 * libcore prepares operands before a kernel gets them. Inputs are broadcast: the axes that "..."
 * matched have the output's extents, and stride 0 where they were repeated. If every operand's
 * pattern is "..." alone, and in `evaluate` without a reduction, axes are merged as far as all
 * operands allow; contiguous operands then arrive with one axis, and ndim is at least 1. Before that,
 * the axes of functions of elementwise.def and of `evaluate` without a reduction are sorted by the
 * strides of output 0, the largest first. The axes of `evaluate` with a reduction (except argmin and
 * argmax) are in the order of the inputs in memory, if the inputs agree on it.
 */
typedef struct collet_operand {
    void *buffer;
    uint64_t byte_offset;
    collet_dtype dtype; /* COLLET_DTYPE_NONE when absent */
    int32_t ndim;
    const int64_t *shape;
    const int64_t *strides;
} collet_operand;

/*
 * A call, validated by libcore: number of operands, dtypes, shapes and parameters fit the op.
 * Everything it points to is valid until `run` returns; an asynchronous kernel copies what it
 * needs. `operands` holds the outputs first; an operand has `operand_size` bytes, which may differ
 * from sizeof(collet_operand).
 */
typedef struct collet_kernel_call {
    uint32_t struct_size;
    uint32_t op;
    uint64_t sig;
    uint32_t n_out;
    uint32_t n_in;
    uint32_t operand_size;
    uint32_t params_size; /* bytes at params, 0 when the op has none */
    const collet_operand *operands;
    const void *params; /* the op's parameter block (types.h), or NULL */
    void *workspace;    /* scratch of workspace_bytes, 64-byte aligned: buffer or host address */
    uint64_t workspace_bytes; /* what `accepts` asked for */
    collet_error *err;        /* where host->fail puts the text; never NULL */
} collet_kernel_call;

/* COLLET_PARAMS_SIZE_<NAME>: bytes of the op's parameter block, 0: it has none. */
#define COLLET_PARAMS(type) COLLET_SIZE_##type = sizeof(type),
COLLET_ENUM(uint32_t){
    COLLET_SIZE_void = 0,
#include <collet/ops.def>
};
#define COLLET_OP(NAME, id, name, family, operands, rule, sigs, params, ...)                       \
    COLLET_PARAMS_SIZE_##NAME = COLLET_SIZE_##params,
COLLET_ENUM(uint32_t){
#include <collet/ops.def>
};

/*
 * One kernel for one signature.
 *
 * run        [required; one a queue] Enqueue (or do) the work in `queue`'s order.
 *            COLLET_OK. COLLET_REFUSED: nothing enqueued, outputs untouched; libcore may try
 *            elsewhere (`accepts` refuses what can be known beforehand). COLLET_FAILED: outputs are
 *            undefined. COLLET_DEVICE_LOST. No other status.
 *
 * accepts    [optional; any thread] NULL: the row accepts every call and needs no scratch. Called before any byte is
 *            copied: in *call the operands' buffers are NULL, and workspace is not set. COLLET_OK with the bytes of
 *            scratch in *workspace_bytes, which is 0 before; libcore supplies them and keeps them until the queue has
 *            completed the call. COLLET_REFUSED with a text: libcore may try elsewhere. COLLET_DEVICE_LOST. Equal calls
 *            get the same answer, so the answer may be remembered.
 *
 * params_size is the size of the op's parameter block when the row was compiled; 0 if the op has none. A call with a
 * nonzero parameter byte beyond params_size does not reach the row: libcore treats the call as refused. A row with
 * flags or reserved bytes that are not 0 is left out and reported.
 */
typedef struct collet_kernel_row {
    uint32_t op;    /* COLLET_OP_* or COLLET_OWN_OP(k) */
    uint32_t flags; /* 0; none is defined */
    uint64_t sig; /* 0 for an op that takes any dtypes ("?" in ops.def) */
    uint32_t params_size;
    uint32_t reserved; /* 0 */
    collet_status (*run)(collet_device *device, collet_queue *queue,
                         const collet_kernel_call *call);
    collet_status (*accepts)(collet_device *device, const collet_kernel_call *call,
                             uint64_t *workspace_bytes);
} collet_kernel_row;

/* The row of COLLET_OP_<OP>: its id, 0, the signature, the size of its parameter block, 0, the
 * functions. */
#define COLLET_ROW(OP, sig, run, accepts)                                                          \
    {                                                                                              \
        COLLET_OP_##OP, 0, sig, COLLET_PARAMS_SIZE_##OP, 0, run, accepts                           \
    }

/*
 * An op of the plugin's own. `name` is "vendor.op". `shapes` are the operands and `sigs` the dtypes
 * as ops.def writes them, without "*" axes; names of operands may be left out. libcore leaves out a
 * signature with a letter that it does not know. If the plugin has a newer minor version, libcore
 * also leaves out an op whose definition it does not understand, with its rows. Everything that the
 * definition points to lives as long as the plugin.
 *
 * An op may grow. If several plugins define the same name, one definition must extend the other:
 * equal `shapes` and `alias`; every signature of the other; all fields of the other in the same
 * order with equal name, choices, kind, dtype, offset and size, and further fields only after the params_size of the
 * other; a parameter block that is at least as long, and none if the other has none. Meanings and defaults are not
 * compared. The longer definition is used. If neither extends the other, the definition of the plugin that was opened
 * first is used; the op of the other plugin is left out with its rows, and this is reported.
 */
typedef struct collet_ops_definition {
    const char *name;
    const char *shapes;
    const char *sigs;
    uint32_t params_size; /* bytes of its parameter block, which begins with uint32_t struct_size; 0: none.
                             At most 256. */
    uint32_t alias;       /* 1: an output may be exactly an input, 0: never */

    const collet_ops_field *fields; /* fields of the parameter block, for bindings; NULL: not described */
    uint32_t field_count;
    uint32_t field_size; /* sizeof(collet_ops_field) */
} collet_ops_definition;

/* ---- The host, from libcore -------------------------------------------------------------- */

/* Lives until the last device opened with it is closed. Slots are callable on any thread. */
typedef struct collet_host collet_host;
struct collet_host {
    uint32_t abi;
    uint32_t struct_size;
    /* Sets err (may be NULL) to `status` and the text; returns `status`. */
    collet_status (*fail)(collet_error *err, collet_status status, const char *format, ...)
        COLLET_PRINTF(3, 4);
    /* One message, no newline, to the program's log callback. */
    void (*log)(const collet_host *host, int32_t level, const char *format, ...)
        COLLET_PRINTF(3, 4);
    /* CPU threads this process may use: min(affinity when the runtime was created (all places, if
     * OpenMP had bound the thread to one), cgroup quota now, COLLET_NUM_THREADS), >= 1.
     * Reads the quota anew each time, some 50 microseconds. */
    int32_t (*threads)(const collet_host *host);
    /* The value of a setting ("backend.word" that the backend's manifest declares, or one of
     * libcore's: backend-info --env) or NULL; valid as long as the host. The first of these decides:
     *   - the user's value; libcore has checked it and put it into the form of its type (see the manifest)
     *   - the member "word" of "choices" in this backend's capabilities, which the probe reported now or
     *     earlier: so a plugin need not repeat what its probe found out. For "backend.calibrated": what
     *     `backend-bench calibrate` has written for this backend
     *   - the declared default
     * In a probe only the settings of backends, isa, num_threads and measure have values. A plugin that
     * reads a backend's key without declaring it in the manifest is refused if this happens in the probe;
     * a later read is logged as an error. "in_probe" is NULL outside of a probe.
     *
     * "backend.safe_mode": NULL, "off", or the reason why the backend should avoid everything
     * optional, such as libraries that it opens: "the probe crashed in its capabilities (SIGILL)".
     * If the manifest declares this key (type "boolean"), a probe that dies is repeated with the key
     * set; if the second probe succeeds, the key keeps its value in the processes that use the
     * backend. The user may set it too. Capabilities should list what was avoided, and why. */
    const char *(*config)(const collet_host *host, const char *key);
    /* A table that begins with uint32_t struct_size, or NULL: libcore has no extension of that
     * name. extensions.h declares the extensions of this version. The table lives as long as the
     * host. */
    const void *(*extension)(const collet_host *host, const char *name);
    /* `fail` and `log` with a complete text: a % in the text has no special meaning. For languages whose
     * functions cannot pass variable arguments. */
    collet_status (*fail_text)(collet_error *err, collet_status status, const char *text);
    void (*log_text)(const collet_host *host, int32_t level, const char *text);
};

/* ---- Devices ----------------------------------------------------------------------------- */

/* collet_device_properties.order */
COLLET_ENUM(uint32_t){
    COLLET_ORDER_SYNCHRONOUS = 1, /* run returns when the work is done: no queues */
    COLLET_ORDER_QUEUES = 2,      /* run enqueues in a queue */
};

/* collet_device_properties.threads */
COLLET_ENUM(uint32_t){
    COLLET_THREADS_ANY = 1, /* several calls at a time, as the tags of the slots allow */
    /* libcore never has two calls of the device's slots and rows in progress, on any threads: a wait
     * delays every other call. */
    COLLET_THREADS_ONE = 2,
};

typedef struct collet_plugin collet_plugin;

/*
 * The properties of a device, which device_open reports. libcore sets struct_size and zeroes the
 * rest. A device with a property that is 0 or unknown, or without a slot that its properties
 * require, is refused with a text.
 *
 * memory      COLLET_MEMORY_HOST: works on host addresses, "memory" slots are not called.
 *             COLLET_MEMORY_OWN: requires the "memory" slots.
 * order       COLLET_ORDER_QUEUES requires the "queue" slots.
 * max_queues  libcore creates at most this number of queues at a time; 0: no limit. If there are more contexts than
 *             queues, contexts share queues, and the work of these contexts is done in one order. Ignored for
 *             ORDER_SYNCHRONOUS.
 */
typedef struct collet_device_properties {
    uint32_t struct_size;
    uint32_t memory;  /* COLLET_MEMORY_* (types.h) */
    uint32_t order;   /* COLLET_ORDER_* */
    uint32_t threads; /* COLLET_THREADS_* */
    uint32_t max_queues;
    uint32_t reserved; /* 0 */
} collet_device_properties;

/* ---- The plugin, for libcore ------------------------------------------------------------- */

/*
 * The vtable. The table and everything it points to are constant and live as long as the process.
 * Functions that return collet_status set err (never NULL) through host->fail on failure. `self` is
 * the table whose slot is called: it tells a layer over several backends which backend is meant.
 */
struct collet_plugin {
    uint32_t abi; /* COLLET_ABI as compiled */
    uint32_t struct_size;
    uint32_t flags; /* 0; none is defined */
    uint32_t kernel_count;
    uint32_t kernel_size; /* sizeof(collet_kernel_row) */
    uint32_t op_count;
    uint32_t op_size;    /* sizeof(collet_ops_definition) */
    uint32_t reserved;   /* 0 */
    const char *name;    /* as in the manifest */
    const char *version; /* the plugin's own */
    const collet_kernel_row *kernels;
    const collet_ops_definition *ops; /* NULL when op_count is 0 */

    /*
     * [required; any thread] Writes the capabilities as JSON, with its NUL, into json[0..capacity)
     * and its size, with the NUL, into *needed. If the text does not fit, the call succeeds, and
     * json may hold any part of the text. `json` may be NULL if capacity is 0. Creates no device
     * context.
     * The thread has the locale C during the call, so printf writes numbers as JSON requires. May block while a
     * driver starts. UNAVAILABLE, FAILED, NO_MEMORY.
     *   {"jit": bool, "parallel": bool, "gpu": bool, "device_count": n,
     *    "devices": [{"name": "...", ...}], "choices": {"word": "text", ...}, ...}
     * Members of a device that programs get as collet_device_info; each may be absent: "type":
     * "cpu", "gpu" or another; "vendor", "driver_version"; "memory_space": "host" or "own";
     * "asynchronous": bool; "memory_total", "memory_largest_buffer", "cache_bytes" (bytes),
     * "compute_units", "clock_mhz". `choices` may be absent: see host->config. backend-info shows
     * further members unchanged. In strings libcore replaces control characters, invisible
     * characters of Unicode (direction marks, zero width) and bytes that are not UTF-8. If device_count is 0, there is
     * a member "reason", and `devices` may be absent; "lasting": true then says that there will be no device until an
     * entry of the manifest's "depends" changes, and without it each process asks again. The last messages that a probe
     * logs become part of the reason if the probe dies: so log each step before you try it.
     */
    collet_status (*capabilities)(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err);

    /*
     * [required; any thread] Opens device `index` (0..device_count-1) and reports its properties.
     * `name` is NULL, unless the manifest has "named_devices" and the program chose "backend:text": then
     * `name` is "text", and `index` means nothing. *device belongs to libcore until device_close; a device
     * may be opened more than once at a time. May block.
     * UNAVAILABLE (also for another index or name), FAILED: libcore does not try the device again. NO_MEMORY.
     */
    collet_status (*device_open)(const collet_plugin *self, collet_device **device,
                                 collet_device_properties *properties, const collet_host *host,
                                 uint32_t index, const char *name, collet_error *err);
    /* [required; last] NULL does nothing. libcore has destroyed the device's queues and freed its buffers before. May
     * block. Frees everything of the device; the plugin may keep what all devices share. */
    void (*device_close)(collet_device *device);

    /* [optional; any thread] NULL: every row runs on every device. 1 when row `row` of the table
     * runs on this device, else 0; the same each time. */
    int32_t (*device_supports)(collet_device *device, uint32_t row);

    /* [memory; any thread] bytes > 0, any number; the memory begins at a multiple of 256 and holds
     * undefined bytes. REFUSED when memory of the device or of the host is short; the slot does not
     * wait for queues. libcore then frees buffers whose work it has waited for, trims, and asks
     * again. DEVICE_LOST.
     */
    collet_status (*buffer_alloc)(collet_device *device, collet_buffer **buffer, uint64_t bytes,
                                  collet_error *err);
    /* [memory; last] NULL does nothing. No command that is enqueued or in progress uses the buffer:
     * libcore frees the buffer when queue_wait has reported all these commands as over, or their
     * queues are destroyed. */
    void (*buffer_free)(collet_device *device, collet_buffer *buffer);
    /* [memory; one a queue] Host to device in queue order; `source` may be reused when the call
     * returns. bytes > 0, within the buffer; no alignment. May wait until the queue has room for
     * the bytes. REFUSED: nothing was enqueued. FAILED: the bytes are undefined, also if memory ran
     * out after a part was enqueued. DEVICE_LOST. */
    collet_status (*buffer_write)(collet_device *device, collet_queue *queue, collet_buffer *buffer,
                                  uint64_t offset, const void *source, uint64_t bytes,
                                  collet_error *err);
    /* [memory; one a queue] Device to host, after all that is enqueued in the queue; blocks until
     * `target` holds the bytes. bytes > 0, within the buffer; no alignment. REFUSED, FAILED (also
     * if the queue has failed), DEVICE_LOST: the target is undefined, but nothing is written to it
     * later. */
    collet_status (*buffer_read)(collet_device *device, collet_queue *queue, collet_buffer *buffer,
                                 uint64_t offset, void *target, uint64_t bytes, collet_error *err);
    /*
     * [queue; any thread] A queue is a timeline: it does its commands in the order in which they
     * were enqueued, and its counter grows as they are done. It belongs to libcore until
     * queue_destroy. The queues of a device work at the same time. NO_MEMORY, FAILED, DEVICE_LOST.
     */
    collet_status (*queue_create)(collet_device *device, collet_queue **queue, collet_error *err);
    /* [queue; last] NULL does nothing; waits for what is enqueued. Other queues may still be
     * waiting for it (queue_after). */
    void (*queue_destroy)(collet_device *device, collet_queue *queue);
    /* [queue; one a queue] The value that the counter will have when everything enqueued so far is
     * done; never less than before, also after a failure. Does not block; queue_wait reports what
     * goes wrong. */
    uint64_t (*queue_mark)(collet_device *device, collet_queue *queue);
    /*
     * [queue; any thread] Blocks until the counter is at least `value`, which is not above the last
     * mark, or until `nanoseconds` have passed. 0: does not wait; a negative number: no limit. Any
     * number of threads may wait, also while another thread enqueues in the queue.
     *   OK         what was enqueued up to `value` is done, without a failure
     *   NOT_READY  the time has passed; needs no text
     *   FAILED     the value is reached, but a command up to `value` failed; the text names the command. Every later
     *              wait for this value or a larger value returns FAILED too: a queue that failed stays failed.
     *              Commands after the failure are done in order or skipped, queue_after too; but no kernel or write
     *              that follows a skipped queue_after is done. libcore destroys the queue and creates a new queue.
     *   DEVICE_LOST  the device was lost; may be returned before the queue reaches the value
     */
    collet_status (*queue_wait)(collet_device *device, collet_queue *queue, uint64_t value,
                                int64_t nanoseconds, collet_error *err);
    /* [queue; one a queue] What is enqueued in `queue` from now on starts only when the counter of `other`, another
     * queue of this device, has reached `value`, which is not above the last mark of `other`; `other` may be destroyed
     * earlier. Does not wait for `other`. If commands of `other` fail, the commands of `queue` may fail or compute
     * from undefined bytes. REFUSED, FAILED: nothing was enqueued. DEVICE_LOST. */
    collet_status (*queue_after)(collet_device *device, collet_queue *queue, collet_queue *other,
                                 uint64_t value, collet_error *err);

    /* [optional; any thread] NULL: no extensions. The table of the extension `name` for this
     * device, or NULL: collet/extensions.h. The same each time. */
    const void *(*extension)(collet_device *device, const char *name);
};

/*
 * The one symbol. Called on any thread, possibly more than once and with different hosts; returns
 * the same table each time, or NULL when `host->abi` has another major version. Touches no device.
 */
typedef const collet_plugin *(*collet_plugin_entry_fn)(const collet_host *host);
COLLET_API const collet_plugin *collet_plugin_entry(const collet_host *host);

/* ---- Layers ------------------------------------------------------------------------------ */

/*
 * A layer is a shared object between libcore and the backends that checks or observes their calls.
 * It exports this symbol and has a manifest with `"layer": true`; libcore finds it in the same way
 * as plugins and opens it if the setting `layers` names it. If `layers` names several layers, the
 * first is the outermost.
 *
 * Returns the table that libcore uses in place of `below` (the table of a backend or of another layer): it has the
 * same name, own ops and rows. Its functions are the layer's, or functions of `below` where the layer changes
 * nothing. The objects that they return may be the layer's own: libcore passes them only to the functions of this
 * table. Any thread; touches no device; the same table each time for the same `below`. NULL, with *err set through
 * host->fail: libcore does not use the backend.
 */
typedef const collet_plugin *(*collet_layer_entry_fn)(const collet_host *host,
                                                      const collet_plugin *below,
                                                      collet_error *err);
COLLET_API const collet_plugin *collet_layer_entry(const collet_host *host,
                                                   const collet_plugin *below, collet_error *err);

/* ---- The manifest ------------------------------------------------------------------------ */

/*
 * JSON in an ELF note, owner "collet", read before any code of the plugin runs (`abi`: the lowest
 * version of the interface that the plugin needs; the major number must be libcore's, the minor
 * number at most libcore's):
 *   {"name": "cpu_scalar", "version": "0.1.0", "abi": [2, 0], "priority": 10,
 *    "features": {"jit": false, "parallel": false, "gpu": false},
 *    "description": "...", "kernels": ["add", ...]}
 * Under "auto" backends with a larger `priority` are tried first. `kernels` names every op that has
 * a row. Unknown members are ignored. Optional: "description"; "settings", below; "named_devices",
 * true if device_open also takes names of devices (see device_open): such a device is opened when a
 * program names it, never under "auto", and device_count may be 0; and "depends", a list of other
 * things on which the capabilities depend: environment variables ("X", or "X*" for a prefix) and
 * absolute paths. A cached report of a probe is used only while these are unchanged. A second note
 * names the sanitizer that the object was built with: such a plugin loads only into a program built
 * with the same sanitizer.
 *
 * A note lies in a section of type SHT_NOTE, for example .note.collet, that is loaded, so that the
 * object has it in a segment PT_NOTE; a file may have several in a row. Each note begins at a
 * multiple of 4 bytes and consists of, in the byte order of the machine:
 *   uint32  7: the number of bytes of the owner
 *   uint32  the number of bytes of the content, without the padding
 *   uint32  the type: 1 (COLLET_NOTE_MANIFEST) or 2 (COLLET_NOTE_SANITIZER)
 *   8 bytes "collet", NUL, and one byte of padding
 *   content the JSON, or "address", "thread", "memory" or "none", without a NUL
 *   padding 0 to 3 bytes, up to a multiple of 4
 * Without a note of type 2 the sanitizer is "none".
 *
 * "settings" declares the keys that the plugin reads (collet_host.config):
 *   [{"key": "example.memory", "type": "size", "help": "bytes that ..."}, ...]
 * Optional members are "default" and "values". "values" are words separated by blanks; each word is
 * a valid value too. Types, and their values as the plugin gets them:
 *   boolean                      "on" or "off"
 *   integer                      decimal digits, at most 2147483647
 *   size                         bytes in decimal digits; users may write 64K, 16M, 2G
 *   string, path, path list, list any text
 *   choice                       one of "values"
 *   words                        some of "values", separated by one blank
 *   probe                        any text, from "choices" of the capabilities; users cannot set it
 * A default is written in the form in which the plugin gets the value. If a configuration has a key of
 * this backend that is not declared, or a value that is not valid for its type, the creation of a
 * runtime fails; the text names the file and the line.
 *
 * The manifest of a layer has "layer": true, and no "priority", "features" and "kernels".
 *
 * COLLET_PLUGIN_MANIFEST("manifest.json") at file scope, once, embeds the file. If the macro
 * COLLET_MANIFEST_DIRECTORY is defined, a string, the file is in that directory; else the path is
 * relative to the directory in which the assembler runs. With link-time optimisation that is the
 * directory of the link: a build in another directory defines the macro as an absolute path.
 */
#define COLLET_NOTE_OWNER "collet"
COLLET_ENUM(uint32_t){
    COLLET_NOTE_MANIFEST = 1,
    COLLET_NOTE_SANITIZER = 2,
};

#if defined(__SANITIZE_ADDRESS__)
#define COLLET_SANITIZER "address"
#elif defined(__SANITIZE_THREAD__)
#define COLLET_SANITIZER "thread"
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COLLET_SANITIZER "address"
#elif __has_feature(thread_sanitizer)
#define COLLET_SANITIZER "thread"
#elif __has_feature(memory_sanitizer)
#define COLLET_SANITIZER "memory"
#endif
#endif
#ifndef COLLET_SANITIZER
#define COLLET_SANITIZER "none"
#endif

#define COLLET_NOTE_(type, content)                                                                \
    ".pushsection .note.collet,\"a\",%note\n"                                                      \
    ".balign 4\n"                                                                                  \
    ".long 892f-891f, 894f-893f, " type "\n"                                                       \
    "891: .asciz \"" COLLET_NOTE_OWNER "\"\n"                                                      \
    "892: .balign 4\n"                                                                             \
    "893: " content "\n"                                                                           \
    "894: .balign 4\n"                                                                             \
    ".popsection\n"

#ifdef COLLET_MANIFEST_DIRECTORY
#define COLLET_MANIFEST_PATH_(file) COLLET_MANIFEST_DIRECTORY "/" file
#else
#define COLLET_MANIFEST_PATH_(file) file
#endif

#define COLLET_PLUGIN_MANIFEST(file)                                                               \
    __asm__(COLLET_NOTE_("1", ".incbin \"" COLLET_MANIFEST_PATH_(file) "\"")                       \
                COLLET_NOTE_("2", ".ascii \"" COLLET_SANITIZER "\""))

#ifdef __cplusplus
}
#endif
#endif

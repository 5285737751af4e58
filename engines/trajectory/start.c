/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory.c, tests/engines/test_trajectory_devices.c */
#include "start.h"

#include "devices/devices.h"

#include <sched.h>
#include <stdio.h>

/* Default bytes of a batch: several batches fit into a last-level cache, and a batch is large enough
 * that starting kernels and waking the reading thread cost little. */
#define BATCH_BYTES ((int64_t)3 << 20)
#define BATCH_MOST 8192
/* With batches larger than this there are two slots, not three, to limit memory. */
#define HUGE_BATCH ((int64_t)32 << 20)
/* More than three slots are used only if all slots together have at most this many bytes. */
#define SLOTS_MOST ((int64_t)96 << 20)
/* Maximum number of bytes that all threads may need to decode frames. Each thread needs about DECODER_ATOM bytes for
 * each atom. */
#define DECODERS_MOST ((int64_t)64 << 20)
#define DECODER_ATOM 28
/* Bytes for each atom if a decoder also finds the selected atoms of each frame. */
#define CHOOSER_ATOM 128

/* ---- Start ------------------------------------------------------------------------------- */

/* Returns the number of CPUs that this process may use. */
static int64_t count_processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static int64_t min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Limits `bytes` to a quarter of the memory that the process may use. */
static int64_t within_memory(int64_t bytes)
{
    collet_memory_limit limit = {.struct_size = sizeof limit};
    collet_status status = collet_memory_limit_read(&limit, NULL);

    return status == COLLET_OK && limit.total ? min_i64(bytes, (int64_t)(limit.total / 4)) : bytes;
}

static int64_t count_threads(const collet_trajectory *x)
{
    int64_t threads = x->settings.threads > 0 ? x->settings.threads : count_processors();
    int32_t limit = collet_thread_limit();

    return limit > 0 ? min_i64(threads, limit) : threads;
}

/* Returns the number of threads for kernels. A single reading thread gets a CPU of its own, because a kernel's thread
 * that shared its CPU would delay the whole kernel. If several threads can decode the format, kernels get only a
 * quarter of the CPUs, because decoding takes most of the time. */
static int64_t kernel_threads(const collet_trajectory *x)
{
    int64_t all = count_threads(x);

    return max_i64(x->inputs.info->concurrent ? all / 4 : all - 1, 1);
}

/* Returns the number of reading threads: one more than the number of CPUs that kernels do not use. Not all threads work
 * at once: the caller's thread waits while kernels run, and kernels wait for frames. */
static int32_t reading_threads(const collet_trajectory *x)
{
    const trajectory_reader_info *info = x->inputs.info;
    int64_t atom = trajectory_choice_varies(x->inputs.choice) ? CHOOSER_ATOM : DECODER_ATOM;
    int64_t all = count_threads(x), most = within_memory(DECODERS_MOST) / atom / info->n_atoms;

    if (info->on_demand || all == 1)
        return 0;
    if (!info->concurrent)
        return 1;
    return (int32_t)min_i64(all - kernel_threads(x) + 1,
                            min_i64(max_i64(most, 1), TRAJECTORY_READAHEAD_THREADS));
}

static collet_status create_runtime(collet_trajectory *x, collet_error *err)
{
    char text[48];
    const char *settings[] = {text, NULL}, *defaults[] = {"log=info", NULL, NULL};
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .backend = x->settings.backend,
                                      .log = x->settings.log,
                                      .log_user = x->settings.log_user,
                                      .defaults = defaults};

    snprintf(text, sizeof text, "num_threads=%lld", (long long)kernel_threads(x));
    if (x->settings.threads > 0)
        options.settings = settings;
    else
        defaults[1] = text;
    return collet_runtime_create(&x->runtime, &options, err);
}

/* Opens the context that derives results from the devices' sums. This context is on the host, because the host cannot
 * be lost like a device. */
static collet_status open_host(collet_trajectory *x, collet_runtime *runtime, collet_error *err)
{
    char host[256];
    collet_status status = collet_context_create(runtime, &x->context, err);

    devices_of_host(runtime, host, sizeof host);
    if (status == COLLET_OK && collet_set_backend(x->context, host) != COLLET_OK)
        status = collet_fail(err, collet_last_status(x->context), "devices: %s",
                             collet_last_error(x->context));
    return status;
}

collet_status trajectory_start_context(collet_trajectory *x, collet_error *err)
{
    const trajectory_settings *s = &x->settings;
    int given = s->context != NULL || (s->devices != NULL && s->devices->contexts != NULL);
    collet_status status = given ? COLLET_OK : create_runtime(x, err);

    if (status == COLLET_OK && s->devices != NULL) {
        collet_runtime *runtime = s->context ? collet_context_runtime(s->context) : x->runtime;

        if (runtime == NULL) /* the devices' runtime is used */
            runtime = collet_context_runtime(s->devices->contexts[0]);
        status = devices_open(&x->devices, s->devices, runtime, err);
        return status == COLLET_OK ? open_host(x, runtime, err) : status;
    }
    x->context = s->context;
    return status == COLLET_OK && x->context == NULL
               ? collet_context_create(x->runtime, &x->context, err)
               : status;
}

static int64_t choose_batch(int64_t bytes_a_frame, int64_t rows_a_frame, int64_t rows)
{
    int64_t most = rows_a_frame > 1 ? TRAJECTORY_BLOCK_ROWS / rows_a_frame : BATCH_MOST;
    int64_t frames = min_i64(within_memory(BATCH_BYTES) / bytes_a_frame, min_i64(rows, most));

    return frames < 1 ? 1 : frames;
}

/* Returns the number of batches in memory: one batch that is computed, and enough other batches that each thread has
 * a frame to decode. With several devices there is one batch for each device. If batches are not too large, there are
 * more batches, so that fast devices need not wait for slow devices. */
static int32_t choose_slots(int32_t threads, int64_t devices, int64_t batch_frames,
                            int64_t bytes_a_frame)
{
    int64_t enough = min_i64(2 + 2 * threads / batch_frames, TRAJECTORY_READAHEAD_SLOTS);
    int64_t fit = within_memory(SLOTS_MOST) / (batch_frames * bytes_a_frame);

    if (devices > 0)
        return (int32_t)min_i64(max_i64(min_i64(4 * devices, fit), devices) +
                                    TRAJECTORY_LANES_AHEAD,
                                TRAJECTORY_READAHEAD_SLOTS);
    if (threads == 0)
        return 1;
    if (batch_frames > within_memory(HUGE_BATCH) / bytes_a_frame)
        return 2;
    return (int32_t)max_i64(min_i64(enough, fit), 3);
}

void trajectory_start_sizes(collet_trajectory *x, int64_t rows, int64_t rows_a_frame,
                            trajectory_readahead_options *reading)
{
    const trajectory_inputs *in = &x->inputs;
    int64_t bytes = (int64_t)trajectory_frames_bytes(in->n_atoms, in->info->dtype,
                                                     reading->velocities, reading->forces);

    if (trajectory_choice_varies(in->choice)) /* frames have masses */
        bytes += in->n_atoms * (int64_t)sizeof(double);
    if (reading->arranger) /* frames have places of the system, and centres and moves of bodies */
        bytes += (reading->arranger->n_system + 2 * reading->arranger->n_bodies) * 3 *
                 (int64_t)sizeof(double);
    x->batch_frames = x->settings.batch_frames > 0 ? x->settings.batch_frames
                                                   : choose_batch(bytes, rows_a_frame, rows);
    x->batch_bytes = (uint64_t)(bytes * x->batch_frames);
    reading->n_threads = reading_threads(x);
    reading->batch_frames = x->batch_frames;
    x->slots = reading->n_slots =
        choose_slots(reading->n_threads, x->devices.count, x->batch_frames, bytes);
}

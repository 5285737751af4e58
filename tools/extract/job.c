/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

#include "paths.h"

#include "common/interrupt.h"
#include "common/progress.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a batch under "auto": several batches fit into a last-level cache, and one is long
 * enough that starting kernels and waking the reading thread cost little. */
#define BATCH_BYTES ((int64_t)3 << 20)
#define BATCH_MOST 8192
/* From here on two batches have to do, so that huge systems stay within memory. */
#define HUGE_BATCH ((int64_t)32 << 20)

/* Frames on which the kernels without atoms run at once. */
#define BLOCK_FRAMES 1024

int64_t extract_job_batch(int64_t bytes_a_frame)
{
    int64_t frames = BATCH_BYTES / (bytes_a_frame > 0 ? bytes_a_frame : 1);

    return frames < 1 ? 1 : frames > BATCH_MOST ? BATCH_MOST : frames;
}

/* `threads` 0: as the user's settings say. */
static collet_status create_runtime(extract_job *job, int64_t threads, collet_error *err)
{
    char text[48];
    const char *settings[] = {text, NULL};
    collet_runtime_options options;

    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.backend = job->options->backend;
    snprintf(text, sizeof text, "num_threads=%lld", (long long)threads);
    if (threads > 0)
        options.settings = settings;
    return collet_runtime_create(&job->runtime, &options, err);
}

static int is_default(const collet_runtime *runtime, const char *key)
{
    for (size_t i = 0; i < collet_setting_count(runtime); i++) {
        collet_setting setting = {.struct_size = sizeof setting};

        if (collet_setting_at(runtime, i, &setting) == COLLET_OK && strcmp(setting.key, key) == 0)
            return strcmp(setting.source, "default") == 0;
    }
    return 0;
}

/* Processors that this process may use. */
static int64_t count_processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Unless somebody has decided otherwise, one processor is left to the thread that reads: kernels
 * that have to share it wait for their slowest part. Looking for plugins twice is cheap. */
static collet_status open_runtime(extract_job *job, collet_error *err)
{
    int64_t threads = job->options->threads, others = count_processors() - 1;
    collet_status status = create_runtime(job, threads, err);

    if (status == COLLET_OK && threads == 0 && others > 0 &&
        is_default(job->runtime, "num_threads")) {
        collet_runtime_destroy(job->runtime);
        job->runtime = NULL;
        status = create_runtime(job, others, err);
    }
    if (status == COLLET_OK)
        status = collet_context_create(&job->context, job->runtime, err);
    return status;
}

static collet_status open_results(extract_job *job, collet_error *err)
{
    const extract_options *options = job->options;
    int form = options->directory != NULL ? COLLET_RESULTS_DIRECTORY : COLLET_RESULTS_NPZ;
    collet_status status = collet_results_create(job->output, form, &job->results, err);

    for (size_t i = 0; i < extract_output_count; i++)
        job->columns[i] = -1;
    for (size_t i = 0; status == COLLET_OK && i < extract_output_count; i++) {
        const extract_output *output = &extract_outputs[i];
        int64_t shape[3];
        int32_t ndim = extract_output_shape(output, 0, shape);

        if ((output->needs & ~job->has) == 0)
            status = collet_results_add(job->results, output->key, COLLET_F64, ndim - 1, shape + 1,
                                        &job->columns[i], err);
    }
    return status;
}

/* Component `k` of each row, packed into job->component. */
static const double *pack(extract_job *job, int32_t k, int64_t width, int64_t n, const double *rows,
                          collet_error *err)
{
    if (n > job->component_rows) {
        double *grown = realloc(job->component, (size_t)n * sizeof *grown);

        if (grown == NULL) {
            collet_fail(err, COLLET_NO_MEMORY, "results: out of memory");
            return NULL;
        }
        job->component = grown;
        job->component_rows = n;
    }
    for (int64_t i = 0; i < n; i++)
        job->component[i] = rows[i * width + k];
    return job->component;
}

static collet_status emit(void *user, int32_t buffer, int64_t n, const double *rows,
                          collet_error *err)
{
    extract_job *job = user;

    for (size_t i = 0; i < extract_output_count; i++) {
        const extract_output *output = &extract_outputs[i];
        const double *part = rows;
        collet_status status;

        if (output->buffer != buffer || job->columns[i] < 0)
            continue;
        if (output->component >= 0)
            part = pack(job, output->component, extract_buffer_width(buffer), n, rows, err);
        if (part == NULL)
            return COLLET_NO_MEMORY;
        status = collet_results_append(job->results, job->columns[i], n, part, err);
        if (status != COLLET_OK)
            return status;
    }
    return COLLET_OK;
}

static void note_frames(extract_job *job, const collet_frames *frames)
{
    for (int64_t i = 0; i < frames->n_frames; i++) {
        if (job->n_frames == 0) {
            job->first_frame = frames->indices[i];
            job->first_time = frames->times[i];
        } else if (!(frames->times[i] > job->last_time)) {
            if (job->times_not_rising++ == 0)
                job->first_not_rising = frames->indices[i];
        }
        job->n_frames++;
        job->last_frame = frames->indices[i];
        job->last_time = frames->times[i];
    }
    job->end_offset = frames->end_offset;
}

/* What is done, counted in frames; 0 when the last one is not known. */
static double fraction(const extract_job *job)
{
    const extract_options *options = job->options;

    if (options->stop < 0)
        return 0;
    return (double)(job->last_frame + 1 - options->start) /
           (double)(options->stop - options->start);
}

static collet_status compute(extract_job *job, extract_feed *feed, extract_analysis *analysis,
                             collet_error *err)
{
    tool_progress progress;
    collet_status status;

    tool_progress_begin(&progress, "frames", job->inputs.info->file_size, job->options->quiet);
    for (;;) {
        const extract_batch *batch;

        status = extract_feed_next(feed, &batch, &job->truncated, err);
        if (batch == NULL)
            break;
        note_frames(job, batch->frames);
        status = extract_analysis_add(analysis, batch, err);
        if (status != COLLET_OK)
            break;
        if (tool_interrupt_signal() != 0) {
            status = collet_fail(err, COLLET_NOT_READY, "stopped after %lld frames",
                                 (long long)job->n_frames);
            break;
        }
        tool_progress_update(&progress, job->n_frames, job->end_offset, fraction(job));
    }
    tool_progress_end(&progress);
    if (status != COLLET_OK && job->truncated && job->n_frames > 0) {
        if (err != NULL)
            job->truncation = *err;
        status = COLLET_OK;
    }
    if (status == COLLET_OK && job->n_frames == 0)
        return collet_fail(err, COLLET_INVALID,
                           "no frame to compute: %s ends before frame %lld (--start)",
                           job->options->trajectory, (long long)job->options->start);
    return status == COLLET_OK ? extract_analysis_finish(analysis, err) : status;
}

static collet_status run(extract_job *job, collet_error *err)
{
    const extract_inputs *in = &job->inputs;
    int velocities = in->info->has_velocities, forces = in->info->has_forces;
    int64_t bytes = (int64_t)collet_frames_bytes(in->n_atoms, in->info->dtype, velocities, forces);
    collet_readahead_options reading = {0, 3, velocities, forces};
    extract_analysis_setup setup = {.n_atoms = in->n_atoms,
                                    .has = job->has,
                                    .masses = in->masses,
                                    .reference = in->reference,
                                    .axis = job->options->axis,
                                    .emit = emit,
                                    .user = job};
    extract_analysis *analysis = NULL;
    extract_feed *feed = NULL;
    collet_status status;

    job->batch_frames = job->options->batch > 0 ? job->options->batch : extract_job_batch(bytes);
    reading.batch_frames = job->batch_frames;
    if (job->batch_frames > HUGE_BATCH / bytes)
        reading.n_slots = 2;
    setup.block_frames = job->batch_frames > BLOCK_FRAMES ? job->batch_frames : BLOCK_FRAMES;
    status = extract_analysis_create(job->context, &setup, &analysis, err);
    if (status == COLLET_OK)
        status = extract_feed_start(job->context, in->trajectory, &reading, &feed, err);
    if (status == COLLET_OK)
        status = compute(job, feed, analysis, err);
    if (status == COLLET_OK)
        extract_analysis_get_notes(analysis, &job->notes);
    extract_feed_stop(feed);
    extract_analysis_free(analysis);
    return status;
}

collet_status extract_job_run(extract_job *job, const extract_options *options,
                              const extract_selection *selection, collet_error *err)
{
    double began = tool_clock(), computed;
    collet_status status;

    memset(job, 0, sizeof *job);
    job->options = options;
    status = extract_paths_output(options, &job->output, &job->meta, err);
    if (status == COLLET_OK)
        status = extract_inputs_open(&job->inputs, options, selection, err);
    if (status != COLLET_OK)
        return status;
    job->has = (job->inputs.info->has_velocities ? EXTRACT_VELOCITIES : 0) |
               (job->inputs.info->has_forces ? EXTRACT_FORCES : 0);
    status = open_results(job, err);
    if (status == COLLET_OK)
        status = open_runtime(job, err);
    if (status == COLLET_OK)
        status = run(job, err);
    computed = tool_clock();
    if (status == COLLET_OK)
        status = collet_results_finish(job->results, err);
    job->seconds = tool_clock() - began;
    job->finish_seconds = job->seconds - (computed - began);
    return status;
}

void extract_job_close(extract_job *job)
{
    collet_results_free(job->results);
    collet_context_destroy(job->context);
    collet_runtime_destroy(job->runtime);
    extract_inputs_close(&job->inputs);
    free(job->component);
    free(job->output);
    free(job->meta);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* collet-extract: rotational observables of every frame of a trajectory. */
#include "job.h"
#include "meta.h"
#include "io/textfile.h"

#include "common/interrupt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void complain(const collet_error *err)
{
    fprintf(stderr, "collet-extract: %s\n", err->text);
}

static void summarise(const extract_job *job)
{
    double seconds = job->seconds > 0 ? job->seconds : 1e-9;

    printf("%s: %lld frames of %lld atoms in %.2f s (%.0f frames/s, %.0f MB/s)\n", job->output,
           (long long)job->n_frames, (long long)job->inputs.n_atoms, job->seconds,
           (double)job->n_frames / seconds, (double)job->end_offset * 1e-6 / seconds);
    if (job->options->masses == NULL)
        printf("masses were guessed from the atoms' names: %.10g amu selected\n", job->inputs.mass);
}

/* Writes the meta file and says what was done. The results stand under their name already. */
static int report(const extract_job *job)
{
    collet_error err;
    char *text = NULL;
    collet_status status = extract_meta_format(job, &text, &err);
    int printed = 0;

    if (status == COLLET_OK)
        status = collet_textfile_write(job->meta, text, strlen(text), &err);
    if (status != COLLET_OK) {
        complain(&err);
        fprintf(stderr, "collet-extract: the results in %s are complete, but %s is missing\n",
                job->output, job->meta);
        free(text);
        return EXTRACT_EXIT_FAILURE;
    }
    if (job->options->json)
        printed = fputs(text, stdout);
    else if (!job->options->quiet)
        summarise(job);
    free(text);
    if (printed < 0 || fflush(stdout) != 0) {
        perror("collet-extract: standard output");
        fprintf(stderr, "collet-extract: the results in %s and %s are complete\n", job->output,
                job->meta);
        return EXTRACT_EXIT_FAILURE;
    }
    if (!job->truncated)
        return EXTRACT_EXIT_OK;
    complain(&job->truncation);
    fprintf(stderr, "collet-extract: %s holds the %lld complete frames before it\n", job->output,
            (long long)job->n_frames);
    return EXTRACT_EXIT_TRUNCATED;
}

static int work(const extract_options *options, const extract_selection *selection)
{
    extract_job job;
    collet_error err;
    collet_status status = extract_job_run(&job, options, selection, &err);
    int result;

    if (status == COLLET_OK) {
        result = report(&job);
    } else if (tool_interrupt_signal() != 0) {
        fprintf(stderr, "collet-extract: %s; nothing was written\n",
                strsignal(tool_interrupt_signal()));
        result = 128 + tool_interrupt_signal();
    } else {
        complain(&err);
        result = EXTRACT_EXIT_FAILURE;
    }
    extract_job_close(&job);
    return result;
}

int main(int argc, char **argv)
{
    extract_options options;
    extract_selection *selection;
    collet_error err;
    int result;

    extract_options_parse(argc, argv, &options);
    if (extract_selection_compile(options.selection, &selection, &err) != COLLET_OK) {
        complain(&err);
        free(options.command);
        return EXTRACT_EXIT_USAGE;
    }
    tool_interrupt_install();
    result = work(&options, selection);
    extract_selection_free(selection);
    free(options.command);
    return result;
}

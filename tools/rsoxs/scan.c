/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs_shards.c, tests/tools/rsoxs/test_rsoxs.c */
#include "scan.h"
#include "plan.h"
#include "results.h"
#include "run.h"
#include "work.h"

#include "common/directory.h"
#include "common/interrupt.h"
#include "common/json_add.h"
#include "common/output.h"
#include "common/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMED 20   /* the largest number of films or shards that a message names */
#define ENERGIES 8 /* the largest number of energies that the message about a film names */

/* The totals of the films that are done. */
typedef struct scan {
    rsoxs_session session;
    unsigned char *wanting; /* in a merge, a bit for each shard whose patterns are missing */
    int64_t patterns, kept, failed, begun;
    double bytes;
    int64_t largest;    /* the film that needs about the most memory; -1: none */
    double voxels;      /* voxels times materials of this film */
    const char **names; /* the names of the first films that failed */
    cJSON *list;        /* the films, with --json */
} scan;

/* ---- A film ---------------------------------------------------------------------------------- */

/* 1 if an error concerns only its film, so that the other films continue. */
static int is_of_film(collet_status status)
{
    return status == COLLET_INVALID || status == COLLET_FORMAT || status == COLLET_IO ||
           status == COLLET_NOT_FOUND || status == COLLET_REFUSED || status == COLLET_NO_MEMORY ||
           status == COLLET_OVERFLOW;
}

/* Fails with the names of the missing patterns, and notes their shards. */
static collet_status refuse_missing(scan *s, const rsoxs_run *run, int64_t film, collet_error *err)
{
    int64_t n = run->work.n_energies, n_shards = run->options->merge;
    char text[400] = "";
    for (int64_t i = 0; i < n; i++) {
        int64_t shard = rsoxs_films_shard(&s->session.films, n_shards, film, run->places[i]) - 1;
        s->wanting[shard / 8] |= (unsigned char)(1 << shard % 8);
        size_t used = strlen(text);
        if (i < ENERGIES)
            snprintf(text + used, sizeof text - used, "%s%.2f", i ? ", " : "", run->energies[i]);
    }
    return collet_fail(err, COLLET_NOT_FOUND,
                       "%s: %" PRId64 " of %" PRId64 " patterns are missing: %s%s eV",
                       run->directory, n, run->n_chosen, text, n > ENERGIES ? ", ..." : "");
}

/* Does everything for a film except the report. In a plan, the runtime is opened only for a single film. */
static collet_status process(scan *s, int64_t index, rsoxs_run *run, collet_error *err)
{
    const rsoxs_options *o = s->session.options;
    collet_status status = rsoxs_run_read(run, &s->session, &s->session.films.films[index], err);
    if (status == COLLET_OK && o->merge) {
        if (run->work.n_energies > 0)
            status = refuse_missing(s, run, index, err);
        else if (!rsoxs_results_kept(run))
            status = rsoxs_results_write(run, err);
        return status;
    }
    if (status == COLLET_OK && (!o->plan || s->session.n_films == 1))
        status = rsoxs_run_open(run, err);
    if (status == COLLET_OK && !o->plan)
        status = rsoxs_run_work(run, err);
    return status;
}

/* ---- Reports --------------------------------------------------------------------------------- */

/* Returns "3, 17 and 20 to 31", which the caller frees; NULL if out of memory. */
static char *list_shards(const scan *s, int64_t n_shards, int64_t *first)
{
    char *text = NULL;
    size_t size;
    int parts = 0;
    FILE *f = open_memstream(&text, &size);
    *first = 0;
    for (int64_t i = 1, end; f && i <= n_shards; i = end + 1) {
        for (end = i; end <= n_shards && s->wanting[(end - 1) / 8] >> (end - 1) % 8 & 1; end++)
            ;
        if (end == i)
            continue;
        *first = *first ? *first : i;
        if (parts++ == NAMED)
            fputs(", ...", f);
        if (parts > NAMED)
            continue;
        fprintf(f,
                end - i > 2   ? "%s%" PRId64 " to %" PRId64
                : end - i > 1 ? "%s%" PRId64 ", %" PRId64
                              : "%s%" PRId64,
                parts > 1 ? ", " : "", i, end - 1);
    }
    return f && fclose(f) == 0 ? text : NULL;
}

static void print_wanting(const scan *s)
{
    int64_t first, n_shards = s->session.options->merge;
    char *text = n_shards ? list_shards(s, n_shards, &first) : NULL;
    if (text && first)
        fprintf(stderr,
                s->session.options->job
                    ? "%s: shards with missing patterns, of %" PRId64
                      ": %s; run the job again with --resume\n"
                    : "%s: shards with missing patterns, of %" PRId64
                      ": %s; run them again, as collet-rsoxs ... --resume --shard %" PRId64
                      "/%" PRId64 ", and then collet-merge\n",
                program_invocation_short_name, n_shards, text, first, n_shards);
    free(text);
}

static void print_failed(const scan *s)
{
    const rsoxs_session *session = &s->session;
    if (s->failed == 0)
        return;
    fprintf(stderr, "%s: %" PRId64 " of %" PRId64 " films %s: ", program_invocation_short_name,
            s->failed, session->n_films, session->options->merge ? "are not complete" : "failed");
    for (int64_t i = 0; i < s->failed && i < NAMED; i++)
        fprintf(stderr, "%s%s", i ? ", " : "", tool_shown(s->names[i]));
    fprintf(stderr, "%s%s\n", s->failed > NAMED ? ", ..." : "",
            session->options->plan || s->failed == session->n_films ? ""
            : s->begun < session->n_films ? "; others are not computed yet"
                                          : "; the others are complete");
}

static const char *backend_of(const rsoxs_session *session)
{
    const char *last = session->context ? collet_last_backend(session->context) : "";
    return *last || session->devices.count == 0 ? last : session->devices.choice[0];
}

static void print_json(scan *s, double seconds)
{
    const rsoxs_options *o = s->session.options;
    cJSON *root = cJSON_CreateObject();
    cJSON_AddNumberToObject(root, "films_failed", (double)s->failed);
    cJSON_AddNumberToObject(root, "energies", (double)s->patterns);
    cJSON_AddNumberToObject(root, "kept", (double)s->kept);
    if (o->plan)
        cJSON_AddNumberToObject(root, "results_bytes", s->bytes);
    else
        cJSON_AddNumberToObject(root, "seconds", seconds);
    if (s->session.runtime && !o->plan)
        cJSON_AddStringToObject(root, "backend", backend_of(&s->session));
    if (o->shard.n_shards) {
        cJSON_AddNumberToObject(root, "shard", (double)o->shard.shard);
        cJSON_AddNumberToObject(root, "shards", (double)o->shard.n_shards);
    }
    if (s->list)
        json_add_item(root, "films", s->list);
    s->list = NULL;
    rsoxs_print_json(root);
}

static void print_text(const scan *s, double seconds)
{
    const rsoxs_options *o = s->session.options;
    int64_t done = s->begun - s->failed;
    char size[TOOL_SIZE_TEXT];
    if (o->shard.n_shards)
        printf("shard %" PRId64 " of %" PRId64 ": ", o->shard.shard, o->shard.n_shards);
    printf("%" PRId64 " film%s in %s: ", done, tool_plural(done),
           tool_shown(s->session.films.directory));
    if (o->plan)
        printf("%" PRId64 " pattern%s to compute, %s", s->patterns, tool_plural(s->patterns),
               tool_size_format(size, s->bytes));
    else if (o->merge)
        printf("%" PRId64 " pattern%s of all shards", s->kept, tool_plural(s->kept));
    else if (s->session.runtime)
        printf("%" PRId64 " pattern%s, %.2f s on %s", s->patterns, tool_plural(s->patterns),
               seconds, backend_of(&s->session));
    else
        printf("nothing was left to compute");
    if (s->kept && !o->merge)
        printf("; %" PRId64 " pattern%s of earlier runs kept", s->kept, tool_plural(s->kept));
    printf("\n");
}

/* ---- Several films --------------------------------------------------------------------------- */

static void note_failure(scan *s, const char *path, const collet_error *err)
{
    tool_progress_end(&s->session.progress);
    if (s->session.options->merge && err->status == COLLET_NOT_FOUND && s->failed >= NAMED)
        ; /* a lost shard may have had thousands of films */
    else if (strstr(err->text, path))
        tool_complain(program_invocation_short_name, err->text);
    else
        fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, tool_shown(path), err->text);
    if (s->failed < NAMED)
        s->names[s->failed] = path;
    s->failed++;
}

/* Adds a film's object to the report, or prints its line of a plan. */
static void note_film(scan *s, int64_t index, const rsoxs_run *run, collet_status status,
                      const collet_error *err)
{
    const rsoxs_film *film = &s->session.films.films[index];
    const rsoxs_options *o = s->session.options;
    int read = run->energies != NULL;
    const int64_t *n = run->work.shape;
    double voxels = (double)n[0] * (double)n[1] * (double)n[2] * (double)run->work.n_materials;
    s->kept += run->kept;
    s->patterns += o->plan && read ? run->work.n_energies : run->written;
    s->bytes += o->plan && status == COLLET_OK ? rsoxs_run_bytes(run) : 0;
    if (status == COLLET_OK && voxels > s->voxels) {
        s->voxels = voxels;
        s->largest = index;
    }
    if (s->list) {
        cJSON *object = read ? rsoxs_run_json(run) : cJSON_CreateObject();
        cJSON_AddStringToObject(object, "film", film->path);
        cJSON_AddStringToObject(object, "status", collet_status_name(status));
        if (!o->plan)
            cJSON_AddNumberToObject(object, "written", (double)run->written);
        if (status != COLLET_OK)
            cJSON_AddStringToObject(object, "error", err->text);
        cJSON_AddItemToArray(s->list, object);
    } else if (o->plan && status == COLLET_OK) {
        printf("%s: ", tool_shown(film->path));
        rsoxs_print_work(run, NULL);
    }
}

static collet_status work_films(scan *s, collet_error *err)
{
    rsoxs_session *session = &s->session;
    const rsoxs_options *o = session->options;
    collet_status status = COLLET_OK;
    int made;
    session->progress.unit = session->n_films == 1 ? "energies" : "films";
    if (!o->plan && !o->merge)
        status = tool_make_directory(session->films.directory, &made, err);
    for (int64_t i = 0; i < session->films.count && status == COLLET_OK; i++) {
        rsoxs_film *film = &session->films.films[i];
        rsoxs_run run = {0};
        if (film->first == film->end)
            continue;
        if (tool_interrupt_signal())
            return collet_fail(err, COLLET_CANCELLED, "stopped");
        s->begun++;
        status = process(s, i, &run, err);
        note_film(s, i, &run, status, err);
        if (status != COLLET_OK && is_of_film(status)) {
            note_failure(s, film->path, err);
            status = COLLET_OK;
        }
        rsoxs_run_close(&run);
        session->done++;
        tool_progress_update(&session->progress, session->done, 0,
                             (double)session->done / (double)session->n_films);
    }
    return status;
}

/* Prints the plan of the film that needs about the most memory. */
static collet_status plan_largest(scan *s, collet_error *err)
{
    rsoxs_run run;
    cJSON *json = s->list ? cJSON_CreateObject() : NULL;
    const rsoxs_film *film = &s->session.films.films[s->largest];
    collet_status status = rsoxs_run_read(&run, &s->session, film, err);
    if (status == COLLET_OK)
        status = rsoxs_run_open(&run, err);
    tool_progress_end(&s->session.progress);
    if (status == COLLET_OK && !json)
        printf("the largest, %s: ", tool_shown(film->path));
    if (status == COLLET_OK)
        status = rsoxs_print_plan(&run, json, err);
    rsoxs_run_close(&run);
    if (json)
        cJSON_AddItemToArray(s->list, json);
    return status;
}

static collet_status scan_films(scan *s, double began, collet_error *err)
{
    const rsoxs_options *o = s->session.options;
    collet_status status = work_films(s, err);
    tool_progress_end(&s->session.progress);
    if (status == COLLET_OK && o->plan && s->largest >= 0)
        status = plan_largest(s, err);
    tool_interrupt_report();
    if (s->list)
        print_json(s, tool_now() - began);
    else if (!o->quiet)
        print_text(s, tool_now() - began);
    return status;
}

static collet_status scan_film(scan *s, double began, collet_error *err)
{
    const rsoxs_options *o = s->session.options;
    int64_t index = 0;
    rsoxs_run run = {0};
    while (s->session.films.films[index].first == s->session.films.films[index].end)
        index++;
    collet_status status = process(s, index, &run, err);
    tool_progress_end(&s->session.progress);
    tool_interrupt_report();
    if (status == COLLET_OK && o->plan)
        status = rsoxs_print_plan(&run, NULL, err);
    else if (status == COLLET_OK)
        rsoxs_print_summary(&run, tool_now() - began);
    rsoxs_run_close(&run);
    return status;
}

/* ---- The command line ------------------------------------------------------------------------ */

static collet_status open_scan(scan *s, const rsoxs_options *o, collet_error *err)
{
    rsoxs_session *session = &s->session;
    *s = (scan){.session.options = o, .largest = -1};
    tool_progress_begin(&session->progress, program_invocation_short_name, "energies", stderr,
                        o->quiet);
    collet_status status = rsoxs_films_open(&session->films, o, err);
    for (int64_t i = 0; status == COLLET_OK && i < session->films.count; i++)
        session->n_films += session->films.films[i].first < session->films.films[i].end;
    s->names = calloc(NAMED, sizeof *s->names);
    s->list = o->json && session->films.count > 1 ? cJSON_CreateArray() : NULL;
    s->wanting = calloc((size_t)o->merge / 8 + 1, 1);
    return status != COLLET_OK || (s->names && s->wanting)
               ? status
               : collet_fail(err, COLLET_NO_MEMORY, "out of memory");
}

static void close_scan(scan *s)
{
    rsoxs_session *session = &s->session;
    collet_context_destroy(session->context);
    collet_runtime_destroy(session->runtime);
    rsoxs_films_close(&session->films);
    for (size_t i = 0; i < session->n_told; i++)
        free(session->told[i]);
    free(session->told);
    free(s->names);
    free(s->wanting);
    cJSON_Delete(s->list);
}

int rsoxs_scan(const rsoxs_options *options)
{
    scan s;
    collet_error err;
    double began = tool_now();
    collet_status status = open_scan(&s, options, &err);
    int result = 0;

    if (status == COLLET_OK && options->shard.n_shards && !options->part && !options->plan)
        status = rsoxs_work_note(&s.session.films, options, &err);
    /* An earlier signal ends the process, because no pattern is written yet. */
    tool_interrupt_install();
    if (status == COLLET_OK && s.session.films.count > 1)
        status = scan_films(&s, began, &err);
    else if (status == COLLET_OK && s.session.n_films == 1)
        status = scan_film(&s, began, &err);
    else if (status == COLLET_OK && options->json && !options->part)
        print_json(&s, tool_now() - began);
    else if (status == COLLET_OK && !options->quiet && !options->part)
        printf("shard %" PRId64 " of %" PRId64 " has no energies\n", options->shard.shard,
               options->shard.n_shards);
    if (status == COLLET_CANCELLED && tool_interrupt_signal()) {
        fprintf(stderr, "%s: %s; complete patterns are kept, %s continues\n",
                program_invocation_short_name, strsignal(tool_interrupt_signal()),
                options->merge ? "the same command" : "--resume");
        result = 128 + tool_interrupt_signal();
    } else if (status != COLLET_OK) {
        tool_complain(program_invocation_short_name, err.text);
        result = tool_exit_of_files(status);
    } else if (!tool_flush(program_invocation_short_name,
                           options->plan ? NULL : "all files are complete")) {
        result = TOOL_EXIT_FAILURE;
    }
    print_failed(&s);
    print_wanting(&s);
    if (s.failed && result == 0)
        result = TOOL_EXIT_FAILURE;
    close_scan(&s);
    return result;
}

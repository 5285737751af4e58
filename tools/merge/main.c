/* SPDX-License-Identifier: Apache-2.0 */
/* collet-merge: joins results of collet-extract by time.
 * Tests: tests/tools/test_merge.c */
#include "options.h"
#include "order.h"
#include "part.h"
#include "paths.h"
#include "rsoxs.h"
#include "shards.h"

#include "common/arguments.h"
#include "common/command_line.h"
#include "common/json_add.h"
#include "common/output.h"
#include "common/ranks.h"
#include "io/numerals.h"
#include "io/results.h"
#include "io/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KEY_FORCE = 256, KEY_CHECK };

static const char doc[] =
    "Makes the results of one run from its shards, or joins the results of several runs of "
    "collet-extract by time.\v"
    "OUT.shards is the directory that collet-extract --shard or collet-rsoxs --shard wrote. The "
    "results are written to OUT, or to the file that -o names; they equal the results of a run "
    "without shards. Patterns of collet-rsoxs are in OUT already: the program adds the files that "
    "no single shard could write, and names what is missing.\n\n"
    "Each A.npz needs its A.meta.json. The order of the files does not matter: rows of a file are "
    "left out from the time at which a later file begins. Rows that are left out, and times without rows, "
    "are warnings. Keys, units, selections, masses, bodies, axes, --pbc and --drift must agree. The paths of --pbc nojump are "
    "continued from file to file.\n\n"
    "Example:\n"
    "  collet-merge --check part*.npz\n"
    "  collet-merge out.npz.shards\n"
    "  collet-merge patterns.shards\n"
    "  collet-merge -o all.npz part1.npz part2.npz\n\n" TOOL_EXIT_TEXT;

static const struct argp_option argp_options[] = {
    {"output", 'o', "OUT", 0,
     "The results, with their meta file: an .npz; of shards any that collet-extract writes", 1},
    {"check", KEY_CHECK, NULL, 0,
     "Write nothing: print the times of each file, and what is missing, replaced or different", 1},
    {"force", KEY_FORCE, NULL, 0, "Replace existing files", 1},
    {"quiet", 'q', NULL, 0, "No progress line and no summary", 1},
    {0},
};

static void check(struct argp_state *state, const merge_options *options)
{
    if (options->check && (options->output || options->force))
        tool_error(state, "--check writes nothing: leave out %s", options->output ? "-o" : "--force");
    if (merge_is_shards(options->paths[0])) {
        if (options->n > 1)
            tool_error(state, "give one directory of shards, alone");
        if (merge_is_rsoxs(options->paths[0]) && (options->output || options->force || options->check))
            tool_error(state, "%s is for results of collet-extract; patterns are in place already",
                       options->output ? "-o" : options->force ? "--force" : "--check");
        if (options->output && tool_form_of(options->output) == TOOL_FORM_UNKNOWN)
            tool_error(state, "-o %s: " TOOL_FORM_HINT, options->output);
        return;
    }
    size_t length = options->output ? strlen(options->output) : 0;

    if (!options->output && !options->check)
        tool_error(state, "name the file to write: -o OUT.npz");
    if (options->output && (length <= 4 || strcmp(options->output + length - 4, ".npz") != 0))
        tool_error(state, "-o %s: the output is an .npz file", options->output);
    if (options->n < 1)
        tool_error(state, "give the results to merge: A.npz B.npz ...");
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    merge_options *options = state->input;

    switch (key) {
    case 'o':
        options->output = tool_parse_output(state, "-o", text);
        return 0;
    case KEY_CHECK:
        options->check = 1;
        return 0;
    case KEY_FORCE:
        options->force = 1;
        return 0;
    case 'q':
        options->quiet = 1;
        return 0;
    case ARGP_KEY_ARG:
        options->paths[options->n++] = text;
        return 0;
    case ARGP_KEY_END:
        check(state, options);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- Parts ------------------------------------------------------------------------------- */

static collet_status open_parts(const merge_options *options, merge_part *parts, collet_error *err)
{
    collet_status status = COLLET_OK;

    for (size_t k = 0; k < options->n && status == COLLET_OK; k++) {
        status = merge_part_open(options->paths[k], &parts[k], err);
        if (status == COLLET_OK && k > 0)
            status = merge_part_compare(&parts[0], &parts[k], err);
        if (status == COLLET_OK && options->n > 1)
            status = merge_paths_check(&parts[k], err);
        if (status == COLLET_OK && options->output)
            status = io_spool_check_input(options->output, options->paths[k], err);
    }
    return status;
}

/* ---- The meta file ----------------------------------------------------------------------- */

/* Sections of the first part's meta file that are valid for all parts. */
static const char *const shared[] = {"inputs", "selection", "axis",
                                     "bodies", "atoms",     "periodic_box",
                                     "drift"};

static int add_parts(cJSON *root, const merge_part *parts, size_t n)
{
    cJSON *list = cJSON_AddArrayToObject(root, "parts");
    int done = list != NULL;

    for (size_t k = 0; done && k < n; k++) {
        const merge_part *part = &parts[k];
        cJSON *entry = json_append_object(list);
        done =
            entry && json_add_text(entry, "path", part->path) &&
            json_add_item(entry, "id",
                          cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(part->meta, "id"), 1)) &&
            json_add_item(
                entry, "status",
                cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(part->meta, "status"), 1)) &&
            json_add_item(
                entry, "trajectory",
                cJSON_Duplicate(
                    cJSON_GetObjectItemCaseSensitive(
                        cJSON_GetObjectItemCaseSensitive(part->meta, "inputs"), "trajectory"),
                    1)) &&
            json_add_number(entry, "frames", (double)part->kept) &&
            json_add_number(entry, "frames_left_out", (double)(part->n_rows - part->kept)) &&
            json_add_number(entry, "first_time_ps", part->times[0]) &&
            json_add_item(
                entry, "warnings",
                cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(part->meta, "warnings"), 1));
    }
    return done;
}

static int add_outputs(cJSON *root, const merge_part *first, int64_t n_rows)
{
    cJSON *outputs = cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(first->meta, "outputs"), 1),
          *item;

    cJSON_ArrayForEach(item, outputs) cJSON_SetNumberValue(
        cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(item, "shape"), 0), (double)n_rows);
    return json_add_item(root, "outputs", outputs);
}

static int add_origin(cJSON *root, const merge_options *options, const char *id)
{
    cJSON *command = cJSON_AddArrayToObject(root, "command");
    char created[32] = "";
    time_t now = time(NULL);
    struct tm utc;

    if (gmtime_r(&now, &utc))
        strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &utc);
    for (char **word = options->command; command && word && *word; word++)
        cJSON_AddItemToArray(command, cJSON_CreateString(*word));
    return command && json_add_text(root, "program", "collet-merge") &&
           json_add_text(root, "version", COLLET_VERSION) &&
           json_add_text(root, "created", created) && json_add_text(root, "id", id);
}

static int64_t count_rows(const merge_part *parts, size_t n)
{
    int64_t rows = 0;

    for (size_t k = 0; k < n; k++)
        rows += parts[k].kept;
    return rows;
}

static const merge_part *last_part(const merge_part *parts, size_t n)
{
    while (parts[n - 1].kept == 0)
        n--;
    return &parts[n - 1];
}

static int add_warnings(cJSON *root, const merge_remarks *remarks)
{
    cJSON *list = cJSON_AddArrayToObject(root, "warnings");
    int done = list != NULL;

    for (size_t i = 0; done && i < remarks->n; i++)
        done = cJSON_AddItemToArray(list, cJSON_CreateString(remarks->texts[i]));
    return done;
}

/* Returns the text of the meta file; NULL if out of memory. */
static char *make_meta(const merge_options *options, const merge_part *parts, const merge_remarks *remarks,
                       const char *id)
{
    const merge_part *last = last_part(parts, options->n);
    cJSON *root = cJSON_CreateObject(), *frames;
    char *printed = NULL, *text = NULL, *shown;

    int done =
        root && add_origin(root, options, id) &&
        json_add_item(root, "status",
                      cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(last->meta, "status"), 1)) &&
        add_parts(root, parts, options->n);
    for (size_t i = 0; done && i < sizeof shared / sizeof *shared; i++) {
        const cJSON *section = cJSON_GetObjectItemCaseSensitive(parts[0].meta, shared[i]);
        done = !section || json_add_item(root, shared[i], cJSON_Duplicate(section, 1));
    }
    done = done && (frames = cJSON_AddObjectToObject(root, "frames")) &&
           json_add_number(frames, "count", (double)count_rows(parts, options->n)) &&
           json_add_number(frames, "first_time_ps", parts[0].times[0]) &&
           json_add_number(frames, "last_time_ps", last->times[last->kept - 1]) &&
           json_add_text(root, "output", options->output) &&
           add_outputs(root, &parts[0], count_rows(parts, options->n)) &&
           add_warnings(root, remarks);
    locale_t before = io_numerals_begin();
    if (done)
        printed = cJSON_Print(root);
    io_numerals_end(before);
    cJSON_Delete(root);
    shown = printed ? io_utf8_json(printed) : NULL;
    if (shown && asprintf(&text, "%s\n", shown) < 0)
        text = NULL;
    free(shown);
    cJSON_free(printed);
    return text;
}

/* ---- Writing ----------------------------------------------------------------------------- */

typedef struct target {
    io_results *results;
    int32_t column;
} target;

static collet_status append(void *user, int64_t n_rows, const double *rows, collet_error *err)
{
    const target *to = user;

    return io_results_append(to->results, to->column, n_rows, rows, err);
}

static collet_status merge_key(const merge_part *parts, size_t n, const char *key, merge_remarks *remarks,
                               target *to, collet_error *err)
{
    int64_t shape[3];
    int32_t axes = merge_part_shape(&parts[0], key, shape);

    if (axes < 0)
        return collet_fail(err, COLLET_FORMAT, "%s: the meta file has no shape of %s",
                           parts[0].path, key);
    collet_status status = io_results_add(to->results, key, axes, shape, &to->column, err);
    if (status == COLLET_OK && n > 1 && merge_paths_has(&parts[0], key))
        return merge_paths_join(parts, n, remarks, append, to, err);
    for (size_t k = 0; k < n && status == COLLET_OK; k++)
        status = merge_part_rows(&parts[k], key, append, to, err);
    return status;
}

/* Adds the labels of bodies or atoms, which are a separate array. */
static collet_status add_labels(const merge_part *first, const char *key, io_results *results,
                                collet_error *err)
{
    const cJSON *labels = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(first->meta, key), "labels");
    int n = cJSON_GetArraySize(labels), i = 0;
    const char **texts = n > 0 ? calloc((size_t)n, sizeof *texts) : NULL;
    const cJSON *label;

    if (n == 0)
        return COLLET_OK;
    if (!texts)
        return collet_fail(err, COLLET_NO_MEMORY, "output: out of memory");
    cJSON_ArrayForEach(label, labels)
    {
        const char *text = cJSON_GetStringValue(label);
        texts[i++] = text ? text : "";
    }
    collet_status status = io_results_add_texts(results, key, n, texts, err);
    free(texts);
    return status;
}

static collet_status fill(const merge_options *options, const merge_part *parts, merge_remarks *remarks,
                          io_results *results, io_spool *meta, collet_error *err)
{
    target to = {.results = results};
    collet_status status = COLLET_OK;
    const cJSON *item;

    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(parts[0].meta, "outputs"))
    {
        status = merge_key(parts, options->n, item->string, remarks, &to, err);
        if (status != COLLET_OK)
            return status;
    }
    status = add_labels(&parts[0], "bodies", results, err);
    if (status == COLLET_OK)
        status = add_labels(&parts[0], "atoms", results, err);
    if (status == COLLET_OK)
        status = io_results_link(results, err);
    if (status != COLLET_OK)
        return status;
    char *text = make_meta(options, parts, remarks, io_results_id(results));
    if (!text)
        return collet_fail(err, COLLET_NO_MEMORY, "meta file: out of memory");
    status = io_spool_write(meta, text, strlen(text), err);
    free(text);
    return status == COLLET_OK ? io_spool_link(meta, err) : status;
}

static collet_status write_all(const merge_options *options, const merge_part *parts, merge_remarks *remarks,
                               collet_error *err)
{
    int length = (int)strlen(options->output) - 4;
    io_results *results = NULL;
    io_spool *meta_file = NULL;
    char *meta;

    if (asprintf(&meta, "%.*s.meta.json", length, options->output) < 0)
        return collet_fail(err, COLLET_NO_MEMORY, "output: out of memory");
    collet_status status = io_spool_check_output(options->output, options->force, err);
    if (status == COLLET_OK)
        status = io_spool_check_output(meta, options->force, err);
    if (status == COLLET_OK)
        status = io_results_create(options->output, IO_RESULTS_NPZ, &results, err);
    if (status == COLLET_OK)
        status = io_spool_create(meta, IO_SPOOL_OUTPUT, &meta_file, err);
    if (status == COLLET_OK)
        status = fill(options, parts, remarks, results, meta_file, err);
    if (status == COLLET_OK)
        status = io_results_rename(results, meta_file, options->force, err);
    io_spool_free(meta_file);
    io_results_free(results);
    free(meta);
    return status;
}

static void print_part(const merge_part *part)
{
    merge_time first, last;

    printf("%s: %lld frame%s, %s to %s ps", tool_shown(part->path), (long long)part->n_rows,
           tool_plural(part->n_rows), merge_time_text(part->times[0], first),
           merge_time_text(part->times[part->n_rows - 1], last));
    if (part->n_rows > 1)
        printf(", at most %.6g ps apart", merge_longest_interval(part));
    puts("");
}

/* Prints the rows of the merge, and the remarks about them. */
static void report(const merge_options *options, const merge_part *parts, const merge_remarks *remarks)
{
    const merge_part *last = last_part(parts, options->n);
    int64_t rows = count_rows(parts, options->n);
    merge_time from, to;

    for (size_t k = 0; options->check && !options->quiet && k < options->n; k++)
        print_part(&parts[k]);
    fflush(stdout);
    for (size_t i = 0; i < remarks->n; i++)
        tool_warn("collet-merge", tool_shown(remarks->texts[i]));
    if (!options->quiet)
        printf("%s: %lld frame%s of %zu file%s, %s to %s ps\n",
               options->check ? "together" : tool_shown(options->output), (long long)rows, tool_plural(rows), options->n,
               tool_plural((int64_t)options->n), merge_time_text(parts[0].times[0], from),
               merge_time_text(last->times[last->kept - 1], to));
}

static collet_status drop(void *user, int64_t n, const double *rows, collet_error *err)
{
    (void)user, (void)n, (void)rows, (void)err;
    return COLLET_OK;
}

/* For --check: joins the paths without writing them, only to get the remarks about them. */
static collet_status check_paths(const merge_options *options, const merge_part *parts, merge_remarks *remarks,
                                 collet_error *err)
{
    int64_t shape[3];

    return options->n > 1 && merge_paths_has(&parts[0], "com") && merge_part_shape(&parts[0], "com", shape) >= 0
               ? merge_paths_join(parts, options->n, remarks, drop, NULL, err)
               : COLLET_OK;
}

static int run(const merge_options *options, merge_part *parts)
{
    collet_error err;
    merge_remarks remarks = {0};
    collet_status status = open_parts(options, parts, &err);

    if (status == COLLET_OK)
        status = merge_order(parts, options->n, &remarks, &err);
    if (status == COLLET_OK)
        status = (options->check ? check_paths : write_all)(options, parts, &remarks, &err);
    if (status == COLLET_OK)
        report(options, parts, &remarks);
    else
        tool_complain("collet-merge", err.text);
    int result = status != COLLET_OK                 ? TOOL_EXIT_FAILURE
                 : options->check && remarks.gaps > 0 ? TOOL_EXIT_INCOMPLETE
                                                      : TOOL_EXIT_OK;
    merge_remarks_free(&remarks);
    return tool_flush("collet-merge", options->check ? NULL : "the results and the meta file are complete")
               ? result
               : TOOL_EXIT_FAILURE;
}

/* 0, after a message, if a launcher started several processes: they would write the same file. */
static int is_alone(int argc, char **argv)
{
    tool_ranks ranks;

    if (!tool_ranks_open(&ranks, "collet-merge", argc, argv))
        return 0;
    if (ranks.ranks != NULL)
        tool_ranks_fail(&ranks,
                        ranks.rank > 0 ? NULL
                                       : "a merge is the work of one process: run it without the "
                                         "launcher of MPI, or with COLLET_MPI=off",
                        1);
    return ranks.ranks == NULL;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        argp_options, parse_option, "OUT.shards\nA.npz B.npz...", doc, tool_short_help, NULL, NULL};
    merge_options options = {.command = command_line_copy(argc, argv),
                             .paths = calloc((size_t)argc + 1, sizeof *options.paths)};
    int result = 1;

    if (options.paths)
        tool_parse(&argp, argc, argv, 0, &options);
    merge_part *parts = options.paths ? calloc(options.n, sizeof *parts) : NULL;
    if (!parts)
        fputs("collet-merge: out of memory\n", stderr);
    else if (!is_alone(argc, argv))
        result = 1;
    else if (merge_is_shards(options.paths[0]))
        result = merge_shards(&options);
    else
        result = run(&options, parts);
    for (size_t k = 0; parts && k < options.n; k++)
        merge_part_close(&parts[k]);
    free(parts);
    free(options.paths);
    free(options.command);
    return result;
}

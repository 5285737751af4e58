/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_extract_options.c, tests/tools/test_extract_errors.c */
#include "options.h"

#include "common/arguments.h"
#include "common/command_line.h"
#include "io/decimal.h"

#include <collet/collet.h>

#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_BACKEND = 256,
    KEY_SELECTION,
    KEY_START,
    KEY_STOP,
    KEY_STEP,
    KEY_MASSES,
    KEY_REFERENCE,
    KEY_AXIS,
    KEY_BATCH,
    KEY_THREADS,
    KEY_JSON,
    KEY_KEYS,
    KEY_FORCE,
    KEY_MISSING,
    KEY_NDX,
    KEY_PLOT,
    KEY_PBC,
    KEY_EACH,
    KEY_SHARD,
    KEY_RESUME,
    KEY_DEVICES,
    KEY_PLAN,
    KEY_DRIFT,
    KEY_DRIFT_OF,
    KEY_STRICT,
};

static const char doc[] =
    "Computes rotational observables of every frame of a molecular dynamics trajectory: centre of "
    "mass, inertia tensor, principal moments and axes, Euler angles, angular momentum and "
    "velocity, torque, kinetic energies, gyration tensor, rmsd and tilt.\v"
    "TOP and TRAJ are files of the same atoms. Several TRAJ are one trajectory: a frame whose time "
    "is not before the first time of a later file, and all after it, are left out. Results go to "
    "an .npz file that NumPy loads, with a "
    ".meta.json next to it that describes arrays, units and inputs.\n\n"
    "SELECTION: all, none, protein, nucleic, water, backbone, resname PATTERN..., name PATTERN..., "
    "chain PATTERN..., segid PATTERN..., element SYMBOL..., resid a:b..., index a:b... (from 0), "
    "bynum a:b... (from 1), mass > X, charge < X, group PATTERN..., same residue as ..., within D "
    "of "
    "... (nm, in each frame), not, and, or, parentheses.\n\n"
    "Examples:\n"
    "  collet-extract conf.gro traj.trr\n"
    "  collet-extract conf.gro traj.trr -o out.npz --selection 'name CA or name N'\n"
    "  collet-extract conf.gro traj.xtc -o out/ --start 1000 --step 10 --axis 1,0,0\n"
    "  collet-extract conf.gro traj.trr --selection water --each residue --keys "
    "com\n\n" TOOL_EXIT_TEXT;

static const struct argp_option argp_options[] = {
    {"output", 'o', "OUT", 0,
     "The results: a file, whose name ends in .npz, .csv, .xvg or .h5, or DIR/, a directory with "
     "one .npy file a key (default: the name of TRAJ with .npz, here)",
     1},
    {"plot", KEY_PLOT, "DIR", 0, "Draw pictures of the results over time into this directory", 1},
    {"force", KEY_FORCE, NULL, 0, "Replace existing files", 1},
    {"shard", KEY_SHARD, "I/N|slurm", 0,
     "Compute part I of N of the frames, into the directory OUT.shards; collet-merge makes OUT "
     "of all parts. slurm: the part of the task of a job array",
     1},
    {"resume", KEY_RESUME, NULL, 0,
     "Keep complete shards of the same work, and compute the others: this shard, or an MPI job", 1},
    {"selection", KEY_SELECTION, "SELECTION", 0, "Atoms to analyse (default: all)", 2},
    {"ndx", KEY_NDX, "FILE", 0, "File of GROMACS with groups for the selection: 'group Protein'",
     2},
    {"each", KEY_EACH, "BODIES", 0,
     "Rows for each residue, molecule, segment, chain or group of --ndx, by its name (default: one body, all selected "
     "atoms)", 2},
    {"start", KEY_START, "N", 0, "First frame, counted from 0 (default: 0)", 2},
    {"stop", KEY_STOP, "N", 0, "Stop before this frame (default: the end)", 2},
    {"step", KEY_STEP, "N", 0, "Take every Nth frame (default: 1)", 2},
    {"masses", KEY_MASSES, "FILE|equal", 0,
     "Masses in amu, one a line for every atom of TOP, or 1 for each atom (default: the masses or "
     "elements in TOP, or the atoms' names)",
     2},
    {"reference", KEY_REFERENCE, "FILE", 0,
     "Compute rmsd to the first frame of this file (default: to the first frame that is read)", 2},
    {"axis", KEY_AXIS, "X,Y,Z", 0, "Axis of the z parts and the tilt (default: 0,0,1)", 2},
    {"keys", KEY_KEYS, "KEY,...", 0,
     "Compute and write these keys, such as com,L_*; may be repeated (default: all that TRAJ has "
     "the fields for)",
     2},
    {"missing", KEY_MISSING, "skip|nan|fail", 0,
     "Leave out a frame that lacks velocities or forces that a key needs, set these keys to NaN in "
     "it, or fail (default: fail)",
     2},
    {"pbc", KEY_PBC, "whole|nojump|center|none", 0,
     "Make molecules whole that the periodic box cuts; also follow them without jumps between "
     "frames; or also put the selection in the middle of the box; or leave positions as they are "
     "(default: whole)",
     2},
    {"strict", KEY_STRICT, NULL, 0, "Fail where a warning would say that a body may not be in one piece", 2},
    {"drift", KEY_DRIFT, "keep|linear|angular|both", 0,
     "Remove the motion of the system as a whole: of its centre of mass (linear), its rotation "
     "(angular), or both. Velocities change, and with linear or both also positions, if --pbc is "
     "nojump or there is no box (default: keep)",
     2},
    {"drift-of", KEY_DRIFT_OF, "SELECTION", 0,
     "The system whose drift is removed (default: all atoms of TOP, whatever --selection chooses)", 2},
    {"backend", KEY_BACKEND, "NAME", 0, "Backend to compute with, or a list (default: auto)", 3},
    {"devices", KEY_DEVICES, "NAME,...", 0,
     "Devices that share the frames, such as cpu_openmp,opencl:0", 3},
    {"batch", KEY_BATCH, "N|auto", 0, "Frames read and computed at a time (default: auto)", 3},
    {"threads", KEY_THREADS, "N", 0,
     "CPU threads to read and compute with (default: all processors)", 3},
    {"plan", KEY_PLAN, NULL, 0,
     "Print the size of batches, their memory and the speed of the devices, measured on the first "
     "batch; write nothing",
     4},
    {"quiet", 'q', NULL, 0, "No progress line and no summary", 4},
    {"json", KEY_JSON, NULL, 0, "Print the contents of the meta file instead of a summary", 4},
    {0},
};

static void parse_axis(struct argp_state *state, const char *text, double axis[3])
{
    const char *at = text;
    double square = 0;

    for (int i = 0; i < 3; i++) {
        size_t length = strcspn(at, ",");

        if (!io_decimal_parse(at, length, &axis[i]) || at[length] != (i < 2 ? ',' : '\0'))
            tool_error(state, "--axis: '%s' is not of the form x,y,z", text);
        at += length + (i < 2);
        square += axis[i] * axis[i];
    }
    if (!(square > 0) || !isfinite(square))
        tool_error(state, "--axis: '%s' has no direction", text);
}

/* Refuses names that do not have the ending of a format for results. */
static void check_output(struct argp_state *state, const extract_options *options)
{
    const char *name = options->output;

    if (name == NULL)
        return;
    tool_parse_output(state, "-o", name);
    if (tool_form_of(name) == TOOL_FORM_UNKNOWN)
        tool_error(state, "-o %s: " TOOL_FORM_HINT, name);
}

static void check(struct argp_state *state, const extract_options *options)
{
    const collet_trajectory_options *settings = &options->settings;

    if (settings->trajectory == NULL)
        tool_error(state, "a topology and a trajectory are required");
    check_output(state, options);
    if (options->shard.n_shards > 0 && (options->plot != NULL || options->json))
        tool_error(state, "--plot and --json need the results of all shards");
    if (settings->backend != NULL && settings->devices != NULL)
        tool_error(state, "--backend and --devices exclude each other");
    if (settings->drift_of != NULL && settings->drift == COLLET_TRAJECTORY_DRIFT_KEEP)
        tool_error(state, "--drift-of %s: it needs --drift linear, angular or both", settings->drift_of);
    if (settings->stop > 0 && settings->stop <= settings->start)
        tool_error(state, "--start %lld --stop %lld leaves no frame", (long long)settings->start,
                   (long long)settings->stop);
}

static void out_of_memory(void)
{
    fputs("collet-extract: out of memory\n", stderr);
    exit(TOOL_EXIT_FAILURE);
}

/* Repeated options accumulate. */
static void add_keys(extract_options *options, const char *text)
{
    char *before = options->keys;

    if (asprintf(&options->keys, "%s%s%s", before != NULL ? before : "", before != NULL ? "," : "",
                 text) < 0)
        out_of_memory();
    free(before);
    options->settings.keys = options->keys;
}

static void take_argument(struct argp_state *state, extract_options *options, const char *text)
{
    size_t n = options->n_continuations;
    const char **grown;

    if (state->arg_num < 2) {
        *(state->arg_num == 0 ? &options->settings.topology : &options->settings.trajectory) = text;
        return;
    }
    grown = realloc(options->continuations, (n + 2) * sizeof *grown);
    if (grown == NULL)
        out_of_memory();
    grown[n] = text;
    grown[n + 1] = NULL;
    options->continuations = grown;
    options->settings.continuations = grown;
    options->n_continuations++;
}

/* Returns the index of a text in a list of `n` names; an error message contains `choice`. */
static uint32_t parse_name(struct argp_state *state, const char *option, const char *text,
                           const char *const *names, uint32_t n, const char *choice)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    tool_error(state, "%s: '%s' is not %s", option, text, choice);
    return 0;
}

static uint32_t parse_missing(struct argp_state *state, const char *text)
{
    static const char *const names[] = {"fail", "skip", "nan"}; /* COLLET_TRAJECTORY_MISSING_* */

    return parse_name(state, "--missing", text, names, 3, "skip, nan or fail");
}

static uint32_t parse_pbc(struct argp_state *state, const char *text)
{
    static const char *const names[] = {"whole", "nojump", "center", "none"};

    return parse_name(state, "--pbc", text, names, 4, "whole, nojump, center or none");
}

static uint32_t parse_drift(struct argp_state *state, const char *text)
{
    static const char *const names[] = {"keep", "linear", "angular", "both"};

    return parse_name(state, "--drift", text, names, 4, "keep, linear, angular or both");
}

/* Options of the library that are texts. */
static error_t parse_text(int key, const char *text, collet_trajectory_options *settings)
{
    switch (key) {
    case KEY_SELECTION:
        settings->selection = text;
        return 0;
    case KEY_NDX:
        settings->ndx = text;
        return 0;
    case KEY_EACH:
        settings->each = text;
        return 0;
    case KEY_MASSES:
        settings->masses = text;
        return 0;
    case KEY_REFERENCE:
        settings->reference = text;
        return 0;
    case KEY_DRIFT_OF:
        settings->drift_of = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Options of the library. */
static error_t parse_setting(int key, const char *text, struct argp_state *state)
{
    extract_options *options = state->input;
    collet_trajectory_options *settings = &options->settings;

    switch (key) {
    case KEY_BACKEND:
        settings->backend = tool_parse_name(state, "--backend", text);
        return 0;
    case KEY_DEVICES:
        options->devices =
            (collet_devices){.struct_size = sizeof options->devices,
                             .choices = tool_parse_name(state, "--devices", text)};
        settings->devices = &options->devices;
        return 0;
    case KEY_KEYS:
        add_keys(options, text);
        return 0;
    case KEY_START:
        settings->start = tool_parse_count(state, "--start", text, 0);
        return 0;
    case KEY_STOP:
        settings->stop = tool_parse_count(state, "--stop", text, 1);
        return 0;
    case KEY_STEP:
        settings->step = tool_parse_count(state, "--step", text, 1);
        return 0;
    case KEY_MISSING:
        settings->missing = parse_missing(state, text);
        return 0;
    case KEY_PBC:
        settings->pbc = parse_pbc(state, text);
        return 0;
    case KEY_STRICT:
        settings->strict = 1;
        return 0;
    case KEY_DRIFT:
        settings->drift = parse_drift(state, text);
        return 0;
    case KEY_AXIS:
        parse_axis(state, text, settings->axis);
        return 0;
    case KEY_BATCH:
        settings->batch_frames =
            strcmp(text, "auto") == 0 ? 0 : tool_parse_count(state, "--batch", text, 1);
        return 0;
    case KEY_THREADS:
        settings->threads = tool_parse_threads(state, text);
        return 0;
    default:
        return parse_text(key, text, settings);
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    extract_options *options = state->input;

    switch (key) {
    case 'o':
        options->output = text;
        return 0;
    case 'q':
        options->quiet = 1;
        return 0;
    case KEY_PLOT:
        options->plot = tool_parse_name(state, "--plot", text);
        return 0;
    case KEY_FORCE:
        options->force = 1;
        return 0;
    case KEY_JSON:
        options->json = 1;
        return 0;
    case KEY_SHARD:
        tool_shard_parse(state, text, &options->shard);
        options->settings.shard = options->shard.shard;
        options->settings.n_shards = options->shard.n_shards;
        return 0;
    case KEY_RESUME:
        options->resume = 1;
        return 0;
    case KEY_PLAN:
        options->plan = 1;
        return 0;
    case ARGP_KEY_ARG:
        take_argument(state, options, text);
        return 0;
    case ARGP_KEY_END:
        check(state, options);
        return 0;
    default:
        return parse_setting(key, text, state);
    }
}

/* Prints "  .gro  TOP, TRAJ  GROMACS, text" for each format. */
static void list_formats(FILE *out)
{
    collet_trajectory_format format = {.struct_size = sizeof format};

    fputs("Formats, recognised by content:\n", out);
    for (size_t i = 0; collet_trajectory_format_at(&format, i, NULL) == COLLET_OK; i++)
        fprintf(out, "  .%-6s %-9s %s\n", format.name,
                !format.has_frames    ? "TOP"
                : format.has_topology ? "TOP, TRAJ"
                                      : "TRAJ",
                format.title);
    fputs("\n", out);
}

/* Adds the formats and the keys at the end of the help. */
static char *help_filter(int part, const char *text, void *input)
{
    char *list = NULL;
    size_t size;
    FILE *out = part == ARGP_KEY_HELP_EXTRA ? open_memstream(&list, &size) : NULL;

    (void)input;
    if (out == NULL)
        return (char *)(uintptr_t)text;
    list_formats(out);
    fputs("KEYs:", out);
    for (size_t i = 0; i < collet_trajectory_quantity_count(); i++) {
        collet_trajectory_quantity quantity = {.struct_size = sizeof quantity};

        collet_trajectory_quantity_at(NULL, &quantity, i, NULL);
        fprintf(out, " %s", quantity.key);
    }
    fclose(out);
    return list;
}

/* Returns the name of the trajectory with the extension .npz, in the working directory. */
static char *default_path(const char *trajectory)
{
    const char *slash = strrchr(trajectory, '/');
    const char *name = slash != NULL ? slash + 1 : trajectory;
    const char *dot = strrchr(name, '.');
    int length = dot != NULL && dot != name ? (int)(dot - name) : (int)strlen(name);
    char *path = NULL;

    return asprintf(&path, "%.*s.npz", length, name) < 0 ? NULL : path;
}

static void choose_path(extract_options *options)
{
    const char *named = options->output;

    options->path = named != NULL ? strdup(named) : default_path(options->settings.trajectory);
    if (options->path == NULL)
        out_of_memory();
    options->directory = tool_form_of(options->path) == TOOL_FORM_DIRECTORY;
    for (size_t end = strlen(options->path); end > 1 && options->path[end - 1] == '/'; end--)
        options->path[end - 1] = '\0';
}

/* 1 if the word is this option, perhaps shortened to `shortest` letters or more. Sets *has_value to 1
 * if the word contains the value, "--option=value". */
static int is_option(const char *word, const char *option, size_t shortest, int *has_value)
{
    size_t length = strcspn(word, "=");

    *has_value = word[length] == '=';
    return length >= shortest && strncmp(word, option, length) == 0;
}

/* Removes from the command line the options that choose a part of the work. */
static void forget_shard(char **command)
{
    char **to = command;

    for (char **word = command; word != NULL && *word != NULL; word++) {
        int has_value;

        if (is_option(*word, "--resume", sizeof "--res" - 1, &has_value))
            continue;
        if (is_option(*word, "--shard", sizeof "--sh" - 1, &has_value))
            word += !has_value && word[1] != NULL;
        else
            *to++ = *word;
    }
    if (to != NULL)
        *to = NULL;
}

void extract_options_parse(int argc, char **argv, extract_options *options)
{
    static const struct argp argp = {argp_options,    parse_option, "TOP TRAJ...", doc,
                                     tool_short_help, help_filter,  NULL};

    memset(options, 0, sizeof *options);
    options->command = command_line_copy(argc, argv);
    options->settings =
        (collet_trajectory_options){.struct_size = sizeof options->settings,
                                    .selection = "all",
                                    .program = "collet-extract",
                                    .command = (const char *const *)options->command};
    tool_parse(&argp, argc, argv, 0, options);
    choose_path(options);
    forget_shard(options->command);
}

void extract_options_free(extract_options *options)
{
    free(options->command);
    free(options->path);
    free(options->keys);
    free(options->continuations);
}

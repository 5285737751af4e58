/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs.c */
#include "options.h"

#include "common/arguments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_BACKEND = 256,
    KEY_METHOD,
    KEY_DTYPE,
    KEY_GRID,
    KEY_DC,
    KEY_ENERGIES,
    KEY_RESUME,
    KEY_FORCE,
    KEY_PLAN,
    KEY_MEMORY,
    KEY_THREADS,
    KEY_JSON,
    KEY_INTEGRATE,
    KEY_WEDGE,
    KEY_PNG,
    KEY_DEVICES,
    KEY_SHARD,
    KEY_FILMS,
};

static const char doc[] =
    "Simulates resonant soft X-ray scattering of voxel morphologies, as CyRSoXS does: one pattern "
    "an energy, averaged over the angles of polarisation.\v"
    "'collet-rsoxs COMMAND --help' lists the options of a command.\n\n"
    "MORPHOLOGY.h5 holds Euler angles or alignment vectors. The configuration is config.txt of the current "
    "directory, or the file of -c; Material1.txt, Material2.txt, ... are in its directory. Results are "
    "DIR/Energy_285.20.h5 with /K0/projection. All these files have the formats of CyRSoXS. Several morphologies "
    "have one configuration; the "
    "patterns of NAME.h5 are in DIR/NAME, and a morphology that fails is named at the end, when "
    "the "
    "others are done.\n\n"
    "Examples:\n"
    "  collet-rsoxs film.h5\n"
    "  collet-rsoxs film.h5 -c run/config.txt -o patterns --energies 284.5,285.2\n"
    "  collet-rsoxs film.h5 --plan --memory 4G\n"
    "  collet-rsoxs films/*.h5 -o patterns --integrate --resume --shard 3/100\n"
    "  collet-merge patterns.shards\n\n" TOOL_EXIT_TEXT;

static const struct argp_option argp_options[] = {
    {"config", 'c', "FILE", 0, "Configuration (default: config.txt in the current directory)", 1},
    {"output", 'o', "DIR", 0, "Directory of the patterns (default: HDF5DirName of FILE, or HDF5)",
     1},
    {"films", KEY_FILMS, "FILE", 0,
     "Also the morphologies that this file names, one a line; - is standard input", 1},
    {"energies", KEY_ENERGIES, "EV,...", 0, "Only these of FILE's energies", 1},
    {"resume", KEY_RESUME, NULL, 0,
     "Keep the patterns that an earlier run with the same settings has written", 1},
    {"force", KEY_FORCE, NULL, 0, "Replace existing patterns", 1},
    {"integrate", KEY_INTEGRATE, NULL, 0,
     "Write DIR/integrated.h5 too: I(q, chi), I(q), its wedges and their anisotropy A(q)", 1},
    {"wedge", KEY_WEDGE, "DEG", 0, "Whole width of the wedges of --integrate, above 0 and up to 180 (default: 90)", 1},
    {"png", KEY_PNG, NULL, 0, "Draw each pattern, DIR/Energy_285.20.png, and DIR/intensity.png", 1},
    {"method", KEY_METHOD, "fast|direct", 0,
     "Transform each field once (default), or the polarisation for each energy and angle", 2},
    {"dtype", KEY_DTYPE, "f32|f64", 0, "Element type of the computation (default: f32)", 2},
    {"q-grid", KEY_GRID, "exact|cyrsoxs|fft", 0,
     "exact: sum the layers at each pixel's own q_z. The others interpolate between slices along z, at q = -pi/a + i 2 "
     "pi/(a (N - 1)) (cyrsoxs, the default, as CyRSoXS does), or (i - N/2) 2 pi/(N a) (fft)",
     2},
    {"dc", KEY_DC, "keep|neighbours", 0,
     "At q = 0: what the transform gives (default, CyRSoXS 1.1), or the mean of its neighbours "
     "(1.2)",
     2},
    {"backend", KEY_BACKEND, "NAME", 0, "Backend to compute with, or a list (default: auto)", 3},
    {"devices", KEY_DEVICES, "NAME,...", 0,
     "Devices that share the energies, such as cuda:0,cuda:1 (default: all devices of the backend "
     "that have the same name)",
     3},
    {"memory", KEY_MEMORY, "SIZE", 0,
     "Limit of the arrays' memory, on each device, such as 4G (default: none)", 3},
    {"threads", KEY_THREADS, "N", 0, "CPU threads to compute with (default: all processors)", 3},
    {"shard", KEY_SHARD, "I/N|slurm", 0,
     "Compute part I of N: whole morphologies where there are at least N, else energies; slurm: of "
     "the task of a job array. collet-merge DIR.shards completes the results",
     4},
    {"plan", KEY_PLAN, NULL, 0, "Print the work and memory needed, compute nothing", 5},
    {"json", KEY_JSON, NULL, 0, "Print the summary or the plan as JSON", 5},
    {"quiet", 'q', NULL, 0, "No progress line and no summary", 5},
    {0},
};

static uint32_t choose(struct argp_state *state, const char *option, const char *text,
                       const char *first, const char *second)
{
    if (strcmp(text, first) != 0 && strcmp(text, second) != 0)
        tool_error(state, "%s: '%s' is neither %s nor %s", option, text, first, second);
    return strcmp(text, second) == 0;
}

static uint32_t choose_grid(struct argp_state *state, const char *text)
{
    static const char *const names[] = {"exact", "cyrsoxs", "fft"};
    for (uint32_t grid = COLLET_SCATTER_EXACT; grid <= COLLET_SCATTER_FFT; grid++)
        if (strcmp(text, names[grid]) == 0)
            return grid;
    tool_error(state, "--q-grid: '%s' is none of exact, cyrsoxs and fft", text);
    return 0;
}

static void parse_energies(struct argp_state *state, rsoxs_options *o, const char *text)
{
    const char *at = text;
    char *end;
    do {
        double *more = realloc(o->energies, (size_t)(o->n_energies + 1) * sizeof *more);
        if (!more)
            argp_failure(state, TOOL_EXIT_FAILURE, 0, "out of memory");
        o->energies = more;
        more[o->n_energies] = strtod(at, &end);
        if (end == at || (*end != ',' && *end != '\0') || !(more[o->n_energies] > 0))
            tool_error(state, "--energies: '%s' is not a list of energies in eV", text);
        o->n_energies++;
        at = end + 1;
    } while (*end == ',');
}

static uint64_t parse_size(struct argp_state *state, const char *text)
{
    char *end;
    errno = 0;
    unsigned long long size = strtoull(text, &end, 10);
    const char *units = "KMGT", *unit = *end ? strchr(units, *end) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (end == text || *text == '-' || errno || size == 0 || (*end && (!unit || end[1])) ||
        size > UINT64_MAX >> shift)
        tool_error(state, "--memory: '%s' is not a size; write 500M or 4G, for example", text);
    return (uint64_t)size << shift;
}

static double parse_wedge(struct argp_state *state, const char *text)
{
    char *end;
    double wedge = strtod(text, &end);
    if (end == text || *end || !(wedge > 0 && wedge <= 180))
        tool_error(state, "--wedge: '%s' is not a width above 0 and up to 180 degrees", text);
    return wedge;
}

static error_t parse_number(int key, char *text, struct argp_state *state)
{
    rsoxs_options *o = state->input;
    switch (key) {
    case KEY_METHOD:
        o->method = choose(state, "--method", text, "fast", "direct");
        return 0;
    case KEY_DTYPE:
        o->dtype = choose(state, "--dtype", text, "f32", "f64") ? COLLET_F64 : COLLET_F32;
        return 0;
    case KEY_GRID:
        o->grid = choose_grid(state, text);
        o->has_grid = 1;
        return 0;
    case KEY_DC:
        o->neighbours = choose(state, "--dc", text, "keep", "neighbours");
        return 0;
    case KEY_ENERGIES:
        parse_energies(state, o, text);
        return 0;
    case KEY_MEMORY:
        o->memory = parse_size(state, text);
        return 0;
    case KEY_WEDGE:
        o->wedge = parse_wedge(state, text);
        return 0;
    case KEY_THREADS:
        o->threads = tool_parse_threads(state, text);
        return 0;
    case KEY_SHARD:
        tool_shard_parse(state, text, &o->shard);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void check(struct argp_state *state, rsoxs_options *o)
{
    if (o->n_films == 0 && !o->list)
        tool_error(state, "a morphology is required");
    if (o->resume && o->force)
        tool_error(state, "--resume and --force exclude each other");
    if (o->backend && o->devices)
        tool_error(state, "--backend and --devices exclude each other");
    if (o->wedge > 0 && !o->integrate)
        tool_error(state, "--wedge needs --integrate");
    if (o->neighbours && o->grid == COLLET_SCATTER_EXACT)
        tool_error(state, "--dc neighbours is for --q-grid cyrsoxs and fft: on the exact grid the intensity at "
                          "q = 0 is in one pixel only");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    rsoxs_options *o = state->input;
    switch (key) {
    case 'c':
        o->configuration = text;
        return 0;
    case 'o':
        o->directory = tool_parse_output(state, "-o", text);
        return 0;
    case 'q':
        o->quiet = 1;
        return 0;
    case KEY_BACKEND:
        o->backend = tool_parse_name(state, "--backend", text);
        return 0;
    case KEY_DEVICES:
        o->devices = tool_parse_name(state, "--devices", text);
        return 0;
    case KEY_FILMS:
        o->list = text;
        return 0;
    case KEY_RESUME:
        o->resume = 1;
        return 0;
    case KEY_FORCE:
        o->force = 1;
        return 0;
    case KEY_PLAN:
        o->plan = 1;
        return 0;
    case KEY_JSON:
        o->json = 1;
        return 0;
    case KEY_INTEGRATE:
        o->integrate = 1;
        return 0;
    case KEY_PNG:
        o->png = 1;
        return 0;
    case ARGP_KEY_ARG:
        o->films[o->n_films++] = text;
        return 0;
    case ARGP_KEY_END:
        check(state, o);
        return 0;
    default:
        return parse_number(key, text, state);
    }
}

#define ROW(name) &rsoxs_##name,
const tool_command *const rsoxs_commands[] = {RSOXS_COMMANDS(ROW) NULL};
#undef ROW

static char *list_commands(int key, const char *text, void *input)
{
    (void)input;
    return tool_command_list(rsoxs_commands, key, text);
}

void rsoxs_options_parse(int argc, char **argv, rsoxs_options *options)
{
    static const struct argp argp = {
        .options = argp_options,
        .parser = parse,
        .args_doc = "MORPHOLOGY.h5...\nCOMMAND [ARGUMENT...]",
        .doc = doc,
        .children = tool_short_help,
        .help_filter = list_commands,
    };
    *options = (rsoxs_options){.films = calloc((size_t)argc + 1, sizeof(char *)),
                               .configuration = "config.txt",
                               .dtype = COLLET_F32,
                               .grid = COLLET_SCATTER_CYRSOXS,
                               .place = {0, 1}};
    if (!options->films) {
        fputs("collet-rsoxs: out of memory\n", stderr);
        exit(TOOL_EXIT_FAILURE);
    }
    tool_parse(&argp, argc, argv, 0, options);
}

void rsoxs_options_free(rsoxs_options *options)
{
    free(options->films);
    free(options->energies);
}

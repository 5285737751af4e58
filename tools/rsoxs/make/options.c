/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs_make.c */
#include "make.h"

#include "common/arguments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_SIZE = 256,
    KEY_PIXEL,
    KEY_RADIUS,
    KEY_THICKNESS,
    KEY_LENGTH,
    KEY_GRAIN,
    KEY_COUNT,
    KEY_MATERIALS,
    KEY_ALIGNMENT,
    KEY_THETA,
    KEY_PSI,
    KEY_TILT,
    KEY_SAMPLES,
    KEY_SEED,
    KEY_ENERGIES,
    KEY_ANGLES,
    KEY_FORCE,
};

const char make_doc[] =
    "Writes a morphology of known physics with its configuration and optical constants, ready to "
    "be computed, and expected.json, the expected patterns.\v"
    "Shapes: sphere (a disk where Z is 1), core-shell, cylinders, and euler, a polycrystal of "
    "random grains. The files in DIR are morphology.h5, config.txt, Material1.txt, ... and "
    "expected.json: the intensity at q = 0, and I(q) where there is a formula. The last material "
    "is vacuum, except for euler. The constants of each other material have one resonance, from 285 eV on.\n\n"
    "Examples:\n"
    "  collet-rsoxs make sphere --size 128 --radius 20 -o sphere\n"
    "  collet-rsoxs make cylinders --size 64,512,512 --radius 5 --length 60 -o rods\n"
    "  collet-rsoxs make euler --size 64,1024,1024 --materials 3 -o film/large.h5";

const struct argp_option make_argp_options[] = {
    {"output", 'o', "DIR", 0, "Directory of the files, or DIR/FILE.h5; required", 1},
    {"force", KEY_FORCE, NULL, 0, "Replace existing files", 1},
    {"quiet", 'q', NULL, 0, "No progress line and no summary", 1},
    {"size", KEY_SIZE, "Z,Y,X", 0, "Voxels, or N for N,N,N (default: 128)", 2},
    {"pixel", KEY_PIXEL, "NM", 0, "Edge of a voxel (default: 1)", 2},
    {"samples", KEY_SAMPLES, "N", 0, "Samples of a voxel along each axis at a surface (default: 4)",
     2},
    {"seed", KEY_SEED, "N", 0, "Seed of random numbers (default: 1)", 2},
    {"radius", KEY_RADIUS, "NM", 0, "Radius of sphere, core or cylinder (default: 20)", 3},
    {"thickness", KEY_THICKNESS, "NM", 0, "Thickness of the shell (default: 8)", 3},
    {"length", KEY_LENGTH, "NM", 0, "Length of a cylinder (default: 40)", 3},
    {"count", KEY_COUNT, "N", 0,
     "Objects, which do not overlap (default: 1, in the middle; more are placed at random)", 3},
    {"tilt", KEY_TILT, "DEGREES", 0,
     "Largest angle of several cylinders out of the plane of the film (default: 0)", 3},
    {"grain", KEY_GRAIN, "NM", 0, "Size of a grain of euler (default: 16)", 3},
    {"materials", KEY_MATERIALS, "N", 0, "Materials of euler (default: 2)", 3},
    {"alignment", KEY_ALIGNMENT, "S", 0,
     "Degree of alignment, 0 (default; euler: 0.5) to 1, of the sphere, of the shell along its "
     "radius, of cylinders along their axes, of grains",
     4},
    {"theta", KEY_THETA, "DEGREES", 0,
     "Direction of the sphere's alignment or of the one cylinder, from z (default: 90)", 4},
    {"psi", KEY_PSI, "DEGREES", 0, "The same, from x about z (default: 0)", 4},
    {"energies", KEY_ENERGIES, "EV,...", 0, "Energies of the beam (default: 285)", 5},
    {"angles", KEY_ANGLES, "FIRST,STEP,LAST", 0,
     "Angles of polarisation, degrees (default: 0,0,0, E along x)", 5},
    {0},
};

/* ---- Numbers --------------------------------------------------------------------------------- */

static double parse_real(struct argp_state *state, const char *option, const char *text, double low,
                         double high)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= low && value <= high))
        tool_error(state, "%s: '%s' is not a number from %g to %g", option, text, low, high);
    return value;
}

/* Reads numbers separated by commas, at most `most`; returns how many there are. */
static int64_t parse_list(struct argp_state *state, const char *option, const char *text,
                          double *values, int64_t most)
{
    const char *at = text;
    char *end;
    int64_t count = 0;
    do {
        double value = strtod(at, &end);
        if (end == at || (*end != ',' && *end) || !isfinite(value) || count == most)
            tool_error(state, "%s: '%s' is not a list of %s numbers", option, text,
                       most == 3 ? "three" : "at most 1000");
        else
            values[count++] = value;
        at = end + 1;
    } while (*end == ',');
    return count;
}

static void parse_size(struct argp_state *state, make_options *o, const char *text)
{
    double n[3];
    int64_t count = parse_list(state, "--size", text, n, 3);
    double voxels = 1;
    for (int a = 0; a < 3; a++) {
        double extent = n[count == 1 ? 0 : a];
        if (count == 2 || !(extent >= 1 && extent <= 1e6) || extent != floor(extent))
            tool_error(state,
                       "--size: '%s' is neither N nor Z,Y,X, whole numbers from 1 to 1000000",
                       text);
        voxels *= extent;
        o->size[a] = (int64_t)extent;
    }
    if (voxels > 0x1p40)
        tool_error(state, "--size: '%s' has more than 2^40 voxels", text);
}

static void parse_energies(struct argp_state *state, make_options *o, const char *text)
{
    double *energies = malloc(1000 * sizeof *energies);
    if (!energies)
        argp_failure(state, EXIT_FAILURE, 0, "out of memory");
    free(o->energies);
    o->energies = energies;
    o->n_energies = parse_list(state, "--energies", text, energies, 1000);
    for (int64_t i = 0; i < o->n_energies; i++)
        if (!(energies[i] > 0 && energies[i] < 1e5))
            tool_error(state, "--energies: '%s' is not a list of energies in eV", text);
}

/* Parses --angles and rounds them to 0.0001 degrees, so that config.txt has the same numbers. */
static void parse_angles(struct argp_state *state, double angles[3], const char *text)
{
    int64_t count = parse_list(state, "--angles", text, angles, 3);
    for (int64_t i = 0; i < count; i++)
        angles[i] = round(angles[i] * 1e4) / 1e4;
    double step = angles[1], range = angles[2] - angles[0];
    if (count != 3 || !(range >= 0 && isfinite(range)) || step < 0 ||
        (step > 0 ? !(range / step < 1e5) : range != 0))
        tool_error(state,
                   "--angles: '%s' is not FIRST,STEP,LAST of at most 100000 angles, to 0.0001 "
                   "degrees",
                   text);
}

/* ---- Options --------------------------------------------------------------------------------- */

static error_t parse_shape(int key, char *text, struct argp_state *state)
{
    make_options *o = state->input;
    switch (key) {
    case KEY_RADIUS:
        o->radius = parse_real(state, "--radius", text, 1e-3, 1e6);
        return 0;
    case KEY_THICKNESS:
        o->thickness = parse_real(state, "--thickness", text, 1e-3, 1e6);
        return 0;
    case KEY_LENGTH:
        o->length = parse_real(state, "--length", text, 1e-3, 1e6);
        return 0;
    case KEY_GRAIN:
        o->grain = parse_real(state, "--grain", text, 1e-3, 1e6);
        return 0;
    case KEY_COUNT:
        o->count = tool_parse_count(state, "--count", text, 1);
        return 0;
    case KEY_MATERIALS:
        o->materials = tool_parse_count(state, "--materials", text, 1);
        if (o->materials > MAKE_MATERIALS)
            tool_error(state, "--materials: %d at most", MAKE_MATERIALS);
        return 0;
    case KEY_ALIGNMENT:
        o->alignment = parse_real(state, "--alignment", text, 0, 1);
        return 0;
    case KEY_THETA:
        o->theta = parse_real(state, "--theta", text, -360, 360);
        return 0;
    case KEY_PSI:
        o->psi = parse_real(state, "--psi", text, -360, 360);
        return 0;
    case KEY_TILT:
        o->tilt = parse_real(state, "--tilt", text, 0, 90);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void parse_kind(struct argp_state *state, make_options *o, const char *text)
{
    static const char *const names[] = {"sphere", "core-shell", "cylinders", "euler"};
    int i = 0;
    while (i < 4 && strcmp(names[i], text) != 0)
        i++;
    if (i == 4 || state->arg_num > 0)
        tool_error(state, "one of sphere, core-shell, cylinders and euler is expected, not '%s'",
                   text);
    o->kind = (make_kind)i;
}

static void check(struct argp_state *state, make_options *o)
{
    if (state->arg_num == 0)
        tool_error(state, "one of sphere, core-shell, cylinders and euler is required");
    if (!o->output)
        tool_error(state, "-o is required");
    if (o->kind == MAKE_CYLINDERS && o->size[0] == 1)
        tool_error(state, "cylinders need more than one layer of voxels; disks are 'sphere'");
    if (!o->n_energies)
        parse_energies(state, o, "285");
    if (o->alignment < 0)
        o->alignment = o->kind == MAKE_EULER ? 0.5 : 0.0;
}

error_t make_parse(int key, char *text, struct argp_state *state)
{
    make_options *o = state->input;
    switch (key) {
    case 'o':
        o->output = tool_parse_output(state, "-o", text);
        return 0;
    case 'q':
        o->quiet = 1;
        return 0;
    case KEY_FORCE:
        o->force = 1;
        return 0;
    case KEY_SIZE:
        parse_size(state, o, text);
        return 0;
    case KEY_PIXEL:
        o->voxel = parse_real(state, "--pixel", text, 1e-3, 1e4);
        return 0;
    case KEY_SAMPLES:
        o->samples = tool_parse_count(state, "--samples", text, 1);
        if (o->samples > 32)
            tool_error(state, "--samples: 32 at most");
        return 0;
    case KEY_SEED:
        o->seed = tool_parse_count(state, "--seed", text, 0);
        return 0;
    case KEY_ENERGIES:
        parse_energies(state, o, text);
        return 0;
    case KEY_ANGLES:
        parse_angles(state, o->angles, text);
        return 0;
    case ARGP_KEY_ARG:
        parse_kind(state, o, text);
        return 0;
    case ARGP_KEY_END:
        check(state, o);
        return 0;
    default:
        return parse_shape(key, text, state);
    }
}

void make_options_parse(const tool_command *self, int argc, char **argv, make_options *options)
{
    *options = (make_options){.size = {128, 128, 128},
                              .voxel = 1,
                              .radius = 20,
                              .thickness = 8,
                              .length = 40,
                              .grain = 16,
                              .alignment = -1,
                              .theta = 90,
                              .count = 1,
                              .materials = 2,
                              .samples = 4,
                              .seed = 1};
    tool_parse(&self->argp, argc, argv, 0, options);
}

void make_options_free(make_options *options)
{
    free(options->energies);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* collet-rsoxs view: one slice of a morphology as a picture.
 * Tests: tests/tools/rsoxs/test_rsoxs_view.c */
#include "commands.h"

#include "common/arguments.h"
#include "common/output.h"
#include "io/spool.h"
#include "rsoxs/picture/picture.h"

#include <collet/scatter.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <string.h>

enum { KEY_MATERIAL = 256, KEY_AXIS, KEY_AT, KEY_FIELD, KEY_FORCE };

static const char doc[] =
    "Draws one slice of a material, or writes all materials as an image file of VTK.\v"
    "If the file has vectors s, S is |s|^2 / (|s|^2 + unaligned), and theta and psi are the angles "
    "of s.\n\n"
    "Example:\n"
    "  collet-rsoxs view film.h5 --material 1 --axis y --at 20 --field S -o s.png\n"
    "  collet-rsoxs view film.h5 -o film.vti";

static const struct argp_option argp_options[] = {
    {"output", 'o', "FILE", 0, "Write this file; required: .png, or .vti for ParaView", 1},
    {"force", KEY_FORCE, NULL, 0, "Replace an existing file", 1},
    {"material", KEY_MATERIAL, "I", 0, "The material, counted from 1 (default: 1)", 2},
    {"axis", KEY_AXIS, "z|y|x", 0, "Slice across this axis (default: z)", 2},
    {"at", KEY_AT, "K", 0, "The voxel of the axis, counted from 0 (default: 0)", 2},
    {"field", KEY_FIELD, "fraction|S|theta|psi", 0,
     "Volume fraction (default), degree of alignment, or an angle of its direction", 2},
    {0},
};

typedef struct view_options {
    const char *morphology, *output;
    const char *of_slice; /* an option that is only for pictures */
    int image;            /* -o FILE.vti */
    int force;
    int64_t material, at;
    uint32_t axis, field;
} view_options;

static const struct {
    const char *name, *label;
    double most; /* the end of the range, which begins at 0 */
} fields[] = {{"fraction", "volume fraction", 1},
              {"S", "S", 1},
              {"theta", "theta (radians)", 3.14159265358979323846},
              {"psi", "psi (radians)", 6.28318530717958647692}};

static uint32_t parse_field(struct argp_state *state, const char *text)
{
    uint32_t i = 0;
    while (i < sizeof fields / sizeof *fields && strcmp(fields[i].name, text) != 0)
        i++;
    if (i == sizeof fields / sizeof *fields)
        tool_error(state, "--field: '%s' is not fraction, S, theta or psi", text);
    return i;
}

static int ends_with(const char *text, const char *end)
{
    return strlen(text) >= strlen(end) && !strcmp(text + strlen(text) - strlen(end), end);
}

static void check(struct argp_state *state, const view_options *o)
{
    if (!o->morphology || !o->output)
        tool_error(state, "%s", o->morphology ? "-o is required" : "a morphology is required");
    if (o->image && o->of_slice)
        tool_error(state, "%s is for pictures: an image file has all voxels", o->of_slice);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    view_options *o = state->input;
    for (size_t i = 0; i < sizeof argp_options / sizeof *argp_options; i++)
        if (key == argp_options[i].key && key >= KEY_MATERIAL && key != KEY_FORCE)
            o->of_slice = argp_options[i].name;
    switch (key) {
    case 'o':
        o->output = tool_parse_output(state, "-o", text);
        o->image = ends_with(text, ".vti");
        if (!o->image && !ends_with(text, ".png"))
            tool_error(state, "-o: '%s' does not end in .png or .vti", text);
        return 0;
    case KEY_FORCE:
        o->force = 1;
        return 0;
    case KEY_MATERIAL:
        o->material = tool_parse_count(state, "--material", text, 1);
        return 0;
    case KEY_AXIS:
        if (strlen(text) != 1 || !strchr("zyx", *text))
            tool_error(state, "--axis: '%s' is not z, y or x", text);
        o->axis = (uint32_t)(strchr("zyx", *text) - "zyx");
        return 0;
    case KEY_AT:
        o->at = tool_parse_count(state, "--at", text, 0);
        return 0;
    case KEY_FIELD:
        o->field = parse_field(state, text);
        return 0;
    case ARGP_KEY_ARG:
        if (o->morphology)
            tool_error(state, "one morphology is expected, not '%s' too", text);
        o->morphology = text;
        return 0;
    case ARGP_KEY_END:
        check(state, o);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Reduces angles modulo a turn, because files use -pi to pi or 0 to 2 pi. */
static void into_turn(collet_scatter_slice *slice, double turn)
{
    for (int64_t i = 0; i < slice->rows * slice->columns; i++)
        slice->values[i] -= (float)(turn * floor((double)slice->values[i] / turn));
}

static collet_status draw(const view_options *o, const collet_scatter_slice *slice,
                          collet_error *err)
{
    const char *name = strrchr(o->morphology, '/');
    char title[200];
    double a = slice->voxel;
    snprintf(title, sizeof title, "%.80s, material %" PRId64 ", %c = %" PRId64 " (%.6g nm)",
             name ? name + 1 : o->morphology, o->material, "zyx"[o->axis], o -> at,
             ((double)o->at + 0.5) * a);
    for (char *c = title; *c; c++) /* only ASCII is drawn: a name may have another encoding */
        if (*c < ' ' || *c > '~')
            *c = '?';
    const rsoxs_picture picture = {
        .title = title,
        .x = {.label = o->axis == 2 ? "y (nm)" : "x (nm)", .to = a * (double)slice->columns},
        .y = {.label = o->axis == 0 ? "y (nm)" : "z (nm)", .to = a * (double)slice->rows},
        .colour = {.label = fields[o->field].label, .to = fields[o->field].most},
        .square = 1,
        .cyclic = o->field == COLLET_SCATTER_PSI,
        .columns = slice->columns,
        .rows = slice->rows,
        .values = slice->values};
    return rsoxs_picture_write(&picture, o->output, o->force, err);
}

static int has_number(const collet_scatter_slice *slice)
{
    for (int64_t i = 0; i < slice->rows * slice->columns; i++)
        if (isfinite(slice->values[i]))
            return 1;
    return 0;
}

static collet_status draw_slice(const view_options *o, collet_error *err)
{
    collet_scatter_slice slice = {.struct_size = sizeof slice};
    collet_status status = collet_scatter_read_slice(&slice, o->morphology, o->material,
                                                     o->field, o->axis, o->at, err);
    if (status == COLLET_OK && o->field == COLLET_SCATTER_PSI)
        into_turn(&slice, fields[o->field].most);
    if (status == COLLET_OK && !has_number(&slice))
        fprintf(stderr,
                "collet-rsoxs: warning: %s: the slice has no %s of material %" PRId64
                ": all is NaN, drawn in grey\n",
                o->morphology, fields[o->field].label, o->material);
    if (status == COLLET_OK)
        status = draw(o, &slice, err);
    collet_scatter_slice_destroy(&slice);
    return status;
}

static int run(const tool_command *self, int argc, char **argv)
{
    view_options o = {.material = 1};
    collet_error err;
    tool_parse(&self->argp, argc, argv, 0, &o);
    collet_status status = io_spool_check_input(o.output, o.morphology, &err);
    if (status == COLLET_OK)
        status = io_spool_check_output(o.output, o.force, &err);
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit gives an error instead */
    if (status == COLLET_OK)
        status = o.image ? collet_scatter_write_image(o.morphology, o.output, o.force, &err)
                         : draw_slice(&o, &err);
    if (status != COLLET_OK)
        tool_complain("collet-rsoxs", err.text);
    return status == COLLET_OK ? 0 : TOOL_EXIT_FAILURE;
}

const tool_command rsoxs_view = {
    .name = "view",
    .summary = "draw one slice",
    .argp = {.options = argp_options,
             .parser = parse,
             .args_doc = "MORPHOLOGY.h5",
             .doc = doc,
             .children = tool_short_help},
    .run = run,
};

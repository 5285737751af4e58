/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_extract_missing_data.c, tests/engines/test_trajectory_doubts.c */
#include "warnings.h"

#include "files.h"
#include "trajectory/reading/parts.h"

#include "io/numerals.h"
#include "io/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char trajectory_no_times[] = "the trajectory has no times";
const char trajectory_not_requested[] = "not requested";

static COLLET_PRINTF(3, 4) collet_status
    add_warning(collet_trajectory *x, collet_error *err, const char *format, ...)
{
    char **grown = realloc(x->warnings, (x->n_warnings + 1) * sizeof *grown);
    char *text = NULL, *shown;
    va_list arguments;
    locale_t before = io_numerals_begin();

    if (grown != NULL)
        x->warnings = grown;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    io_numerals_end(before);
    va_end(arguments);
    shown = grown != NULL && text != NULL ? io_utf8_shown(text, "") : NULL;
    free(text);
    if (shown == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "warnings: out of memory");
    x->warnings[x->n_warnings++] = shown;
    return COLLET_OK;
}

#define FRAME_NAME 200 /* bytes */

/* Writes "frame 12", or for several files "frame 12 (frame 2 of b.xtc)", to `text` and returns it. */
static const char *frame_name(const collet_trajectory *x, int64_t index, char text[FRAME_NAME])
{
    /* The reading thread changes the parts until the last row, so they are read only afterwards. */
    const trajectory_part *part =
        x->computed_seconds > 0 ? trajectory_parts_find(x->inputs.trajectory, index) : NULL;

    if (part == NULL)
        snprintf(text, FRAME_NAME, "frame %lld", (long long)index);
    else
        snprintf(text, FRAME_NAME, "frame %lld (frame %lld of %.140s)", (long long)index,
                 (long long)(index - part->first), part->path);
    return text;
}

#define NAME_OF_FRAME(index) frame_name(x, (index), (char[FRAME_NAME]){0})

/* In a frame as it was read, finds the first number that is not finite in a field of a body, or of the system whose
 * drift is removed. Returns the number's atom and sets *value; -1 if all numbers are finite. */
static int64_t find_value(const trajectory_inputs *in, int64_t body,
                          const trajectory_frames *frames, const void *field, double *value)
{
    const int64_t *member = in->bodies.members + in->bodies.offsets[body];
    const int64_t *end = in->bodies.members + in->bodies.offsets[body + 1];
    int64_t n;
    const int64_t *atoms = trajectory_arrangement_atoms(in->arrangement, &n);

    for (int64_t i = 0; member < end && i < n; i++) {
        if (atoms[i] != *member)
            continue;
        for (int k = 0; k < 3; k++) {
            *value = trajectory_frames_value(frames, field, 3 * i + k);
            if (!isfinite(*value))
                return *member;
        }
        member++;
    }
    /* The drift of the system is removed from every body, even from bodies without atoms of the system. */
    for (int64_t i = 0; in->system.n > 0 && i < 3 * n; i++) {
        *value = trajectory_frames_value(frames, field, i);
        if (!isfinite(*value))
            return atoms[i / 3];
    }
    return -1;
}

/* Finds the atom that makes a row (of frames x bodies) not finite. Opens the trajectory again, because the first reader
 * is at its end, reads the frame and sets *number to its number. Returns -1 also if reading fails; then the warning
 * names no atom. */
static int64_t find_atom(const collet_trajectory *x, int field, int64_t row, int64_t *number,
                         double *value)
{
    const trajectory_inputs *in = &x->inputs;
    int velocities = (x->has & TRAJECTORY_VELOCITIES) != 0,
        forces = (x->has & TRAJECTORY_FORCES) != 0;
    int64_t body = row % in->bodies.n, frame = row / in->bodies.n;
    int64_t before = x->settings.missing == COLLET_TRAJECTORY_MISSING_SKIP ? frame : 0;
    trajectory_reader *trajectory = NULL;
    trajectory_frames *frames = NULL;
    collet_status status;
    int64_t atom = -1, n;
    const int64_t *atoms = trajectory_arrangement_atoms(in->arrangement, &n);

    *number = x->settings.start + (frame - before) * x->settings.step;
    status = trajectory_files_open_at(&x->settings, atoms, n, *number, &trajectory, NULL);
    if (status == COLLET_OK)
        status = trajectory_frames_create(trajectory_reader_selected(trajectory), 1,
                                          in->info->dtype, velocities, forces, &frames, NULL);
    for (int64_t i = 0; status == COLLET_OK && i <= before; i++)
        status = trajectory_reader_read(trajectory, frames, NULL);
    if (status == COLLET_OK && frames->n_frames == 1) {
        *number = frames->indices[0];
        atom = find_value(in, body, frames,
                          field == TRAJECTORY_OF_VELOCITIES ? frames->velocities
                          : field == TRAJECTORY_OF_FORCES   ? frames->forces
                                                            : frames->positions,
                          value);
    }
    trajectory_frames_free(frames);
    trajectory_reader_close(trajectory);
    return atom;
}

/* Reports the treatment of frames that lack a field. */
static collet_status warn_gaps(collet_trajectory *x, collet_error *err)
{
    const trajectory_gaps *gaps = &x->notes.gaps;

    if (gaps->frames == 0)
        return COLLET_OK;
    return add_warning(x, err, "%s has no %s%s (such frames: %lld)", NAME_OF_FRAME(gaps->first),
                       trajectory_fields_name(gaps->fields),
                       x->settings.missing == COLLET_TRAJECTORY_MISSING_SKIP
                           ? ": frames without a field that a key needs are left out"
                           : ": keys that need a field are NaN in frames without it",
                       (long long)gaps->frames);
}

static collet_status warn_empty(collet_trajectory *x, collet_error *err)
{
    char of[128] = "";

    if (x->notes.n_empty == 0)
        return COLLET_OK;
    if (x->inputs.bodies.labels != NULL)
        snprintf(of, sizeof of, " of body '%.100s'", x->inputs.bodies.labels[x->notes.empty_body]);
    return add_warning(
        x, err,
        "frame %lld: the selection has no atom%s with a mass, so that the results are "
        "NaN (such %s: %lld)",
        (long long)x->notes.first_empty, of, *of ? "rows of bodies" : "frames",
        (long long)x->notes.n_empty);
}

/* Warns if a body has only some of its atoms in a frame: a selection by distance chooses single atoms, while bodies may
 * be residues. */
static collet_status warn_partial(collet_trajectory *x, collet_error *err)
{
    if (x->notes.n_partial == 0 || x->inputs.bodies.labels == NULL)
        return COLLET_OK;
    return add_warning(x, err,
                       "frame %lld: only some atoms of body '%.100s' are selected; its results are "
                       "computed from these atoms (such rows of bodies: %lld); for whole residues "
                       "write 'same residue as (...)'",
                       (long long)x->notes.first_partial,
                       x->inputs.bodies.labels[x->notes.partial_body],
                       (long long)x->notes.n_partial);
}

/* 1 if a body has at least two atoms with mass. */
static int has_orientation(const trajectory_inputs *in, int64_t body)
{
    int64_t n = 0;

    for (int64_t m = in->bodies.offsets[body]; n < 2 && m < in->bodies.offsets[body + 1]; m++)
        n += in->masses[m] > 0;
    return n == 2;
}

static int computes_axes(const collet_trajectory *x)
{
    for (size_t i = 0; i < trajectory_output_count; i++) {
        int32_t buffer = trajectory_outputs[i].buffer;

        if (x->left_out[i] == NULL &&
            (buffer == TRAJECTORY_AXES || buffer == TRAJECTORY_EULER || buffer == TRAJECTORY_TILT))
            return 1;
    }
    return 0;
}

static collet_status warn_points(collet_trajectory *x, collet_error *err)
{
    const trajectory_inputs *in = &x->inputs;
    int64_t n = 0, first = 0;
    char name[128] = "the selection";

    if (!computes_axes(x))
        return COLLET_OK;
    for (int64_t b = 0; b < in->bodies.n; b++)
        if (!has_orientation(in, b) && n++ == 0)
            first = b;
    if (n == 0)
        return COLLET_OK;
    if (in->bodies.labels != NULL)
        snprintf(name, sizeof name, "body '%.100s'", in->bodies.labels[first]);
    return add_warning(x, err,
                       "%s has one atom with a mass, and so no orientation: its axes are the "
                       "identity, its angles 0 (such bodies: %lld)",
                       name, (long long)n);
}

/* Warns if no frame of a file is used, because later files have all its times. */
static collet_status warn_unused_file(collet_trajectory *x, collet_error *err)
{
    int64_t n;
    const trajectory_part *parts = trajectory_parts_get(x->inputs.trajectory, &n);

    for (int64_t i = 0; i < n; i++) {
        collet_status status;

        if (parts[i].n_frames > 0 || !parts[i].was_cut)
            continue;
        status =
            add_warning(x, err,
                        "%s: no frame of this file is used: another file begins at %.7g ps too; "
                        "leave one of them out",
                        parts[i].path, parts[i].end);
        if (status != COLLET_OK)
            return status;
    }
    return COLLET_OK;
}

/* The last time of the files after file i, as far as these files can be read. */
static double last_after(const trajectory_part *parts, int64_t n, int64_t i)
{
    double last = parts[i].end;

    for (int64_t k = i + 1; k < n; k++) {
        double time;
        if (trajectory_parts_last_time(parts[k].path, NULL, &time, NULL) == COLLET_OK)
            last = fmax(last, time);
    }
    return last;
}

/* Warns about frames that are left out because a later file begins before them, although no later file has these
 * frames. */
static collet_status warn_lost_frames(collet_trajectory *x, collet_error *err)
{
    int64_t n;
    const trajectory_part *parts = trajectory_parts_get(x->inputs.trajectory, &n);
    collet_status status = COLLET_OK;

    for (int64_t i = 0; status == COLLET_OK && i < n; i++) {
        if (!parts[i].was_cut || !(parts[i].last > parts[i].end))
            continue;
        double last = last_after(parts, n, i);
        if (parts[i].last > last + 1.2e-7 * fabs(last)) /* more than the rounding error of single precision */
            status = add_warning(x, err,
                                 "%s: its frames after %.7g ps, up to %.7g ps, are not used and no "
                                 "other file has them: a later file begins at %.7g ps; leave that "
                                 "file out, or compute the files apart",
                                 parts[i].path, last, parts[i].last, parts[i].end);
    }
    return status;
}

/* 1 if a key that could be computed with these fields is left out because they are missing. */
static int left_out_for(const collet_trajectory *x, uint32_t fields)
{
    uint32_t needs = (fields & TRAJECTORY_HAS_VELOCITIES ? TRAJECTORY_VELOCITIES : 0) |
                     (fields & TRAJECTORY_HAS_FORCES ? TRAJECTORY_FORCES : 0);

    for (size_t i = 0; i < trajectory_output_count; i++)
        if (x->left_out[i] != NULL && x->left_out[i] != trajectory_not_requested &&
            (trajectory_outputs[i].needs & needs))
            return 1;
    return 0;
}

static collet_status warn_unused(collet_trajectory *x, collet_error *err)
{
    const trajectory_gaps *gaps = &x->notes.gaps;

    if (gaps->unused == 0 || !left_out_for(x, gaps->unused))
        return COLLET_OK;
    return add_warning(
        x, err,
        "%s has %s, the first frame has none: keys that need them are left out, because the first "
        "frame decides; write a file that begins where they do (gmx trjconv -b TIME)",
        NAME_OF_FRAME(gaps->first_unused), trajectory_fields_name(gaps->unused));
}

static collet_status warn_not_finite(collet_trajectory *x, int field, collet_error *err)
{
    static const char *const names[TRAJECTORY_FIELDS] = {"position", "velocity", "force"};
    static const char *const results[TRAJECTORY_FIELDS] = {
        "all its results", "L, omega, dL/dt and the energies", "tau"};
    const trajectory_topology *topology = x->inputs.topology;
    int64_t count = x->checks.n_bad[field], number, atom;
    double value = 0;
    char more[64] = "", of[128] = "";

    if (x->settings.missing == COLLET_TRAJECTORY_MISSING_NAN)
        count -= x->notes.gaps.lacks[field] * x->inputs.bodies.n;
    if (field == TRAJECTORY_OF_POSITIONS)
        count -= x->notes.n_empty;
    if (count <= 0)
        return COLLET_OK;
    atom = find_atom(x, field, x->checks.first_bad[field], &number, &value);
    if (x->inputs.bodies.labels != NULL)
        snprintf(of, sizeof of, " of %.100s",
                 x->inputs.bodies.labels[x->checks.first_bad[field] % x->inputs.bodies.n]);
    if (count > 1)
        snprintf(more, sizeof more, "; %lld %s are affected", (long long)count,
                 *of ? "rows of bodies" : "frames");
    if (atom < 0)
        return add_warning(x, err,
                           "%s: %s%s are not finite, because a %s is not or a sum overflows%s",
                           NAME_OF_FRAME(number), results[field], of, names[field], more);
    return add_warning(
        x, err,
        "%s: the %s of atom %lld (%s of %s %d, counted from 0) is %g, so %s%s are not "
        "finite%s",
        NAME_OF_FRAME(number), names[field], (long long)atom, topology->names[atom],
        topology->residue_names[atom], (int)topology->residue_ids[atom], value, results[field], of,
        more);
}

static int computes_derivative(const collet_trajectory *x)
{
    for (size_t i = 0; i < trajectory_output_count; i++)
        if (trajectory_outputs[i].buffer >= TRAJECTORY_BUFFER_OF(TRAJECTORY_DLDT, 0) &&
            x->left_out[i] == NULL)
            return 1;
    return 0;
}

/* 1 if a key is left out because the trajectory has no times. */
static int misses_times(const collet_trajectory *x)
{
    for (size_t i = 0; i < trajectory_output_count; i++)
        if (x->left_out[i] == trajectory_no_times)
            return 1;
    return 0;
}

static collet_status warn_no_times(collet_trajectory *x, collet_error *err)
{
    const char *path = x->settings.trajectory;

    if (misses_times(x))
        return add_warning(
            x, err,
            strcmp(x->inputs.info->format, "gro") == 0
                ? "%s: the title of the first frame has no time (such as 't= 1.0', in ps): "
                  "time_ps and dL/dt are left out; add times, or choose other keys"
                : "%s has no times: time_ps and dL/dt are left out",
            path);
    if (x->notes.n_timed == x->notes.n_frames ||
        ((x->has & TRAJECTORY_TIMES) == 0 && x->notes.n_bad_times == 0))
        return COLLET_OK;
    return add_warning(x, err,
                       "%s has no time%s (such frames: %lld): its time_ps is NaN, and so "
                       "is dL/dt of the frame and its neighbours",
                       NAME_OF_FRAME(x->notes.first_untimed),
                       x->notes.n_bad_times > 0 ? " that is a finite number" : "",
                       (long long)(x->notes.n_frames - x->notes.n_timed));
}

static collet_status warn_times(collet_trajectory *x, collet_error *err)
{
    if (x->notes.times_not_rising == 0)
        return COLLET_OK;
    return add_warning(
        x, err,
        "%s at %.7g ps is not later than the frame before it, at %.7g ps (such frames: %lld)%s",
        NAME_OF_FRAME(x->notes.first_not_rising), x->notes.not_rising[1], x->notes.not_rising[0],
        (long long)x->notes.times_not_rising,
        computes_derivative(x) ? ": dL/dt is wrong at these frames and their neighbours" : "");
}

/* Warns if only some atoms have velocities: such a file was probably edited by hand. The topology file is checked,
 * too, although its velocities are not used. */
static collet_status warn_lacking(collet_trajectory *x, collet_error *err)
{
    const trajectory_topology *topology = x->inputs.topology;
    int of_trajectory = x->inputs.info->lacking >= 0;
    int64_t atom = of_trajectory ? x->inputs.info->lacking : topology->lacking;

    if (atom < 0)
        return COLLET_OK;
    return add_warning(
        x, err,
        "%s: atom %lld (%s of %s %d, counted from 0) has no velocity, but other atoms have: the "
        "velocities of this file are not used",
        of_trajectory ? x->settings.trajectory : x->settings.topology, (long long)atom,
        topology->names[atom], topology->residue_names[atom], (int)topology->residue_ids[atom]);
}

static collet_status warn_note(collet_trajectory *x, collet_error *err)
{
    const char *note = x->inputs.info->note;

    return note == NULL ? COLLET_OK : add_warning(x, err, "%s: %s", x->settings.trajectory, note);
}

static collet_status warn_locations(collet_trajectory *x, collet_error *err)
{
    int64_t count = x->inputs.topology->left_out;

    if (count == 0)
        return COLLET_OK;
    return add_warning(x, err,
                       "%s: %lld atoms in alternative locations are left out: of each residue the "
                       "first location counts",
                       x->settings.topology, (long long)count);
}

static collet_status warn_bonds(collet_trajectory *x, collet_error *err)
{
    int64_t count = x->inputs.topology->bonds_left_out;

    if (count == 0)
        return COLLET_OK;
    return add_warning(
        x, err,
        "%s: %lld bonds are not used, because several atoms have the serial number, or "
        "the chain, residue and name, by which the bonds name them, or numbers of "
        "CONECT touch so that their ends are unknown",
        x->settings.topology, (long long)count);
}

static collet_status warn_elements(collet_trajectory *x, collet_error *err)
{
    const trajectory_topology *topology = x->inputs.topology;
    const trajectory_composition *found = &x->inputs.composition;
    int64_t atom = found->doubtful_atom;

    if (found->doubtful == 0)
        return COLLET_OK;
    return add_warning(
        x, err,
        "masses: in residues of more than %d atoms the names of some may or may not mean a metal "
        "(such atoms: %lld): atom %lld (%s of %s %d, counted from 0) was taken for %s; if that is "
        "wrong, give the masses (--masses FILE)",
        TRAJECTORY_MANY_ATOMS, (long long)found->doubtful, (long long)atom, topology->names[atom],
        topology->residue_names[atom], (int)topology->residue_ids[atom], found->taken_for->symbol);
}

/* ---- The periodic box -------------------------------------------------------------------- */

/* Warns about molecules that the box cuts, or that were made whole without known bonds and are longer than half the
 * box. */
static collet_status warn_cut(collet_trajectory *x, collet_error *err)
{
    const trajectory_topology *topology = x->inputs.topology;
    const trajectory_cut *cut = &x->notes.arranged.cut;
    char other[64] = "its atoms";
    int whole = x->settings.pbc != COLLET_TRAJECTORY_PBC_NONE && x->notes.arranged.known != 0;

    if (cut->count == 0)
        return COLLET_OK;
    if (cut->next >= 0)
        snprintf(other, sizeof other, "it and %s %d", topology->residue_names[cut->next],
                 (int)topology->residue_ids[cut->next]);
    return add_warning(
        x, err,
        "%s: %s %d: %s are %.3g box lengths apart along the %c axis of the box, more than "
        "half (such molecules: %lld)%s",
        NAME_OF_FRAME(x->notes.arranged.frame), topology->residue_names[cut->atom],
        (int)topology->residue_ids[cut->atom], other, cut->distance, "xyz"[cut->axis],
        (long long)cut -> count,
        whole
            ? ": it was made whole by joining the nearest atoms, because its bonds are not known; "
              "if it is not so long, give a topology with bonds"
        : x->notes.arranged.known != 0
            ? ": the periodic box cuts this molecule, or it is longer; the results of a cut "
              "molecule are wrong: make molecules whole (--pbc whole, the default)"
            : ": the periodic box cuts a molecule, or the atoms are spread; the results of a cut "
              "molecule are wrong, and without bonds or residues none is made whole");
}

static collet_status warn_left(collet_trajectory *x, collet_error *err)
{
    static const char *const reasons[] = {
        [TRAJECTORY_ENDLESS] =
            "is bonded to its own image through the periodic box, so that it has "
            "no end: it stays as in the file, and its centre of mass, radius of "
            "gyration, inertia and rmsd have no meaning",
        [TRAJECTORY_UNJOINED] = "has too many atoms without known bonds to be made whole: it stays "
                                "as in the file; give a topology with bonds",
    };
    const trajectory_topology *topology = x->inputs.topology;

    for (int why = TRAJECTORY_ENDLESS; why <= TRAJECTORY_UNJOINED; why++) {
        int64_t atom = x->notes.arranged.left_atom[why];
        collet_status status = COLLET_OK;

        if (x->notes.arranged.left[why] > 0)
            status = add_warning(x, err, "the molecule of %s %d %s (such molecules: %lld)",
                                 topology->residue_names[atom], (int)topology->residue_ids[atom],
                                 reasons[why], (long long)x->notes.arranged.left[why]);
        if (status != COLLET_OK)
            return status;
    }
    return COLLET_OK;
}

static collet_status warn_apart(collet_trajectory *x, collet_error *err)
{
    static const char *const advice[] = {
        [COLLET_TRAJECTORY_PBC_WHOLE] =
            "follow the molecules from a frame in which they are together "
            "(--pbc nojump), or put them together (--pbc center)",
        [COLLET_TRAJECTORY_PBC_CENTER] =
            "follow the molecules from a frame in which they are together (--pbc nojump)",
        [COLLET_TRAJECTORY_PBC_NOJUMP] =
            "begin with a frame in which they are together (--start), or "
            "put them together (--pbc center)",
    };
    const trajectory_bodies *bodies = &x->inputs.bodies;

    if (x->notes.n_apart == 0)
        return COLLET_OK;
    return add_warning(
        x, err,
        "%s: molecules of %s are nearer to each other through the boundary of the box (such "
        "frames: %lld): if they belong together, rg, inertia, rmsd and the centre of mass are "
        "wrong: %s",
        NAME_OF_FRAME(x->notes.first_apart),
        bodies->labels != NULL ? bodies->labels[x->notes.apart_body] : "the selection",
        (long long)x->notes.n_apart, advice[x->settings.pbc]);
}

static collet_status warn_clash(collet_trajectory *x, collet_error *err)
{
    const trajectory_topology *topology = x->inputs.topology;
    const int64_t *atoms = x->notes.clash;

    if (x->notes.n_clashes == 0 || x->notes.boxed == 0 ||
        x->settings.pbc == COLLET_TRAJECTORY_PBC_NONE)
        return COLLET_OK;
    return add_warning(x, err,
                       "%s %d and %s %d have atoms nearer to each other than bonded ones in the "
                       "first frame (such pairs of residues: %lld): it is unknown whether they are "
                       "bonded, and they are not joined where the box cuts between them: give a "
                       "topology with bonds",
                       topology->residue_names[atoms[0]], (int)topology->residue_ids[atoms[0]],
                       topology->residue_names[atoms[1]], (int)topology->residue_ids[atoms[1]],
                       (long long)x->notes.n_clashes);
}

static collet_status warn_far(collet_trajectory *x, collet_error *err)
{
    const trajectory_topology *topology = x->inputs.topology;
    const trajectory_arrangement_notes *notes = &x->notes.arranged;

    if (notes->far == 0)
        return COLLET_OK;
    return add_warning(
        x, err,
        "%s: the molecule of %s %d is about half a box from where it was in the frame before (such "
        "steps: %lld): --pbc nojump follows the shortest path; if the molecule took another path, the "
        "result is wrong by whole boxes: read all frames, or frames that are closer in time",
        NAME_OF_FRAME(notes->far_frame), topology->residue_names[notes->far_atom],
        (int)topology->residue_ids[notes->far_atom], (long long)notes->far);
}

static collet_status warn_rotation(collet_trajectory *x, collet_error *err)
{
    int64_t molecules = trajectory_arrangement_system(x->inputs.arrangement);

    if (!(x->settings.drift & COLLET_TRAJECTORY_DRIFT_ANGULAR) || x->notes.boxed == 0 ||
        x->settings.pbc == COLLET_TRAJECTORY_PBC_NONE || molecules < 2 ||
        !(x->has & TRAJECTORY_VELOCITIES))
        return COLLET_OK;
    return add_warning(
        x, err,
        "the rotation of %lld molecules in a periodic box was removed (frames with a box: %lld): in "
        "a box angular momentum is not conserved, and their rotation depends on the images at which "
        "they are, so velocities are wrong unless the molecules are together and far from the "
        "boundary: choose one molecule (--drift-of), --drift linear, or --pbc none for a simulation "
        "without periods",
        (long long)molecules, (long long)x->notes.boxed);
}

static collet_status warn_boxless(collet_trajectory *x, collet_error *err)
{
    int64_t count = x->notes.n_frames - x->notes.boxed;
    uint32_t pbc = x->settings.pbc;

    if (count == 0 || pbc == COLLET_TRAJECTORY_PBC_NONE ||
        (count == x->notes.n_frames && pbc == COLLET_TRAJECTORY_PBC_WHOLE))
        return COLLET_OK;
    return add_warning(x, err,
                       "%lld of %lld frames have no periodic box: in them positions are as in the "
                       "file, and molecules that were cut remain so",
                       (long long)count, (long long)x->notes.n_frames);
}

typedef collet_status warn_fn(collet_trajectory *, collet_error *);

/* The warnings about bodies that may not be in one piece. */
static warn_fn *const of_pieces[] = {warn_cut, warn_left, warn_apart, warn_clash, warn_far, warn_boxless};

collet_status trajectory_warnings_refuse(collet_trajectory *x, collet_error *err)
{
    collet_status status = COLLET_OK;

    for (size_t i = 0; x->settings.strict && status == COLLET_OK && i < sizeof of_pieces / sizeof *of_pieces;
         i++) {
        status = of_pieces[i](x, err);
        if (status == COLLET_OK && x->n_warnings > 0)
            status = collet_fail(err, COLLET_INVALID, "strict: %s", x->warnings[0]);
    }
    return status;
}

/* ---- The end ----------------------------------------------------------------------------- */

static collet_status warn_singular(collet_trajectory *x, collet_error *err)
{
    if (x->ran.singular == 0)
        return COLLET_OK;
    return add_warning(
        x, err,
        "omega is a least-squares solution where the inertia tensor is singular (such "
        "%s: %lld)",
        x->inputs.bodies.labels != NULL ? "rows of bodies" : "frames", (long long)x->ran.singular);
}

static collet_status warn_devices(collet_trajectory *x, collet_error *err)
{
    collet_device_share share = {.struct_size = sizeof share};
    collet_status status = COLLET_OK;

    for (size_t i = 0; status == COLLET_OK && x->lanes != NULL &&
                       trajectory_lanes_share(x->lanes, &share, i) == COLLET_OK;
         i++)
        if (share.error != NULL)
            status = add_warning(x, err, "the device %s failed; the other devices computed its part: %s",
                                 share.device, share.error);
    return status;
}

static collet_status make(collet_trajectory *x, warn_fn *const *warn, size_t n, collet_error *err)
{
    collet_status status = COLLET_OK;

    for (size_t i = 0; status == COLLET_OK && i < n; i++)
        status = warn[i](x, err);
    return status;
}

collet_status trajectory_warnings_make(collet_trajectory *x, collet_error *err)
{
    static warn_fn *const before[] = {warn_empty, warn_partial, warn_unused_file, warn_lost_frames,
                                      warn_gaps,  warn_unused,  warn_elements};
    static warn_fn *const after[] = {warn_rotation, warn_lacking, warn_locations, warn_note,   warn_bonds,
                                     warn_no_times, warn_times,   warn_singular,  warn_points, warn_devices};
    collet_status status = COLLET_OK;

    for (int field = 0; status == COLLET_OK && field < TRAJECTORY_FIELDS; field++)
        status = warn_not_finite(x, field, err);
    if (status == COLLET_OK)
        status = make(x, before, sizeof before / sizeof *before, err);
    if (status == COLLET_OK)
        status = make(x, of_pieces, sizeof of_pieces / sizeof *of_pieces, err);
    if (status == COLLET_OK)
        status = make(x, after, sizeof after / sizeof *after, err);
    if (status == COLLET_OK && x->notes.truncated)
        status = add_warning(x, err, "%s", x->notes.truncation.text);
    return status;
}

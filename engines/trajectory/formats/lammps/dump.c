/* SPDX-License-Identifier: Apache-2.0 */
/* dump.c - text dumps of LAMMPS, in the styles atom and custom.
 * Tests: tests/engines/test_io_lammps.c, tests/fuzz/fuzz_trajectory.c */
#include "trajectory/formats/formats.h"
#include "trajectory/formats/lammps/frame.h"
#include "trajectory/formats/units.h"

#include "io/decimal.h"

#include <stdlib.h>
#include <string.h>

/* Systems of units of LAMMPS: units of length, time, velocity and force. */
static const struct {
    const char *name, *units[4];
} systems[] = {
    {"real", {"Angstrom", "fs", "Angstrom/fs", "kcal/mol/Angstrom"}},
    {"metal", {"Angstrom", "ps", "Angstrom/ps", "eV/Angstrom"}},
};

typedef struct dump {
    int system;        /* index in `systems`; -1: the file names none */
    double factors[4]; /* by trajectory_measure */
    int64_t *ids;      /* n_atoms: ids in the first frame, ascending; NULL: atoms have no ids */
    uint8_t *seen;     /* n_atoms: 1 for each atom that was already read in this frame */
    int64_t *places;   /* n_atoms: index of each atom among the selected atoms; -1: not selected */
    const trajectory_atom_run *runs; /* the runs for which `places` was made */

    trajectory_lammps_frame frame; /* the frame whose head was read last */
    int64_t atoms_offset;
    int64_t atoms_line;
} dump;

static int recognise(const uint8_t *bytes, size_t n)
{
    return n >= 6 && memcmp(bytes, "ITEM: ", 6) == 0;
}

/* ---- Lines of atoms ---------------------------------------------------------------------- */

/* Reads the columns of the next line that have a role. A value that is not requested is not parsed. If `values` is
 * NULL, reads only the id. */
static collet_status read_atom(io_lines *lines, const trajectory_lammps_frame *frame,
                               const int *wanted, double values[TRAJECTORY_LAMMPS_ID], int64_t *id,
                               collet_error *err)
{
    trajectory_word words[TRAJECTORY_LAMMPS_COLUMNS];
    const char *text;
    size_t length;

    collet_status status = io_lines_next(lines, &text, &length, err);
    if (status != COLLET_OK)
        return status;
    if (!text)
        return collet_fail(err, COLLET_IO, "%s: the file was changed while it was read; run again",
                           lines->source->path);
    size_t n = trajectory_text_split(text, length, words, (size_t)frame->n_columns);
    if (n < (size_t)frame->n_columns)
        return trajectory_text_fail(lines, err, "the line has %zu columns, not %d", n,
                                    frame->n_columns);
    for (size_t i = 0; i < n; i++) {
        trajectory_word word = words[i];
        int role = frame->roles[i], parsed = 1;

        if (role == TRAJECTORY_LAMMPS_ID)
            parsed = io_decimal_parse_integer(word.text, word.length, id);
        else if (role != TRAJECTORY_LAMMPS_OTHER && values && wanted[role / 3])
            parsed = io_decimal_parse(word.text, word.length, &values[role]);
        if (!parsed)
            return trajectory_text_fail(lines, err, "column %zu is not a number: '%.*s'", i + 1,
                                        (int)(word.length < 40 ? word.length : 40), word.text);
    }
    return COLLET_OK;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Returns the index of the atom with this id; -1: there is none. First tries index id - 1, because ids usually are 1,
 * 2, 3 and so on. */
static int64_t index_of(const dump *s, int64_t n_atoms, int64_t id)
{
    if (id >= 1 && id <= n_atoms && s->ids[id - 1] == id)
        return id - 1;
    const int64_t *found = bsearch(&id, s->ids, (size_t)n_atoms, sizeof id, compare);
    return found ? found - s->ids : -1;
}

/* ---- Heads ------------------------------------------------------------------------------- */

static collet_status no_memory(const trajectory_reader *trajectory, int64_t n_atoms,
                               collet_error *err)
{
    return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for %lld atoms",
                       trajectory->source.path, (long long)n_atoms);
}

static collet_status choose_units(trajectory_reader *trajectory, const char *name,
                                  collet_error *err)
{
    dump *s = trajectory->state;

    s->system = (int)(sizeof systems / sizeof *systems) - 1;
    while (s->system >= 0 && strcmp(systems[s->system].name, name) != 0)
        s->system--;
    if (s->system < 0 && *name)
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err,
                                      "the file has 'units %s'; only real and metal are read: "
                                      "convert it",
                                      name);
    for (int i = 0; i < 4; i++)
        trajectory_unit_parse(systems[s->system < 0 ? 0 : s->system].units[i],
                              (trajectory_measure)i, &s->factors[i]);
    return COLLET_OK;
}

/* If the file names no units, only lengths are certain: `units real` and `units metal` have the same unit of length. */
static void note_units(trajectory_reader *trajectory)
{
    const dump *s = trajectory->state;

    if (s->system < 0)
        trajectory->info.note =
            "the dump does not name its units, so that its times, velocities and forces are not "
            "used, and lengths are taken for Angstrom: let LAMMPS write units and times "
            "(dump_modify ID units yes time yes), or put the lines 'ITEM: UNITS' and 'real' or "
            "'metal' before the first line";
    else if (!s->frame.has_time)
        trajectory->info.note = "the dump has steps, but no times: let LAMMPS write them "
                                "(dump_modify ID units yes time yes)";
}

/* Decides if the last line, which has no line end, lacks a part of its last number. Even a number with fewer decimals
 * than the other numbers may be complete, because LAMMPS writes no zeros at the end of a number. */
static trajectory_text_ending judge(const trajectory_lammps_frame *frame, const char *text,
                                    size_t length)
{
    trajectory_word words[TRAJECTORY_LAMMPS_COLUMNS];
    size_t n = (size_t)frame->n_columns, last = n < 3 ? n : 3;

    if (trajectory_text_split(text, length, words, TRAJECTORY_LAMMPS_COLUMNS) < n)
        return TRAJECTORY_TEXT_CUT;
    trajectory_text_ending ending = trajectory_text_judge(words + n - last, last);
    return ending == TRAJECTORY_TEXT_CUT ? TRAJECTORY_TEXT_UNCERTAIN : ending;
}

/* Reads the lines of the atoms; in the first frame keeps their ids. */
static collet_status scan_atoms(trajectory_reader *trajectory, io_lines *lines, int64_t *ids,
                                collet_error *err)
{
    const dump *s = trajectory->state;

    for (int64_t i = 0; i < s->frame.n_atoms; i++) {
        const char *text;
        size_t length;
        io_lines again = *lines;

        collet_status status = io_lines_next(lines, &text, &length, err);
        if (status == COLLET_OK && (!text || (lines->cut && i + 1 < s->frame.n_atoms)))
            return trajectory_reader_truncated(trajectory, err);
        if (status == COLLET_OK && lines->cut)
            status = trajectory_text_finish(trajectory, judge(&s->frame, text, length), err);
        if (status == COLLET_OK && ids)
            status = read_atom(&again, &s->frame, NULL, NULL, &ids[i], err);
        if (status != COLLET_OK)
            return status;
    }
    return COLLET_OK;
}

/* Sorts the ids of the first frame. */
static collet_status take_ids(trajectory_reader *trajectory, int64_t *ids, collet_error *err)
{
    dump *s = trajectory->state;
    int64_t n = s->frame.n_atoms;

    qsort(ids, (size_t)n, sizeof *ids, compare);
    for (int64_t i = 1; i < n; i++)
        if (ids[i] == ids[i - 1])
            return trajectory_reader_fail(trajectory, COLLET_FORMAT, err,
                                          "two atoms have the id %lld", (long long)ids[i]);
    return COLLET_OK;
}

/* Allocates the arrays of atoms, but not for more atoms than the file can hold: the line of an atom has at least two
 * bytes. */
static collet_status open_atoms(trajectory_reader *trajectory, io_lines *lines, collet_error *err)
{
    dump *s = trajectory->state;
    int64_t n = s->frame.n_atoms;

    if (n > trajectory->source.size - lines->offset)
        return trajectory_reader_truncated(trajectory, err);
    s->seen = malloc((size_t)n);
    s->places = malloc((size_t)n * sizeof *s->places);
    if (s->frame.fields & TRAJECTORY_LAMMPS_HAS_ID)
        s->ids = malloc((size_t)n * sizeof *s->ids);
    if (!s->seen || !s->places || (s->frame.fields & TRAJECTORY_LAMMPS_HAS_ID && !s->ids))
        return no_memory(trajectory, n, err);
    collet_status status = scan_atoms(trajectory, lines, s->ids, err);
    return status == COLLET_OK && s->ids ? take_ids(trajectory, s->ids, err) : status;
}

static collet_status scan_frame(trajectory_reader *trajectory, io_lines *lines, collet_error *err)
{
    dump *s = trajectory->state;
    int is_first = !s->seen, ends;

    collet_status status = trajectory_lammps_read_head(lines, &s->frame, &ends, err);
    if (status == COLLET_OK && ends)
        return trajectory_reader_truncated(trajectory, err);
    if (status == COLLET_OK && (is_first || *s->frame.units))
        status = choose_units(trajectory, s->frame.units, err);
    if (status != COLLET_OK)
        return status;
    s->atoms_offset = lines->offset;
    s->atoms_line = lines->number;
    return is_first ? open_atoms(trajectory, lines, err) : scan_atoms(trajectory, lines, NULL, err);
}

static collet_status read_head(trajectory_reader *trajectory, trajectory_frame_head *head,
                               collet_error *err)
{
    io_lines lines = trajectory_text_lines(trajectory, trajectory->offset, trajectory->line);
    dump *s = trajectory->state;
    const trajectory_lammps_frame *frame = &s->frame;
    int at_end;

    collet_status status = scan_frame(trajectory, &lines, err);
    if (status == COLLET_OK)
        status = io_lines_at_end(&lines, &at_end, err);
    if (status != COLLET_OK)
        return trajectory_text_explain(trajectory, &lines, status, err);
    if (trajectory->index == 0)
        note_units(trajectory);
    head->end = at_end ? trajectory->source.size : lines.offset;
    head->end_line = lines.number;
    head->carries = *frame->units != '\0';
    head->n_atoms = frame->n_atoms;
    head->dtype = COLLET_F64;
    head->step = frame->step;
    head->has_time = frame->has_time && s->system >= 0;
    head->time = head->has_time ? frame->time * s->factors[TRAJECTORY_TIME] : 0;
    for (int i = 0; i < 9; i++)
        head->box[i] =
            frame->is_periodic[i / 3] ? frame->box[i] * s->factors[TRAJECTORY_LENGTH] : 0;
    head->positions = frame->fields & TRAJECTORY_HAS_POSITIONS ? s->atoms_offset : 0;
    if (s->system < 0)
        return COLLET_OK;
    head->velocities = frame->fields & TRAJECTORY_HAS_VELOCITIES ? s->atoms_offset : 0;
    head->forces = frame->fields & TRAJECTORY_HAS_FORCES ? s->atoms_offset : 0;
    return COLLET_OK;
}

/* ---- Bodies ------------------------------------------------------------------------------ */

/* Finds the index of each atom among the selected atoms. */
static void make_places(trajectory_reader *trajectory)
{
    dump *s = trajectory->state;
    int64_t place = 0;

    memset(s->places, 0xff, (size_t)s->frame.n_atoms * sizeof *s->places);
    for (int64_t r = 0; r < trajectory->n_runs; r++)
        for (int64_t i = 0; i < trajectory->runs[r].count; i++)
            s->places[trajectory->runs[r].first + i] = place++;
    s->runs = trajectory->runs;
}

/* Finds the atom of the line that was read last. Fails if this frame had a line of the same atom before. */
static collet_status find_atom(trajectory_reader *trajectory, const io_lines *lines, int64_t line,
                               int64_t id, int64_t *atom, collet_error *err)
{
    dump *s = trajectory->state;

    *atom = s->ids ? index_of(s, s->frame.n_atoms, id) : line;
    if (*atom < 0)
        return trajectory_text_fail(lines, err, "the atom with id %lld is not in the first frame",
                                    (long long)id);
    if (s->seen[*atom])
        return trajectory_text_fail(lines, err, "two atoms have the id %lld", (long long)id);
    s->seen[*atom] = 1;
    return COLLET_OK;
}

/* Stores the numbers of a line at index `place` of the target. */
static void store(const dump *s, const trajectory_frame_target *target, int64_t place,
                  const double values[TRAJECTORY_LAMMPS_ID])
{
    static const trajectory_measure measures[3] = {TRAJECTORY_LENGTH, TRAJECTORY_VELOCITY,
                                                   TRAJECTORY_FORCE};
    double *const to[3] = {target->positions, target->velocities, target->forces};
    const double *box = s->frame.box;

    for (int field = 0; field < 3; field++)
        for (int k = 0; to[field] && k < 3; k++) {
            double value = values[3 * field + k];
            if (field == 0 && s->frame.is_scaled)
                value = s->frame.origin[k] + values[0] * box[k] + values[1] * box[3 + k] +
                        values[2] * box[6 + k];
            to[field][3 * place + k] = value * s->factors[measures[field]];
        }
}

static collet_status read_atoms(trajectory_reader *trajectory, io_lines *lines,
                                const trajectory_frame_target *target, collet_error *err)
{
    const dump *s = trajectory->state;
    const int wanted[3] = {1, target->velocities != NULL, target->forces != NULL};

    for (int64_t i = 0; i < s->frame.n_atoms; i++) {
        double values[TRAJECTORY_LAMMPS_ID] = {0};
        int64_t id = i + 1, atom;

        collet_status status = read_atom(lines, &s->frame, wanted, values, &id, err);
        if (status == COLLET_OK)
            status = find_atom(trajectory, lines, i, id, &atom, err);
        if (status != COLLET_OK)
            return status;
        if (s->places[atom] >= 0)
            store(s, target, s->places[atom], values);
    }
    return COLLET_OK;
}

static collet_status read_body(trajectory_reader *trajectory, trajectory_frame_head *head,
                               const trajectory_frame_target *target, collet_error *err)
{
    dump *s = trajectory->state;
    io_lines lines = trajectory_text_lines(trajectory, s->atoms_offset, s->atoms_line);

    (void)head;
    if ((s->ids != NULL) != ((s->frame.fields & TRAJECTORY_LAMMPS_HAS_ID) != 0))
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err,
                                      "only some frames have ids of atoms");
    if (s->runs != trajectory->runs)
        make_places(trajectory);
    memset(s->seen, 0, (size_t)s->frame.n_atoms);
    collet_status status = read_atoms(trajectory, &lines, target, err);
    return status == COLLET_OK ? status : trajectory_text_explain(trajectory, &lines, status, err);
}

static void close_file(trajectory_reader *trajectory)
{
    dump *s = trajectory->state;

    free(s->ids);
    free(s->seen);
    free(s->places);
}

const trajectory_format trajectory_dump_format = {
    .name = "dump",
    .kind = "a LAMMPS dump",
    .title = "LAMMPS, text with columns of atoms (.lammpstrj)",
    .text = 1,
    .recognise = recognise,
    .head = read_head,
    .body = read_body,
    .state_size = sizeof(dump),
    .close = close_file,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xyz.c - .xyz files: names of atoms and positions, one frame or several.
 *
 * A frame is the number of atoms, a comment, and a line for each atom: name, x, y, z in Angstrom. Further columns are
 * read only from an extended file, whose comment names them (comment.h): velocities, momenta, forces and masses. A
 * name that is the symbol of an element means that element. There are no residues: all atoms are in residue
 * 1.
 *
 * Tests: tests/engines/test_io_xyz.c, tests/fuzz/fuzz_trajectory.c
 */
#include "comment.h"
#include "io/decimal.h"
#include "io/letters.h"
#include "trajectory/formats/elements.h"
#include "trajectory/formats/formats.h"
#include "trajectory/formats/names.h"

#include <string.h>

#define SHORTEST_LINE 8        /* "C 0 0 0\n"; refuses numbers of atoms that the file cannot hold */
#define ANGSTROM 10.           /* in 1 nm */
#define VELOCITY 100.          /* 1 Angstrom/fs in nm/ps */
#define ASE_VELOCITY 9.8226947 /* (eV/amu)^(1/2) in nm/ps, CODATA 2018 */
#define FORCE 964.85333        /* 1 eV/Angstrom in kJ/mol/nm, CODATA 2018 */

/* ---- Lines ------------------------------------------------------------------------------- */

typedef struct xyz_head {
    int64_t n_atoms;
    xyz_comment comment;
} xyz_head;

/* An atom's line. Words are valid until the next line is read. */
typedef struct xyz_atom {
    trajectory_word words[XYZ_WORDS];
    double position[3]; /* nm */
} xyz_atom;

static int parse(trajectory_word word, double *value)
{
    return io_decimal_parse(word.text, word.length, value);
}

/* Reads a line that the frame must have; *text is NULL if the file ends before it. */
static collet_status read_head_lines(io_lines *lines, xyz_head *head, const char **text,
                                     collet_error *err)
{
    trajectory_word words[2] = {{NULL, 0}};
    size_t length;

    memset(head, 0, sizeof *head);
    collet_status status = io_lines_next(lines, text, &length, err);
    if (status != COLLET_OK || !*text)
        return status;
    if (trajectory_text_split(*text, length, words, 2) != 1 ||
        !io_decimal_parse_integer(words[0].text, words[0].length, &head->n_atoms) ||
        head->n_atoms < 1)
        return trajectory_text_fail(lines, err, "expected the number of atoms, not '%.*s'",
                                    (int)(length < 60 ? length : 60), *text);
    if (head->n_atoms > lines->source->size / SHORTEST_LINE)
        return trajectory_text_fail(lines, err,
                                    "%lld atoms are announced, but a file of %lld bytes cannot "
                                    "hold them",
                                    (long long)head->n_atoms, (long long)lines->source->size);
    status = io_lines_next(lines, text, &length, err);
    return status == COLLET_OK && *text
               ? xyz_comment_parse(lines, *text, length, &head->comment, err)
               : status;
}

/* Reads the three numbers from word `at` on, and multiplies them by `factor`. */
static collet_status read_vector(const io_lines *lines, const xyz_atom *atom, int at,
                                 const char *what, double factor, double vector[3],
                                 collet_error *err)
{
    for (int i = 0; i < 3; i++) {
        trajectory_word word = atom->words[at + i];
        if (!parse(word, &vector[i]))
            return trajectory_text_fail(lines, err, "%s %c is not a number: '%.*s'", what, "xyz"[i],
                                        (int)(word.length & 63), word.text);
        vector[i] *= factor;
    }
    return COLLET_OK;
}

static collet_status read_atom(io_lines *lines, const xyz_columns *columns, xyz_atom *atom,
                               collet_error *err)
{
    const char *text;
    size_t length;

    collet_status status = io_lines_next(lines, &text, &length, err);
    if (status != COLLET_OK)
        return status;
    if (!text)
        return collet_fail(err, COLLET_FORMAT, "%s:%lld: the file ends inside a frame",
                           lines->source->path, (long long)lines->number);
    size_t n = trajectory_text_split(text, length, atom->words, (size_t)columns->n);
    if (n < (size_t)columns->n && columns->n == 4)
        return trajectory_text_fail(lines, err, "expected a name and three numbers, not '%.*s'",
                                    (int)(length < 60 ? length : 60), text);
    if (n < (size_t)columns->n)
        return trajectory_text_fail(lines, err, "expected the %d columns of Properties, not %zu",
                                    columns->n, n);
    status = read_vector(lines, atom, columns->position, "position", 1, atom->position, err);
    for (int i = 0; i < 3; i++)
        atom->position[i] /= ANGSTROM;
    return status;
}

/* Copies the name if it can be the symbol of an element. */
static void copy_element(trajectory_word name, char element[TRAJECTORY_SYMBOL])
{
    for (size_t i = 0; i < name.length; i++)
        if (name.length >= TRAJECTORY_SYMBOL ||
            !(io_is_upper(name.text[i]) || io_is_lower(name.text[i])))
            return;
    memcpy(element, name.text, name.length);
}

/* Reads the mass of an atom, from its column or by its element. */
static collet_status read_mass(const io_lines *lines, const xyz_columns *columns,
                               const xyz_atom *atom, double *mass, collet_error *err)
{
    const trajectory_element *element = NULL;
    trajectory_word name = atom->words[columns->name < 0 ? columns->number : columns->name];

    if (columns->mass >= 0) {
        if (parse(atom->words[columns->mass], mass) && *mass >= 0)
            return COLLET_OK;
        return trajectory_text_fail(lines, err, "the mass is '%.*s'",
                                    (int)(atom->words[columns->mass].length & 63),
                                    atom->words[columns->mass].text);
    }
    if (columns->name >= 0)
        element = trajectory_element_find(name.text, name.length);
    if (!element || !(element->mass > 0))
        return trajectory_text_fail(lines, err,
                                    "the momentum of '%.*s' gives no velocity: its mass is "
                                    "unknown; the file needs masses (masses:R:1)",
                                    (int)(name.length & 63), name.text);
    *mass = element->mass;
    return COLLET_OK;
}

static collet_status read_velocity(const io_lines *lines, const xyz_columns *columns,
                                   const xyz_atom *atom, double velocity[3], collet_error *err)
{
    double mass = 0;

    if (columns->velocity >= 0)
        return read_vector(lines, atom, columns->velocity, "velocity", VELOCITY, velocity, err);
    collet_status status = read_mass(lines, columns, atom, &mass, err);
    if (status == COLLET_OK)
        status =
            read_vector(lines, atom, columns->momentum, "momentum", ASE_VELOCITY, velocity, err);
    for (int i = 0; i < 3 && status == COLLET_OK; i++)
        velocity[i] = velocity[i] == 0 ? 0 : velocity[i] / mass;
    return status;
}

/* ---- Topology ---------------------------------------------------------------------------- */

/* Takes the name, the element and the mass of atom i. */
static collet_status take_atom(const io_lines *lines, const xyz_columns *columns,
                               const xyz_atom *atom, trajectory_topology *topology, int64_t i,
                               collet_error *err)
{
    int64_t number;
    collet_status status = COLLET_OK;

    topology->residue_ids[i] = 1;
    if (columns->name >= 0) {
        status =
            trajectory_text_copy_name(lines, atom->words[columns->name], topology->names[i], err);
        if (status == COLLET_OK)
            copy_element(atom->words[columns->name], topology->elements[i]);
    } else {
        trajectory_word word = atom->words[columns->number];
        if (!io_decimal_parse_integer(word.text, word.length, &number))
            return trajectory_text_fail(lines, err, "the atomic number is '%.*s'",
                                        (int)(word.length & 63), word.text);
        trajectory_topology_put_element(topology, i, number);
        memcpy(topology->names[i], topology->elements[i], sizeof topology->elements[i]);
    }
    return status == COLLET_OK && columns->mass >= 0
               ? read_mass(lines, columns, atom, &topology->masses[i], err)
               : status;
}

static collet_status read_topology(io_source *source, trajectory_topology *topology,
                                   collet_error *err)
{
    io_lines lines = {.source = source, .number = 1};
    const char *text;
    xyz_head head;

    collet_status status = read_head_lines(&lines, &head, &text, err);
    if (status == COLLET_OK && !text)
        return collet_fail(err, COLLET_FORMAT, "%s:%lld: the file ends inside a frame",
                           source->path, (long long)lines.number);
    if (status == COLLET_OK)
        status = trajectory_topology_allocate(topology, head.n_atoms, "", 0, source->path, err);
    if (status == COLLET_OK)
        status = trajectory_topology_allocate_more(
            topology,
            TRAJECTORY_WITH_ELEMENTS |
                (head.comment.columns.mass >= 0 ? (unsigned)TRAJECTORY_WITH_MASSES : 0),
            source->path, err);
    for (int64_t i = 0; status == COLLET_OK && i < head.n_atoms; i++) {
        xyz_atom atom;

        status = read_atom(&lines, &head.comment.columns, &atom, err);
        if (status == COLLET_OK)
            status = take_atom(&lines, &head.comment.columns, &atom, topology, i, err);
    }
    if (status == COLLET_OK)
        trajectory_topology_drop_empty(topology);
    return status;
}

/* ---- Frames ------------------------------------------------------------------------------ */

/* Decides if the line of an atom, which has no line end, lacks a part of its last column. */
static trajectory_text_ending judge(const xyz_columns *columns, const char *text, size_t length)
{
    trajectory_word words[XYZ_WORDS];
    size_t n = (size_t)columns->n, last = (size_t)columns->last;

    if (trajectory_text_split(text, length, words, n) < n)
        return TRAJECTORY_TEXT_CUT;
    if (words[n - 1].text + words[n - 1].length < text + length)
        return TRAJECTORY_TEXT_WHOLE;
    return last > 0 ? trajectory_text_judge(words + n - last, last) : TRAJECTORY_TEXT_UNCERTAIN;
}

static collet_status scan_frame(trajectory_reader *trajectory, io_lines *lines, xyz_head *head,
                                collet_error *err)
{
    const char *text;
    size_t length = 0;

    collet_status status = read_head_lines(lines, head, &text, err);
    for (int64_t i = 0; status == COLLET_OK && text && i < head->n_atoms; i++)
        status = io_lines_next(lines, &text, &length, err);
    if (status != COLLET_OK)
        return trajectory_text_explain(trajectory, lines, status, err);
    return text && !lines->cut
               ? COLLET_OK
               : trajectory_text_finish(
                     trajectory,
                     text ? judge(&head->comment.columns, text, length) : TRAJECTORY_TEXT_CUT, err);
}

static collet_status read_head(trajectory_reader *trajectory, trajectory_frame_head *head,
                               collet_error *err)
{
    io_lines lines = trajectory_text_lines(trajectory, trajectory->offset, trajectory->line);
    xyz_head text;
    int at_end;

    collet_status status = scan_frame(trajectory, &lines, &text, err);
    if (status != COLLET_OK)
        return status;
    head->n_atoms = text.n_atoms;
    head->dtype = COLLET_F64;
    head->has_time = text.comment.moment.has_time;
    head->time = text.comment.moment.time;
    head->step = text.comment.moment.step;
    memcpy(head->box, text.comment.box, sizeof head->box);
    status = io_lines_at_end(&lines, &at_end, err);
    head->end = at_end ? trajectory->source.size : lines.offset;
    head->end_line = lines.number;
    head->positions = head->end; /* any number but 0, because a frame always has positions */
    const xyz_columns *columns = &text.comment.columns;
    head->velocities = columns->velocity >= 0 || columns->momentum >= 0 ? head->end : 0;
    head->forces = columns->force >= 0 ? head->end : 0;
    return status;
}

static collet_status read_body(trajectory_reader *trajectory, trajectory_frame_head *head,
                               const trajectory_frame_target *target, collet_error *err)
{
    io_lines lines = trajectory_text_lines(trajectory, trajectory->offset, trajectory->line);
    double *position = target->positions, *velocity = target->velocities, *force = target->forces;
    int64_t selected = 0;
    const trajectory_atom_run *run = trajectory->runs;
    xyz_head text;
    const char *line;

    (void)head;
    collet_status status = read_head_lines(&lines, &text, &line, err);
    const xyz_columns *columns = &text.comment.columns;
    for (int64_t i = 0; selected < trajectory->n_selected && status == COLLET_OK; i++) {
        int used = i >= run->first;
        xyz_atom atom;

        status = read_atom(&lines, columns, &atom, err);
        if (used && status == COLLET_OK)
            memcpy(position + 3 * selected, atom.position, sizeof atom.position);
        if (used && velocity && status == COLLET_OK)
            status = read_velocity(&lines, columns, &atom, velocity + 3 * selected, err);
        if (used && force && status == COLLET_OK)
            status = read_vector(&lines, &atom, columns->force, "force", FORCE,
                                 force + 3 * selected, err);
        selected += used;
        run += used && i + 1 == run->first + run->count;
    }
    return trajectory_text_explain(trajectory, &lines, status, err);
}

/* ---- Recognition ------------------------------------------------------------------------- */

static int is_position(const trajectory_word *words)
{
    double value;

    return parse(words[0], &value) && parse(words[1], &value);
}

/* 1 if the first line is an integer, and either the second line has "Properties=", or the third line has four words or
 * more, the second and third of them numbers. */
static int recognise(const uint8_t *bytes, size_t n)
{
    const char *text = (const char *)bytes, *end = text + n;
    trajectory_word words[4];
    int64_t atoms;

    if (memchr(bytes, 0, n))
        return 0;
    for (int line = 1; line <= 3 && text < end; line++) {
        const char *next = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((next ? next : end) - text);
        length -= length > 0 && text[length - 1] == '\r';
        size_t count = trajectory_text_split(text, length, words, 4);

        if (line == 1 &&
            (count != 1 || !io_decimal_parse_integer(words[0].text, words[0].length, &atoms)))
            return 0;
        if (line == 2 && next && memmem(text, length, "Properties=", 11))
            return 1;
        if (line == 3)
            return count == 4 && is_position(words + 1);
        text = next ? next + 1 : end;
    }
    return 0;
}

const trajectory_format trajectory_xyz_format = {
    .name = "xyz",
    .kind = "an .xyz file",
    .title = "text with names and positions, extended also with velocities and forces",
    .text = 1,
    .topology = read_topology,
    .recognise = recognise,
    .head = read_head,
    .body = read_body,
    .concurrent = 1,
};

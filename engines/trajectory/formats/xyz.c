/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xyz.c - .xyz files: names of atoms and positions, one frame or several.
 *
 * A frame is the number of atoms, a comment, and a line for each atom: name, x, y, z in Angstrom, and
 * more that is not read. In an extended file the comment may have Lattice="..." with the nine numbers
 * of the box; Properties must begin with name and position then. A name that is the symbol of an
 * element is one. There are no residues: all atoms are in residue 1.
 *
 * Tests: tests/engines/test_io_xyz.c, tests/fuzz/fuzz_trajectory.c
 */
#include "formats.h"
#include "io/decimal.h"
#include "io/letters.h"
#include "names.h"
#include "text.h"

#include <string.h>

#define ANGSTROM 10.    /* in 1 nm */
#define SHORTEST_LINE 8 /* "C 0 0 0\n"; refuses numbers of atoms that the file cannot hold */
#define WORDS 4

/* ---- Lines ------------------------------------------------------------------------------- */

typedef struct xyz_head {
    int64_t n_atoms;
    trajectory_text_moment title;
    double box[9];
} xyz_head;

static int parse(trajectory_word word, double *value)
{
    return io_decimal_parse(word.text, word.length, value);
}

/* Returns the text after KEY=, in quotation marks or up to a blank; length 0 if there is none. */
static trajectory_word find_key(const char *text, size_t length, const char *key)
{
    const char *end = text + length;
    size_t n = strlen(key);

    for (; text + n < end; text++) {
        if (!io_same_letters(text, key, n))
            continue;
        text += n;
        char last = *text == '"' ? '"' : ' ';
        text += last == '"';
        const char *close = memchr(text, last, (size_t)(end - text));
        return (trajectory_word){text, (size_t)((close ? close : end) - text)};
    }
    return (trajectory_word){"", 0};
}

static collet_status read_comment(const io_lines *lines, const char *text, size_t length,
                                  xyz_head *head, collet_error *err)
{
    static const char usual[] = "species:S:1:pos:R:3";
    trajectory_word lattice = find_key(text, length, "Lattice=");
    trajectory_word properties = find_key(text, length, "Properties=");
    trajectory_word words[10];

    head->title = trajectory_text_title(text, length);
    if (properties.length > 0 && (properties.length < sizeof usual - 1 ||
                                  !io_same_letters(properties.text, usual, sizeof usual - 1)))
        return trajectory_text_fail(lines, err, "the properties begin with '%.*s', not with %s",
                                    (int)(properties.length < 60 ? properties.length : 60),
                                    properties.text, usual);
    size_t n = trajectory_text_split(lattice.text, lattice.length, words, 10);
    for (size_t i = 0; i < n; i++)
        if (n != 9 || !parse(words[i], &head->box[i]))
            return trajectory_text_fail(lines, err, "Lattice has not nine numbers");
    for (size_t i = 0; i < n; i++)
        head->box[i] /= ANGSTROM;
    return COLLET_OK;
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
    return status == COLLET_OK && *text ? read_comment(lines, *text, length, head, err) : status;
}

/* Reads the line of an atom; *word is its name, valid until the next line. */
static collet_status read_atom(io_lines *lines, trajectory_word *name, double position[3],
                               collet_error *err)
{
    trajectory_word words[WORDS];
    const char *text;
    size_t length;

    collet_status status = io_lines_next(lines, &text, &length, err);
    if (status != COLLET_OK)
        return status;
    if (!text)
        return collet_fail(err, COLLET_FORMAT, "%s:%lld: the file ends inside a frame",
                           lines->source->path, (long long)lines->number);
    if (trajectory_text_split(text, length, words, WORDS) < WORDS)
        return trajectory_text_fail(lines, err, "expected a name and three numbers, not '%.*s'",
                                    (int)(length < 60 ? length : 60), text);
    *name = words[0];
    for (size_t i = 0; i < 3; i++) {
        if (!parse(words[1 + i], &position[i]))
            return trajectory_text_fail(lines, err, "position %c is not a number: '%.*s'", "xyz"[i],
                                        (int)(words[1 + i].length & 63), words[1 + i].text);
        position[i] /= ANGSTROM;
    }
    return COLLET_OK;
}

/* ---- Topology ---------------------------------------------------------------------------- */

static void copy_element(trajectory_word name, char element[TRAJECTORY_SYMBOL])
{
    for (size_t i = 0; i < name.length; i++)
        if (name.length >= TRAJECTORY_SYMBOL ||
            !(io_is_upper(name.text[i]) || io_is_lower(name.text[i])))
            return;
    memcpy(element, name.text, name.length);
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
        status = trajectory_topology_allocate_more(topology, TRAJECTORY_WITH_ELEMENTS, source->path,
                                                   err);
    for (int64_t i = 0; status == COLLET_OK && i < head.n_atoms; i++) {
        double position[3];
        trajectory_word name;

        status = read_atom(&lines, &name, position, err);
        if (status == COLLET_OK)
            status = trajectory_text_copy_name(&lines, name, topology->names[i], err);
        if (status != COLLET_OK)
            break;
        copy_element(name, topology->elements[i]);
        topology->residue_ids[i] = 1;
    }
    if (status == COLLET_OK)
        trajectory_topology_drop_empty(topology);
    return status;
}

/* ---- Frames ------------------------------------------------------------------------------ */

/* Decides if the line of an atom, which has no line end, lacks a part of z. */
static trajectory_text_ending judge(const char *text, size_t length)
{
    trajectory_word words[WORDS];

    if (trajectory_text_split(text, length, words, WORDS) < WORDS)
        return TRAJECTORY_TEXT_CUT;
    return words[WORDS - 1].text + words[WORDS - 1].length < text + length
               ? TRAJECTORY_TEXT_WHOLE
               : trajectory_text_judge(words + 1, WORDS - 1);
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
               : trajectory_text_finish(trajectory,
                                        text ? judge(text, length) : TRAJECTORY_TEXT_CUT, err);
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
    head->has_time = text.title.has_time;
    head->time = text.title.time;
    head->step = text.title.step;
    memcpy(head->box, text.box, sizeof head->box);
    status = io_lines_at_end(&lines, &at_end, err);
    head->end = at_end ? trajectory->source.size : lines.offset;
    head->end_line = lines.number;
    head->positions = head->end; /* any number but 0, because a frame always has positions */
    return status;
}

static collet_status read_body(trajectory_reader *trajectory, trajectory_frame_head *head,
                               const trajectory_frame_target *target, collet_error *err)
{
    io_lines lines = trajectory_text_lines(trajectory, trajectory->offset, trajectory->line);
    double *position = target->positions, unused[3];
    int64_t selected = 0;
    const trajectory_atom_run *run = trajectory->runs;
    collet_status status = COLLET_OK;
    const char *text;
    size_t length;

    (void)head;
    for (int i = 0; i < 2 && status == COLLET_OK; i++)
        status = io_lines_next(&lines, &text, &length, err);
    for (int64_t i = 0; selected < trajectory->n_selected && status == COLLET_OK; i++) {
        int used = i >= run->first;
        trajectory_word name;

        status = read_atom(&lines, &name, used ? position : unused, err);
        position += used ? 3 : 0;
        selected += used;
        run += used && i + 1 == run->first + run->count;
    }
    return trajectory_text_explain(trajectory, &lines, status, err);
}

/* ---- Recognition ------------------------------------------------------------------------- */

/* 1 if the first line is a number, and the third line a name and three numbers. */
static int recognise(const uint8_t *bytes, size_t n)
{
    const char *text = (const char *)bytes, *end = text + n;
    trajectory_word words[WORDS];
    int64_t atoms;
    double value;

    if (memchr(bytes, 0, n))
        return 0;
    for (int line = 1; line <= 3 && text < end; line++) {
        const char *next = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((next ? next : end) - text);
        length -= length > 0 && text[length - 1] == '\r';
        size_t count = trajectory_text_split(text, length, words, WORDS);

        if (line == 1 &&
            (count != 1 || !io_decimal_parse_integer(words[0].text, words[0].length, &atoms)))
            return 0;
        if (line == 3)
            return count == WORDS && parse(words[1], &value) && parse(words[2], &value);
        text = next ? next + 1 : end;
    }
    return 0;
}

const trajectory_format trajectory_xyz_format = {
    .name = "xyz",
    .kind = "an .xyz file",
    .title = "text with names and positions, also extended",
    .text = 1,
    .topology = read_topology,
    .recognise = recognise,
    .head = read_head,
    .body = read_body,
    .concurrent = 1,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rst7.c - coordinates and restart files of AMBER as text, also .inpcrd: one frame.
 *
 * A file has a title; the number of atoms and, in restart files, the time (ps); then numbers in columns of 12
 * characters, six in a line: positions (Angstrom), velocities (Angstrom times 20.455 per ps) and the lengths
 * (Angstrom) and angles (degrees) of the box. Velocities and box may be absent. https://ambermd.org/FileFormats.php
 *
 * Tests: tests/engines/test_io_rst7.c, tests/fuzz/fuzz_trajectory.c
 */
#include "trajectory/formats/cell.h"
#include "trajectory/formats/formats.h"
#include "trajectory/formats/text.h"

#include "io/decimal.h"

#include <math.h>
#include <string.h>

#define COLUMN 12
#define PER_LINE 6
#define NM 0.1           /* an Angstrom */
#define NM_PER_PS 2.0455 /* the unit of velocities */
#define HEAD_WORDS 3

static int64_t lines_of(int64_t numbers)
{
    return (numbers + PER_LINE - 1) / PER_LINE;
}

/* ---- Numbers ----------------------------------------------------------------------------- */

/* Reads the number in column i of a line; 0: there is none. */
static int parse(const char *text, size_t length, size_t i, double *number)
{
    size_t first = i * COLUMN, end = first + COLUMN < length ? first + COLUMN : length;

    while (first < end && text[first] == ' ')
        first++;
    while (end > first && text[end - 1] == ' ')
        end--;
    return first < end && io_decimal_parse(text + first, end - first, number);
}

/* Reads the first `n` numbers of the next line. */
static collet_status read_line(io_lines *lines, double *numbers, size_t n, collet_error *err)
{
    const char *text;
    size_t length;

    collet_status status = io_lines_next(lines, &text, &length, err);
    for (size_t i = 0; status == COLLET_OK && i < n; i++)
        if (!text || (lines->cut && length < COLUMN * (i + 1)) || !parse(text, length, i, &numbers[i]))
            return trajectory_text_fail(
                lines, err, "columns %zu to %zu are not a number: '%.*s'", COLUMN * i + 1,
                COLUMN * (i + 1), text && length > COLUMN * i ? COLUMN : 0,
                text && length > COLUMN * i ? text + COLUMN * i : "");
    return status;
}

/* ---- Head -------------------------------------------------------------------------------- */

/* Parses the second line. 0: the line is not as described above. */
static int parse_count(const char *text, size_t length, int64_t *n_atoms, double *time,
                       int32_t *has_time)
{
    trajectory_word words[HEAD_WORDS];
    size_t n = trajectory_text_split(text, length, words, HEAD_WORDS);

    if (n < 1 || !io_decimal_parse_integer(words[0].text, words[0].length, n_atoms) ||
        *n_atoms < 1)
        return 0;
    *has_time = n > 1;
    return n == 1 || io_decimal_parse(words[1].text, words[1].length, time);
}

/* Skips n lines. If the file has fewer lines, the frame is truncated. */
static collet_status skip(trajectory_reader *trajectory, io_lines *lines, int64_t n,
                          collet_error *err)
{
    collet_status status = COLLET_OK;
    const char *text;
    size_t length;

    for (int64_t i = 0; status == COLLET_OK && i < n; i++) {
        status = io_lines_next(lines, &text, &length, err);
        if (status == COLLET_OK && !text)
            return trajectory_reader_truncated(trajectory, err);
    }
    return status;
}

/* Sets *n to the number of lines up to the end of the file, without empty lines at the end. */
static collet_status count_rest(io_lines lines, int64_t *n, collet_error *err)
{
    collet_status status = COLLET_OK;
    int at_end = 0;

    *n = 0;
    for (;;) {
        const char *text;
        size_t length;
        status = io_lines_at_end(&lines, &at_end, err);
        if (status != COLLET_OK || at_end)
            return status;
        status = io_lines_next(&lines, &text, &length, err);
        if (status != COLLET_OK)
            return status;
        ++*n;
    }
}

/* Reads three lengths and three angles; older files have only lengths, of boxes with right angles. */
static collet_status read_cell(io_lines *lines, double cell[PER_LINE], collet_error *err)
{
    io_lines again = *lines;
    const char *text;
    size_t length;

    collet_status status = io_lines_next(&again, &text, &length, err);
    if (status != COLLET_OK)
        return status;
    for (int i = 3; i < PER_LINE; i++)
        cell[i] = 90;
    return read_line(lines, cell, text && length > 3 * COLUMN ? PER_LINE : 3, err);
}

static collet_status read_box(io_lines *lines, double box[9], collet_error *err)
{
    double cell[PER_LINE], cosines[3];

    collet_status status = read_cell(lines, cell, err);
    for (int i = 0; i < 3; i++)
        cosines[i] = trajectory_cell_cosine(cell[3 + i]);
    if (status == COLLET_OK)
        trajectory_cell_vectors(box, cell, cosines);
    return status;
}

/* 1 if the only line after the positions is the box (lengths and angles, or zeros) and not the first velocities. */
static int is_box(io_lines lines)
{
    double cell[PER_LINE];
    int box = read_cell(&lines, cell, NULL) == COLLET_OK;
    int zeros = box && cell[0] == 0 && cell[1] == 0 && cell[2] == 0;

    for (int i = 0; box && !zeros && i < PER_LINE; i++)
        box = cell[i] > (i < 3 ? 2 : 30) && (i < 3 || cell[i] < 150);
    return box;
}

/* 1 if the next line has six numbers. After the position of a single atom, such a line is the box; a shorter line is
 * the atom's velocity. */
static int has_six(io_lines lines)
{
    const char *text;
    size_t length;

    return io_lines_next(&lines, &text, &length, NULL) == COLLET_OK && text && length > 3 * COLUMN;
}

static collet_status read_rest(trajectory_reader *trajectory, io_lines *lines,
                               trajectory_frame_head *head, collet_error *err)
{
    const int64_t whole = lines_of(3 * head->n_atoms);
    int64_t rest;

    collet_status status = count_rest(*lines, &rest, err);
    if (status != COLLET_OK)
        return status;
    if (rest != 0 && rest != 1 && rest != whole && rest != whole + 1)
        return rest < whole ? trajectory_reader_truncated(trajectory, err)
                            : trajectory_text_fail(lines, err,
                                                   "%lld lines follow the positions, but velocities of %lld "
                                                   "atoms have %lld and the box has one",
                                                   (long long)rest, (long long)head->n_atoms,
                                                   (long long)whole);
    if (rest == 1 && whole > 1 && !is_box(*lines))
        return trajectory_reader_truncated(trajectory, err);
    int has_velocities = rest == whole + 1 || (rest == whole && !(rest == 1 && head->n_atoms == 2 && is_box(*lines)) &&
                           !(rest == 1 && head->n_atoms == 1 && has_six(*lines)));
    if (has_velocities) {
        head->velocities = lines->offset;
        head->detail[1] = (uint64_t)lines->number;
        status = skip(trajectory, lines, whole, err);
    }
    return status == COLLET_OK && rest - (has_velocities ? whole : 0) == 1
               ? read_box(lines, head->box, err)
               : status;
}

static collet_status read_head(trajectory_reader *trajectory, trajectory_frame_head *head,
                               collet_error *err)
{
    io_lines lines = trajectory_text_lines(trajectory, 0, 1);
    const char *text;
    size_t length;

    if (trajectory->index > 0) /* blank lines follow the frame */
        return trajectory_reader_fail(trajectory, COLLET_FORMAT, err, "the file has one frame");
    collet_status status = skip(trajectory, &lines, 1, err);
    if (status == COLLET_OK)
        status = io_lines_next(&lines, &text, &length, err);
    if (status == COLLET_OK && !text)
        return trajectory_reader_truncated(trajectory, err);
    if (status == COLLET_OK &&
        !parse_count(text, length, &head->n_atoms, &head->time, &head->has_time))
        status = trajectory_text_fail(&lines, err,
                                      "this is not the number of atoms, alone or with the time after it");
    if (status == COLLET_OK && head->n_atoms > trajectory->source.size)
        return trajectory_reader_truncated(trajectory, err);
    head->dtype = COLLET_F64;
    head->step = -1;
    head->positions = lines.offset;
    if (status == COLLET_OK)
        status = skip(trajectory, &lines, lines_of(3 * head->n_atoms), err);
    if (status == COLLET_OK)
        status = read_rest(trajectory, &lines, head, err);
    head->end = trajectory->source.size;
    head->end_line = lines.number;
    return trajectory_text_explain(trajectory, &lines, status, err);
}

/* ---- Body -------------------------------------------------------------------------------- */

/* Reads the vectors of the selected atoms from the lines at `offset`, times `unit`. */
static collet_status read_vectors(trajectory_reader *trajectory, int64_t offset, int64_t line,
                                  int64_t n_atoms, double unit, double *out, collet_error *err)
{
    io_lines lines = trajectory_text_lines(trajectory, offset, line);
    const trajectory_atom_run *run = trajectory->runs;
    collet_status status = COLLET_OK;
    double numbers[PER_LINE];
    int64_t delivered = 0;

    for (int64_t atom = 0; status == COLLET_OK && delivered < trajectory->n_selected; atom += 2) {
        int64_t here = n_atoms - atom < 2 ? n_atoms - atom : 2;
        status = read_line(&lines, numbers, 3 * (size_t)here, err);
        for (int64_t k = 0; status == COLLET_OK && k < here; k++) {
            if (delivered == trajectory->n_selected || atom + k < run->first)
                continue;
            for (int i = 0; i < 3; i++)
                *out++ = unit * numbers[3 * k + i];
            delivered++;
            run += atom + k + 1 == run->first + run->count;
        }
    }
    return trajectory_text_explain(trajectory, &lines, status, err);
}

static collet_status read_body(trajectory_reader *trajectory, trajectory_frame_head *head,
                               const trajectory_frame_target *target, collet_error *err)
{
    collet_status status = COLLET_OK;

    if (target->positions)
        status = read_vectors(trajectory, head->positions, 3, head->n_atoms, NM, target->positions,
                              err);
    if (status == COLLET_OK && target->velocities)
        status = read_vectors(trajectory, head->velocities, (int64_t)head->detail[1], head->n_atoms,
                              NM_PER_PS, target->velocities, err);
    return status;
}

/* ---- Recognition ------------------------------------------------------------------------- */

/* 1 if the second line is a number of atoms, and the third line has the decimal points of three numbers F12.7. */
static int recognise(const uint8_t *bytes, size_t n)
{
    const char *text = (const char *)bytes, *end = text + n, *lines[3] = {text};
    int64_t n_atoms;
    double time;
    int32_t has_time;

    for (int i = 1; i < 3; i++) {
        const char *line_end = memchr(lines[i - 1], '\n', (size_t)(end - lines[i - 1]));
        if (!line_end)
            return 0;
        lines[i] = line_end + 1;
    }
    if (!parse_count(lines[1], (size_t)(lines[2] - lines[1]) - 1, &n_atoms, &time, &has_time) ||
        end - lines[2] < 3 * COLUMN)
        return 0;
    for (size_t i = 0; i < 3; i++) {
        double number;
        if (lines[2][COLUMN * i + 4] != '.' || !parse(lines[2], 3 * COLUMN, i, &number))
            return 0;
    }
    return 1;
}

const trajectory_format trajectory_rst7_format = {
    .name = "rst7",
    .kind = "coordinates of AMBER as text (.rst7, .inpcrd)",
    .title = "AMBER, restart files and coordinates as text, also .inpcrd",
    .text = 1,
    .recognise = recognise,
    .head = read_head,
    .body = read_body,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_topology.c, tests/engines/test_io_trajectory.c,
 * tests/fuzz/fuzz_trajectory.c */
#include "gro.h"

#include "io/decimal.h"

#include <string.h>

#define DECIMALS_EXTRA 5 /* columns of a position before its decimals: sign, 3 digits, point */

static collet_status next_line(io_lines *lines, const char **text, size_t *length,
                               const char *missing, int *truncated, collet_error *err)
{
    collet_status status = io_lines_next(lines, text, length, err);
    *truncated = status == COLLET_OK && !*text;
    if (!*truncated)
        return status;
    return collet_fail(err, COLLET_FORMAT, "%s:%lld: the file ends before %s; it may have been cut",
                       lines->source->path, (long long)lines->number, missing);
}

/* ---- Head -------------------------------------------------------------------------------- */

collet_status trajectory_gro_read_head(io_lines *lines, trajectory_gro_head *head, int *truncated,
                                       collet_error *err)
{
    const char *text;
    size_t length;

    *head = (trajectory_gro_head){0};
    collet_status status = next_line(lines, &text, &length, "its title", truncated, err);
    if (status != COLLET_OK)
        return status;
    head->title = trajectory_text_title(text, length);
    status = next_line(lines, &text, &length, "the number of atoms", truncated, err);
    if (status != COLLET_OK)
        return status;
    if (!io_decimal_parse_integer(text, length, &head->n_atoms) || head->n_atoms < 0)
        return trajectory_text_fail(lines, err, "expected the number of atoms, not '%.*s'",
                                    length > 40 ? 40 : (int)length, text);
    return COLLET_OK;
}

/* ---- Atoms ------------------------------------------------------------------------------- */

static collet_status measure_width(const io_lines *lines, const char *text, size_t length,
                                   size_t *width, collet_error *err)
{
    const char *end = text + length;
    const char *first = NULL, *second = NULL;

    if (length > TRAJECTORY_GRO_POSITIONS)
        first = memchr(text + TRAJECTORY_GRO_POSITIONS, '.', length - TRAJECTORY_GRO_POSITIONS);
    if (first)
        second = memchr(first + 1, '.', (size_t)(end - first - 1));
    if (!second)
        return trajectory_text_fail(lines, err,
                                    "no positions from column %d on; an atom's line is "
                                    "'%%5d%%-5s%%5s%%5d%%8.3f%%8.3f%%8.3f'",
                                    TRAJECTORY_GRO_POSITIONS + 1);
    *width = (size_t)(second - first);
    if (*width <= DECIMALS_EXTRA)
        return trajectory_text_fail(
            lines, err,
            "the decimal points of x and y are %zu columns apart; expected %d more than the number "
            "of decimals",
            *width, DECIMALS_EXTRA);
    return COLLET_OK;
}

static const char *field_at(const char *text, size_t length, size_t from, size_t width, size_t *n)
{
    *n = from + width <= length ? width : length > from ? length - from : 0;
    return *n > 0 ? text + from : "";
}

/* 1 for three finite numbers. For velocities that are unknown or too large, programs write other texts. An atom with
 * such a text has no velocity. */
static int read_velocity(const char *text, size_t length, size_t width, double velocity[3])
{
    for (size_t i = 0; i < 3; i++) {
        size_t n;
        const char *field =
            field_at(text, length, TRAJECTORY_GRO_POSITIONS + (3 + i) * width, width, &n);
        if (!io_decimal_parse(field, n, &velocity[i]))
            return 0;
    }
    return 1;
}

collet_status trajectory_gro_measure(const io_lines *lines, const char *text, size_t length,
                                     int64_t atom, trajectory_gro_columns *columns,
                                     collet_error *err)
{
    double velocity[3];

    if (atom == 0) {
        *columns = (trajectory_gro_columns){.lacking = -1};
        collet_status status = measure_width(lines, text, length, &columns->width, err);
        if (status != COLLET_OK)
            return status;
    }
    if (read_velocity(text, length, columns->width, velocity))
        columns->with_velocity++;
    else if (columns->lacking < 0)
        columns->lacking = atom;
    return COLLET_OK;
}

/* 1 if there is no blank on either side of the boundary between two fields at `column`. */
static int touch(const char *text, size_t length, size_t column)
{
    return column < length && text[column - 1] != ' ' && text[column] != ' ';
}

/* Checks that the number is within its field. A number that is too wide moves the rest of the line. If fields then
 * touch each other, parts of two numbers could be read as one number. */
static collet_status check_field(const io_lines *lines, const char *text, size_t length,
                                 size_t from, size_t width, collet_error *err)
{
    size_t point = from + DECIMALS_EXTRA - 1, end = from + width;

    if (end > length || text[point] == '.' ||
        !(touch(text, length, from) || touch(text, length, end)))
        return COLLET_OK;
    return trajectory_text_fail(
        lines, err,
        "the number in columns %zu-%zu, '%.*s', touches another number and has no decimal point in "
        "column %zu: a number of this line or of the frame's first atom is too wide for its "
        "columns",
        from + 1, end, width > 40 ? 40 : (int)width, text + from, point + 1);
}

collet_status trajectory_gro_read_atom(const io_lines *lines, const char *text, size_t length,
                                       const trajectory_gro_columns *columns, double position[3],
                                       double velocity[3], collet_error *err)
{
    size_t width = columns->width;

    for (size_t i = 0; i < 3; i++) {
        size_t from = TRAJECTORY_GRO_POSITIONS + i * width, n;
        const char *field = field_at(text, length, from, width, &n);
        if (!io_decimal_parse(field, n, &position[i]))
            return trajectory_text_fail(
                lines, err, "position %c in columns %zu-%zu is not a number: '%.*s'%s",
                (int)"xyz"[i], from + 1, from + width, n > 40 ? 40 : (int)n, field,
                i == 0 ? "; do the names and numbers before it fit into 5 columns each?" : "");
        collet_status status = check_field(lines, text, length, from, width, err);
        if (status != COLLET_OK)
            return status;
    }
    if (velocity && !read_velocity(text, length, width, velocity))
        return trajectory_text_fail(lines, err,
                                    "the velocity is no longer three numbers: the file was changed "
                                    "while it was read; run again");
    return COLLET_OK;
}

/* ---- Box --------------------------------------------------------------------------------- */

/* 1 for a number, or a text that programs write in place of a number: nan, inf, or asterisks if a number does not fit
 * into its columns. */
static int is_number(const char *text, size_t length)
{
    double number;

    if (io_decimal_parse(text, length, &number))
        return 1;
    while (length > 0 && memchr("+-*nNaAiIfF", text[length - 1], 11))
        length--;
    return length == 0;
}

static size_t token_length(const char *text, const char *end)
{
    const char *at = text;

    while (at < end && *at != ' ' && *at != '\t')
        at++;
    return (size_t)(at - text);
}

/* Counts numbers that blanks separate, and stores the first 9; nan, inf and asterisks are stored as 0. -1: the line has
 * any other text. */
static int read_spaced(const char *text, size_t length, double numbers[9])
{
    const char *end = text + length;
    double number;
    int n = 0;

    while (text < end) {
        size_t token = token_length(text, end);
        if (token > 0 && !is_number(text, token))
            return -1;
        if (token > 0 && n < 9)
            numbers[n] = io_decimal_parse(text, token, &number) ? number : 0;
        n += token > 0;
        text += token + (text + token < end);
    }
    return n;
}

/* Counts numbers that may touch each other. All numbers have as many decimals as the last number, so the end of each
 * number is known.
 * -1: the line has any other text. */
static int read_touching(const char *text, size_t length, double numbers[9])
{
    const char *end = text + length;
    double number;
    int n = 0;

    while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    const char *last = memrchr(text, '.', (size_t)(end - text));
    size_t decimals = last ? (size_t)(end - last - 1) : 0;
    while (decimals > 0 && text < end) {
        const char *point = memchr(text, '.', (size_t)(end - text));
        size_t field = point ? (size_t)(point - text) + 1 + decimals : 0;
        if (!point || field > (size_t)(end - text) || !io_decimal_parse(text, field, &number))
            return -1;
        if (n < 9)
            numbers[n] = number;
        n++;
        text += field;
    }
    return decimals > 0 ? n : -1;
}

/* 1 if the line begins like an atom's: a residue number, then names without a decimal point. A line of a box
 * has decimal points there. */
static int begins_as_atom(const char *text, size_t length)
{
    int64_t residue;

    return length > TRAJECTORY_GRO_POSITIONS && io_decimal_parse_integer(text, 5, &residue) &&
           !memchr(text + 5, '.', 10);
}

/* Reads the box. Any text that is not an atom's line is accepted and read as a box of zeros. But a line that the end
 * of the file may have cut must have 3 or 9 numbers. */
static int is_box(const char *text, size_t length, int cut, double box[9])
{
    /* In the file the diagonal elements come first. */
    static const int places[9] = {0, 4, 8, 1, 2, 3, 5, 6, 7};
    double numbers[9];
    int n = read_spaced(text, length, numbers);

    if (n < 0)
        n = read_touching(text, length, numbers);
    for (int i = 0; i < 9; i++)
        box[places[i]] = (n == 3 && i < 3) || n == 9 ? numbers[i] : 0;
    return cut ? n == 3 || n == 9 : n >= 0 || !begins_as_atom(text, length);
}

/* Decides if a box in a line without a line end may be incomplete. Three numbers may be the first three of nine. If
 * numbers touch each other, it is not certain where the last number ends. */
static trajectory_text_ending judge(const char *text, size_t length)
{
    trajectory_word words[9];
    size_t n = trajectory_text_split(text, length, words, 9);

    if (n != 3 && n != 9)
        return TRAJECTORY_TEXT_UNCERTAIN;
    trajectory_text_ending ending = trajectory_text_judge(words, n);
    return n == 3 && ending == TRAJECTORY_TEXT_WHOLE ? TRAJECTORY_TEXT_UNCERTAIN : ending;
}

collet_status trajectory_gro_read_box(io_lines *lines, double box[9],
                                      trajectory_text_ending *ending, collet_error *err)
{
    const char *text;
    size_t length;
    int truncated;

    collet_status status = next_line(lines, &text, &length, "the box", &truncated, err);
    *ending = truncated ? TRAJECTORY_TEXT_CUT : TRAJECTORY_TEXT_WHOLE;
    if (status != COLLET_OK)
        return status;
    if (lines->cut)
        *ending = judge(text, length);
    if (!is_box(text, length, lines->cut, box))
        return trajectory_text_fail(lines, err,
                                    "expected the numbers of the box after the last atom, not "
                                    "'%.*s'; is the number of atoms in line 2 right?",
                                    length > 60 ? 60 : (int)length, text);
    return COLLET_OK;
}

/* ---- Recognition ------------------------------------------------------------------------- */

int trajectory_gro_recognise(const uint8_t *bytes, size_t n)
{
    const char *text = (const char *)bytes;
    int64_t atoms;

    /* In a dump of LAMMPS a number follows the line "ITEM: TIMESTEP". */
    if (memchr(bytes, 0, n) || (n >= 5 && memcmp(bytes, "ITEM:", 5) == 0))
        return 0;
    const char *second = memchr(text, '\n', n);
    if (!second)
        return 0;
    second++;
    size_t left = n - (size_t)(second - text);
    const char *end = left > 0 ? memchr(second, '\n', left) : NULL;
    if (!end)
        end = second + left;
    return io_decimal_parse_integer(second, (size_t)(end - second), &atoms) && atoms >= 0;
}

/*
 * Names and residues of the atoms in the first frame of a .gro file.
 *
 * Residue numbers have five digits and wrap to 0 after 99999; they are kept as written. Atom numbers are ignored:
 * an atom's index is its position in the file. Positions, velocities and the box are checked, not kept.
 */

#define COLUMN 5         /* width of the three fields that are read */
#define SHORTEST_LINE 24 /* no atom's line is shorter: limits the memory by the size of the file */

/* Refuses numbers that the file cannot hold before memory is allocated for them. */
static collet_status check_atoms(const io_lines *lines, int64_t n_atoms, collet_error *err)
{
    if (n_atoms < 1)
        return trajectory_text_fail(lines, err, "the number of atoms is 0");
    if (n_atoms > lines->source->size / SHORTEST_LINE)
        return trajectory_text_fail(lines, err,
                                    "%lld atoms are announced, but a file of %lld bytes cannot "
                                    "hold them",
                                    (long long)n_atoms, (long long)lines->source->size);
    return COLLET_OK;
}

/* The title is the first line, which was read already. */
static collet_status allocate_atoms(io_source *source, trajectory_topology *topology,
                                    int64_t n_atoms, collet_error *err)
{
    io_lines first = {.source = source, .number = 1};
    const char *title;
    size_t length;

    collet_status status = io_lines_next(&first, &title, &length, err);
    return status == COLLET_OK
               ? trajectory_topology_allocate(topology, n_atoms, title, length, source->path, err)
               : status;
}

static collet_status read_identity(const io_lines *lines, const char *text,
                                   trajectory_topology *topology, int64_t atom, collet_error *err)
{
    int64_t residue;

    if (!io_decimal_parse_integer(text, COLUMN, &residue))
        return trajectory_text_fail(
            lines, err, "the residue number in columns 1-5 is not a number: '%.5s'", text);
    topology->residue_ids[atom] = (int32_t)residue;
    trajectory_topology_copy_name(topology->residue_names[atom], text + COLUMN, COLUMN);
    trajectory_topology_copy_name(topology->names[atom], text + 2 * COLUMN, COLUMN);
    return COLLET_OK;
}

static collet_status read_atoms(io_lines *lines, trajectory_topology *topology, collet_error *err)
{
    trajectory_gro_columns columns;
    double position[3];

    for (int64_t i = 0; i < topology->n_atoms; i++) {
        const char *text;
        size_t length;

        collet_status status = io_lines_next(lines, &text, &length, err);
        if (status != COLLET_OK)
            return status;
        if (!text)
            return collet_fail(err, COLLET_FORMAT,
                               "%s:%lld: the file ends after %lld of its %lld atoms",
                               lines->source->path, (long long)lines->number, (long long)i,
                               (long long)topology->n_atoms);
        if (length < TRAJECTORY_GRO_POSITIONS)
            return trajectory_text_fail(lines, err,
                                        "expected atom %lld of %lld, but the line has %zu columns",
                                        (long long)i + 1, (long long)topology->n_atoms, length);
        status = trajectory_gro_measure(lines, text, length, i, &columns, err);
        if (status != COLLET_OK)
            return status;
        status = read_identity(lines, text, topology, i, err);
        if (status != COLLET_OK)
            return status;
        status = trajectory_gro_read_atom(lines, text, length, &columns, position, NULL, err);
        if (status != COLLET_OK)
            return status;
    }
    topology->lacking = trajectory_gro_lacking(&columns);
    return COLLET_OK;
}

collet_status trajectory_gro_read_topology(io_source *source, trajectory_topology *topology,
                                           collet_error *err)
{
    io_lines lines = {.source = source, .number = 1};
    trajectory_gro_head head;
    double box[9];
    trajectory_text_ending ending;
    int truncated;

    collet_status status = trajectory_gro_read_head(&lines, &head, &truncated, err);
    if (status != COLLET_OK)
        return status;
    status = check_atoms(&lines, head.n_atoms, err);
    if (status != COLLET_OK)
        return status;
    status = allocate_atoms(source, topology, head.n_atoms, err);
    if (status != COLLET_OK)
        return status;
    status = read_atoms(&lines, topology, err);
    return status == COLLET_OK ? trajectory_gro_read_box(&lines, box, &ending, err) : status;
}

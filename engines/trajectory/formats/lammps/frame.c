/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_lammps.c, tests/fuzz/fuzz_trajectory.c */
#include "trajectory/formats/lammps/frame.h"

#include "io/decimal.h"

#include <string.h>

#define ITEM "ITEM: "
#define SHOWN 40 /* bytes of a line in a message */

static int is_word(trajectory_word word, const char *name)
{
    return strlen(name) == word.length && memcmp(word.text, name, word.length) == 0;
}

/* ---- Columns ----------------------------------------------------------------------------- */

/* Kinds of positions. If a file has several kinds, the first kind in this list is used. */
static const struct {
    const char *names[3];
    int is_scaled;
} positions[] = {{{"x", "y", "z"}, 0},
                 {{"xs", "ys", "zs"}, 1},
                 {{"xu", "yu", "zu"}, 0},
                 {{"xsu", "ysu", "zsu"}, 1}};

#define KINDS (sizeof positions / sizeof *positions)

static const char *const others[] = {"vx", "vy", "vz", "fx", "fy", "fz", "id"};

/* For each kind, one bit for each of x, y and z that is a column of the file. */
typedef struct columns {
    int axes[KINDS];
    int8_t at[KINDS][3];
} columns;

static void note_column(trajectory_lammps_frame *frame, columns *found, trajectory_word word,
                        int8_t column)
{
    frame->roles[column] = TRAJECTORY_LAMMPS_OTHER;
    for (size_t kind = 0; kind < KINDS; kind++)
        for (int axis = 0; axis < 3; axis++)
            if (is_word(word, positions[kind].names[axis])) {
                found->axes[kind] |= 1 << axis;
                found->at[kind][axis] = column;
            }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is_word(word, others[i]))
            frame->roles[column] = (int8_t)(TRAJECTORY_LAMMPS_V + i);
}

static int has_roles(const trajectory_lammps_frame *frame, int first, int n)
{
    int found = 0;

    for (int i = 0; i < frame->n_columns; i++)
        if (frame->roles[i] >= first && frame->roles[i] < first + n)
            found |= 1 << (frame->roles[i] - first);
    return found == (1 << n) - 1;
}

static collet_status read_columns(const io_lines *lines, const char *text, size_t length, size_t at,
                                  trajectory_lammps_frame *frame, collet_error *err)
{
    trajectory_word words[TRAJECTORY_LAMMPS_COLUMNS + 1];
    columns found = {0};
    size_t kind = 0,
           n = trajectory_text_split(text + at, length - at, words, TRAJECTORY_LAMMPS_COLUMNS + 1);

    if (n > TRAJECTORY_LAMMPS_COLUMNS)
        return trajectory_text_fail(lines, err, "there are more than %d columns",
                                    TRAJECTORY_LAMMPS_COLUMNS);
    frame->n_columns = (int32_t)n;
    for (size_t i = 0; i < n; i++)
        note_column(frame, &found, words[i], (int8_t)i);
    while (kind < KINDS && found.axes[kind] != 7)
        kind++;
    for (int axis = 0; axis < 3 && kind < KINDS; axis++)
        frame->roles[found.at[kind][axis]] = (int8_t)axis;
    frame->is_scaled = kind < KINDS && positions[kind].is_scaled;
    frame->fields = (kind < KINDS ? TRAJECTORY_HAS_POSITIONS : 0) |
                    (has_roles(frame, TRAJECTORY_LAMMPS_V, 3) ? TRAJECTORY_HAS_VELOCITIES : 0) |
                    (has_roles(frame, TRAJECTORY_LAMMPS_F, 3) ? TRAJECTORY_HAS_FORCES : 0) |
                    (has_roles(frame, TRAJECTORY_LAMMPS_ID, 1) ? TRAJECTORY_LAMMPS_HAS_ID : 0);
    return COLLET_OK;
}

/* ---- Items ------------------------------------------------------------------------------- */

/* Reads the next line. *ends = 1: there is no line, or the line has no line end, so the file may be cut there. */
static collet_status next_line(io_lines *lines, const char **text, size_t *length, int *ends,
                               collet_error *err)
{
    collet_status status = io_lines_next(lines, text, length, err);

    *ends = status == COLLET_OK && (!*text || lines->cut);
    return status;
}

static double min_f64(double a, double b)
{
    return a < b ? a : b;
}

/* The vectors of a box from its bounds, which surround a tilted box. */
static void set_tilted(trajectory_lammps_frame *frame, const double rows[3][4])
{
    double xy = rows[0][2], xz = rows[1][2], yz = rows[2][2];
    double low = min_f64(min_f64(0, xy), min_f64(xz, xy + xz));
    double high = -min_f64(min_f64(0, -xy), min_f64(-xz, -(xy + xz)));

    frame->origin[0] = rows[0][0] - low;
    frame->origin[1] = rows[1][0] - min_f64(0, yz);
    frame->origin[2] = rows[2][0];
    frame->box[0] = rows[0][1] - high - frame->origin[0];
    frame->box[3] = xy;
    frame->box[4] = rows[1][1] + min_f64(0, -yz) - frame->origin[1];
    frame->box[6] = xz;
    frame->box[7] = yz;
    frame->box[8] = rows[2][1] - rows[2][0];
}

/* Reads the three lines of a box; `words` follow "BOX BOUNDS". */
static collet_status read_box(io_lines *lines, const char *words, size_t n_words,
                              trajectory_lammps_frame *frame, int *ends, collet_error *err)
{
    double rows[3][4] = {{0}};
    trajectory_word word[8];
    size_t n = trajectory_text_split(words, n_words, word, 8), needed = 2;
    int is_general = 0;

    for (size_t i = 0; i < n; i++) {
        is_general |= is_word(word[i], "abc");
        needed = is_general ? 4 : is_word(word[i], "xy") ? 3 : needed;
    }
    /* The last three words say which axes are periodic. Old versions write no such words; then no axis is
     * periodic. */
    for (size_t i = 0; i < 3; i++)
        frame->is_periodic[i] = n >= 3 && is_word(word[n - 3 + i], "pp");
    for (int i = 0; i < 3; i++) {
        const char *text;
        size_t length;

        collet_status status = next_line(lines, &text, &length, ends, err);
        if (status != COLLET_OK || *ends)
            return status;
        n = trajectory_text_split(text, length, word, needed);
        for (size_t k = 0; k < needed; k++)
            if (k >= n || !io_decimal_parse(word[k].text, word[k].length, &rows[i][k]))
                return trajectory_text_fail(lines, err, "the box has no number in column %zu",
                                            k + 1);
    }
    memset(frame->box, 0, sizeof frame->box);
    for (int i = 0; i < 3 && is_general; i++) {
        memcpy(frame->box + 3 * i, rows[i], 3 * sizeof(double));
        frame->origin[i] = rows[i][3];
    }
    if (!is_general)
        set_tilted(frame, (const double(*)[4])rows);
    return COLLET_OK;
}

/* Reads the line after an item with one number, or the name of the units. */
static collet_status read_value(io_lines *lines, trajectory_word item,
                                trajectory_lammps_frame *frame, int *ends, collet_error *err)
{
    trajectory_word word = {"", 0};
    const char *text;
    size_t length;
    int parsed, shown = (int)(item.length < SHOWN ? item.length : SHOWN);

    collet_status status = next_line(lines, &text, &length, ends, err);
    if (status != COLLET_OK || *ends)
        return status;
    trajectory_text_split(text, length, &word, 1);
    if (is_word(item, "TIMESTEP")) {
        parsed = io_decimal_parse_integer(word.text, word.length, &frame->step);
    } else if (is_word(item, "NUMBER OF ATOMS")) {
        parsed =
            io_decimal_parse_integer(word.text, word.length, &frame->n_atoms) && frame->n_atoms > 0;
    } else if (is_word(item, "TIME")) {
        parsed = frame->has_time = io_decimal_parse(word.text, word.length, &frame->time);
    } else if (is_word(item, "UNITS")) {
        parsed = word.length > 0 && word.length < sizeof frame->units;
        if (parsed)
            memcpy(frame->units, word.text, word.length);
    } else {
        return trajectory_text_fail(lines, err, "'%.*s' is not an item of a dump of atoms", shown,
                                    item.text);
    }
    return parsed ? COLLET_OK
                  : trajectory_text_fail(lines, err, "'%.*s' is not a value of ITEM: %.*s",
                                         (int)(length < SHOWN ? length : SHOWN), text, shown,
                                         item.text);
}

collet_status trajectory_lammps_read_head(io_lines *lines, trajectory_lammps_frame *frame,
                                          int *ends, collet_error *err)
{
    static const char bounds[] = "BOX BOUNDS", atoms[] = "ATOMS";
    char item[IO_SOURCE_VIEW / 256];

    *frame = (trajectory_lammps_frame){.step = -1};
    for (;;) {
        const char *text;
        size_t length, begin = strlen(ITEM);

        collet_status status = next_line(lines, &text, &length, ends, err);
        if (status != COLLET_OK || *ends)
            return status;
        if (length < begin || memcmp(text, ITEM, begin) != 0)
            return trajectory_text_fail(lines, err, "'%.*s' is not an ITEM: line of a LAMMPS dump",
                                        (int)(length < SHOWN ? length : SHOWN), text);
        text += begin;
        length -= begin;
        if (length >= strlen(atoms) && memcmp(text, atoms, strlen(atoms)) == 0) {
            if (frame->n_atoms == 0)
                return trajectory_text_fail(lines, err, "no NUMBER OF ATOMS comes before ATOMS");
            return read_columns(lines, text, length, strlen(atoms), frame, err);
        }
        /* The line is valid until the next line is read. */
        length = length < sizeof item ? length : sizeof item;
        memcpy(item, text, length);
        while (length > 0 && item[length - 1] == ' ')
            length--;
        if (length >= strlen(bounds) && memcmp(item, bounds, strlen(bounds)) == 0)
            status =
                read_box(lines, item + strlen(bounds), length - strlen(bounds), frame, ends, err);
        else
            status = read_value(lines, (trajectory_word){item, length}, frame, ends, err);
        if (status != COLLET_OK || *ends)
            return status;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_xyz.c */
#include "comment.h"

#include "io/decimal.h"
#include "io/letters.h"

#include <stddef.h>
#include <string.h>

#define ANGSTROM 10.       /* in 1 nm */
#define FEMTOSECONDS 1000. /* in 1 ps */
#define SHOWN(word) ((int)((word).length < 60 ? (word).length : 60)), (word).text

static int parse(trajectory_word word, double *value)
{
    return io_decimal_parse(word.text, word.length, value);
}

/* Returns the text after KEY=, in quotation marks or up to a blank; length 0 if there is none. */
static trajectory_word find_key(const char *text, size_t length, const char *key)
{
    const char *start = text, *end = text + length;
    size_t n = strlen(key);

    for (; text + n < end; text++) {
        if (!io_same_letters(text, key, n) || (text > start && text[-1] != ' '))
            continue;
        text += n;
        char last = *text == '"' ? '"' : ' ';
        text += last == '"';
        const char *close = memchr(text, last, (size_t)(end - text));
        return (trajectory_word){text, (size_t)((close ? close : end) - text)};
    }
    return (trajectory_word){"", 0};
}

static int is_word(trajectory_word word, const char *text)
{
    return word.length == strlen(text) && io_same_letters(word.text, text, word.length);
}

/* ---- Columns ----------------------------------------------------------------------------- */

#define COLUMN(member) offsetof(xyz_columns, member)

static const struct {
    const char *name;
    char type;
    int count;
    size_t member;
} known[] = {
    {"species", 'S', 1, COLUMN(name)},     {"pos", 'R', 3, COLUMN(position)},
    {"Z", 'I', 1, COLUMN(number)},         {"velo", 'R', 3, COLUMN(velocity)},
    {"momenta", 'R', 3, COLUMN(momentum)}, {"forces", 'R', 3, COLUMN(force)},
    {"force", 'R', 3, COLUMN(force)},      {"masses", 'R', 1, COLUMN(mass)},
    {"mass", 'R', 1, COLUMN(mass)},
};

/* Takes the text up to the next ':' from `rest`. */
static trajectory_word take_field(trajectory_word *rest)
{
    const char *colon = memchr(rest->text, ':', rest->length);
    trajectory_word field = {rest->text, colon ? (size_t)(colon - rest->text) : rest->length};
    size_t used = field.length + (colon != NULL);

    *rest = (trajectory_word){rest->text + used, rest->length - used};
    return field;
}

static void take_property(xyz_columns *columns, trajectory_word name, char type, int count)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        int *at = (int *)((char *)columns + known[i].member);
        if (is_word(name, known[i].name) && type == known[i].type && count == known[i].count &&
            *at < 0 && columns->n + count <= XYZ_WORDS)
            *at = columns->n;
    }
}

static collet_status read_properties(const io_lines *lines, trajectory_word text,
                                     xyz_columns *columns, collet_error *err)
{
    trajectory_word rest = text;
    int64_t count;

    *columns = (xyz_columns){0, 0, -1, -1, -1, -1, -1, -1, -1};
    while (rest.length > 0) {
        trajectory_word name = take_field(&rest), type = take_field(&rest), n = take_field(&rest);
        if (name.length == 0 || type.length != 1 || !memchr("SIRL", *type.text, 4) ||
            !io_decimal_parse_integer(n.text, n.length, &count) || count < 1 || count > 1000)
            return trajectory_text_fail(lines, err,
                                        "Properties is '%.*s', not NAME:TYPE:COUNT:... with the "
                                        "types S, I, R and L",
                                        SHOWN(text));
        take_property(columns, name, *type.text, (int)count);
        columns->last = *type.text == 'R' ? (int)count : 0;
        columns->n += (int)count;
        if (columns->n > XYZ_WORDS) { /* later columns are not read */
            columns->n = XYZ_WORDS;
            columns->last = 0;
            break;
        }
    }
    if (columns->position < 0 || (columns->name < 0 && columns->number < 0))
        return trajectory_text_fail(lines, err,
                                    "Properties is '%.*s'; it needs pos:R:3, and species:S:1 or "
                                    "Z:I:1, among the first %d columns",
                                    SHOWN(text), XYZ_WORDS);
    return COLLET_OK;
}

/* ---- The box and the time ------------------------------------------------------------------ */

static collet_status read_box(const io_lines *lines, const char *text, size_t length, double box[9],
                              collet_error *err)
{
    trajectory_word lattice = find_key(text, length, "Lattice=");
    trajectory_word periods = find_key(text, length, "pbc="), words[10];
    size_t n = trajectory_text_split(lattice.text, lattice.length, words, 10);

    for (size_t i = 0; i < n; i++)
        if (n != 9 || !parse(words[i], &box[i]))
            return trajectory_text_fail(lines, err, "Lattice has not nine numbers");
    for (size_t i = 0; i < n; i++)
        box[i] /= ANGSTROM;
    if (n == 0 || periods.length == 0)
        return COLLET_OK;
    n = trajectory_text_split(periods.text, periods.length, words, 4);
    for (size_t i = 0; i < n; i++) {
        if (n != 3 || !memchr("TtFf10", *words[i].text, 6))
            return trajectory_text_fail(lines, err, "pbc is '%.*s', not three letters T or F",
                                        SHOWN(periods));
        if (memchr("Ff0", *words[i].text, 3))
            memset(box + 3 * i, 0, 3 * sizeof *box);
    }
    return COLLET_OK;
}

/* Reads "i = 5, time = 2.5, ...", which CP2K writes. */
static void read_cp2k(const char *text, size_t length, trajectory_text_moment *moment)
{
    trajectory_word words[6];
    double time;
    int64_t step;

    if (trajectory_text_split(text, length, words, 6) < 6 || !is_word(words[0], "i") ||
        !is_word(words[1], "=") || !is_word(words[3], "time") || !is_word(words[4], "="))
        return;
    for (size_t i = 2; i < 6; i += 3)
        words[i].length -= words[i].text[words[i].length - 1] == ',';
    if (!io_decimal_parse_integer(words[2].text, words[2].length, &step) || !parse(words[5], &time))
        return;
    *moment = (trajectory_text_moment){.has_time = 1, .time = time / FEMTOSECONDS, .step = step};
}

collet_status xyz_comment_parse(const io_lines *lines, const char *text, size_t length,
                                xyz_comment *comment, collet_error *err)
{
    trajectory_word properties = find_key(text, length, "Properties=");

    *comment = (xyz_comment){.columns = {4, 3, 0, -1, 1, -1, -1, -1, -1}};
    comment->moment = trajectory_text_title(text, length);
    if (!comment->moment.has_time)
        read_cp2k(text, length, &comment->moment);
    if (properties.length > 0) {
        collet_status status = read_properties(lines, properties, &comment->columns, err);
        if (status != COLLET_OK)
            return status;
    }
    return read_box(lines, text, length, comment->box, err);
}

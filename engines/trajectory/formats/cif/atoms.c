/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_cif.c, tests/fuzz/fuzz_trajectory.c */
#include "atoms.h"

#include "io/decimal.h"
#include "io/letters.h"
#include "trajectory/formats/cell.h"

#include <string.h>

#define ANGSTROM 10. /* in 1 nm */
#define MAX_COLUMNS 255

/* Items of _atom_site. Each item has a second item, which is used if a row has no value of the first item. */
static const char *const items[TRAJECTORY_CIF_FIELDS][2] = {
    [TRAJECTORY_CIF_MODEL] = {"pdbx_PDB_model_num", NULL},
    [TRAJECTORY_CIF_LOCATION] = {"label_alt_id", NULL},
    [TRAJECTORY_CIF_CHAIN] = {"auth_asym_id", "label_asym_id"},
    [TRAJECTORY_CIF_RESIDUE] = {"auth_seq_id", "label_seq_id"},
    [TRAJECTORY_CIF_INSERTION] = {"pdbx_PDB_ins_code", NULL},
    [TRAJECTORY_CIF_NAME] = {"label_atom_id", "auth_atom_id"},
    [TRAJECTORY_CIF_RESIDUE_NAME] = {"label_comp_id", "auth_comp_id"},
    [TRAJECTORY_CIF_ELEMENT] = {"type_symbol", NULL},
    [TRAJECTORY_CIF_X] = {"Cartn_x", NULL},
    [TRAJECTORY_CIF_Y] = {"Cartn_y", NULL},
    [TRAJECTORY_CIF_Z] = {"Cartn_z", NULL},
};

/* ---- Head -------------------------------------------------------------------------------- */

/* Returns the name of the item after "_atom_site."; length 0: the item has another beginning. */
static trajectory_word atom_item(const trajectory_cif_token *token)
{
    const char category[] = "_atom_site.";
    const size_t n = sizeof category - 1;

    if (token->quoted || token->word.length <= n || !io_same_letters(token->word.text, category, n))
        return (trajectory_word){"", 0};
    return (trajectory_word){token->word.text + n, token->word.length - n};
}

static int is_item(trajectory_word word, const char *name)
{
    return name && word.length == strlen(name) && io_same_letters(word.text, name, word.length);
}

static void take_column(trajectory_cif_columns *columns, trajectory_word item)
{
    for (size_t f = 0; f < TRAJECTORY_CIF_FIELDS; f++) {
        if (is_item(item, items[f][0]))
            columns->place[f] = columns->count;
        if (is_item(item, items[f][1]))
            columns->second[f] = columns->count;
    }
}

/* Reads the names of a loop, up to its first value. */
static collet_status read_columns(trajectory_cif *cif, collet_error *err)
{
    trajectory_cif_columns *columns = &cif->columns;
    trajectory_cif_token token;

    memset(columns, 0, sizeof *columns);
    for (;;) {
        collet_status status = trajectory_cif_read(&cif->tokens, &token, err);
        if (status != COLLET_OK)
            return status;
        if (!token.word.text || token.quoted || *token.word.text != '_')
            break;
        trajectory_word item = atom_item(&token);
        if (item.length > 0 && columns->count == MAX_COLUMNS)
            return trajectory_text_fail(&cif->tokens.lines, err, "a loop has more than %d items",
                                        MAX_COLUMNS);
        columns->count = (uint8_t)(columns->count + (item.length > 0));
        take_column(columns, item);
    }
    if (token.word.text)
        trajectory_cif_seek(&cif->tokens, token.offset, token.line);
    return COLLET_OK;
}

/* Takes the number of one of the six items of the cell; digits in parentheses state the number's error and are
 * ignored. */
static void take_cell(double cell[6], const trajectory_cif_token *name, trajectory_word value)
{
    static const char *const names[6] = {"_cell.length_a",   "_cell.length_b",
                                         "_cell.length_c",   "_cell.angle_alpha",
                                         "_cell.angle_beta", "_cell.angle_gamma"};
    const char *uncertainty = memchr(value.text, '(', value.length);

    if (uncertainty)
        value.length = (size_t)(uncertainty - value.text);
    for (size_t i = 0; i < 6; i++)
        if (trajectory_cif_is(name, names[i]) &&
            !io_decimal_parse(value.text, value.length, &cell[i]))
            cell[i] = 0;
}

static int is_cell(const trajectory_cif_token *token)
{
    const char category[] = "_cell.";

    return !token->quoted && token->word.length > sizeof category &&
           io_same_letters(token->word.text, category, sizeof category - 1);
}

static void take_title(trajectory_cif *cif, trajectory_word value)
{
    size_t n = value.length < TRAJECTORY_CIF_TEXT ? value.length : TRAJECTORY_CIF_TEXT - 1;

    memcpy(cif->title, value.text, n);
    cif->title[n] = '\0';
}

/* Reads items until a loop of atoms begins (*found) or the file ends. */
static collet_status read_items(trajectory_cif *cif, double cell[6], int *found, collet_error *err)
{
    trajectory_cif_token token;

    *found = 0;
    for (;;) {
        collet_status status = trajectory_cif_read(&cif->tokens, &token, err);
        if (status != COLLET_OK || !token.word.text)
            return status;
        if (trajectory_cif_is(&token, "loop_")) {
            status = read_columns(cif, err);
            *found = cif->columns.place[TRAJECTORY_CIF_X] > 0;
            if (status != COLLET_OK || *found)
                return status;
        } else if (is_cell(&token) || trajectory_cif_is(&token, "_struct.title")) {
            char text[TRAJECTORY_CIF_VALUE] = "";
            trajectory_cif_token name = {.word = {text, token.word.length}};
            int title = !is_cell(&token);

            if (token.word.length >= sizeof text)
                continue;
            memcpy(text, token.word.text, token.word.length); /* a value may be in another line */
            status = trajectory_cif_read(&cif->tokens, &token, err);
            if (status != COLLET_OK || !token.word.text)
                return status;
            if (title)
                take_title(cif, token.word);
            else
                take_cell(cell, &name, token.word);
            cif->has_cell = cif->has_cell || !title;
        }
    }
}

collet_status trajectory_cif_find_atoms(trajectory_cif *cif, collet_error *err)
{
    double cell[6] = {0};
    int found;

    collet_status status = read_items(cif, cell, &found, err);
    if (status != COLLET_OK)
        return status;
    trajectory_cell_of_crystal(cif->box, cell);
    if (!found)
        return collet_fail(err, COLLET_FORMAT,
                           "%s: there are no atoms: no loop_ has _atom_site.Cartn_x (positions in "
                           "fractions of a cell, _atom_site_fract_x, are not read)",
                           cif->tokens.lines.source->path);
    if (!cif->columns.place[TRAJECTORY_CIF_Y] || !cif->columns.place[TRAJECTORY_CIF_Z])
        return trajectory_text_fail(&cif->tokens.lines, err,
                                    "the loop of atoms has no _atom_site.Cartn_%s",
                                    cif->columns.place[TRAJECTORY_CIF_Y] ? "z" : "y");
    return COLLET_OK;
}

collet_status trajectory_cif_find_box(trajectory_cif *cif, collet_error *err)
{
    trajectory_cif rest = *cif;
    double cell[6] = {0};
    int found = 1;
    collet_status status = COLLET_OK;

    while (!cif->has_cell && found && status == COLLET_OK)
        status = read_items(&rest, cell, &found, err);
    if (status == COLLET_OK && !cif->has_cell)
        trajectory_cell_of_crystal(cif->box, cell);
    return status;
}

/* ---- Rows -------------------------------------------------------------------------------- */

void trajectory_cif_take_value(trajectory_cif_value *value, const trajectory_cif_token *token)
{
    size_t n = token->word.length;

    if (n == 0 ||
        (!token->quoted && n == 1 && (*token->word.text == '.' || *token->word.text == '?')))
        return;
    value->length = n;
    memcpy(value->text, token->word.text, n < sizeof value->text ? n : sizeof value->text);
}

/* Reads a row from its first value on. */
static collet_status read_row(trajectory_cif *cif, const trajectory_cif_token *first,
                              collet_error *err)
{
    const trajectory_cif_columns *columns = &cif->columns;
    trajectory_cif_value seconds[TRAJECTORY_CIF_FIELDS] = {{.length = 0}};
    trajectory_cif_token token = *first;

    memset(cif->row, 0, sizeof cif->row);
    for (unsigned c = 1; c <= columns->count; c++) {
        for (size_t f = 0; f < TRAJECTORY_CIF_FIELDS; f++) {
            if (columns->place[f] == c)
                trajectory_cif_take_value(&cif->row[f], &token);
            if (columns->second[f] == c)
                trajectory_cif_take_value(&seconds[f], &token);
        }
        if (c == columns->count)
            break;
        collet_status status = trajectory_cif_read(&cif->tokens, &token, err);
        if (status != COLLET_OK)
            return status;
        if (trajectory_cif_ends_values(&token)) {
            cif->end = token.word.text ? TRAJECTORY_CIF_LOOP : TRAJECTORY_CIF_FILE;
            return trajectory_text_fail(&cif->tokens.lines, err,
                                        "a row of _atom_site ends after %u of its %u values", c,
                                        (unsigned)columns->count);
        }
    }
    for (size_t f = 0; f < TRAJECTORY_CIF_FIELDS; f++)
        if (cif->row[f].length == 0)
            cif->row[f] = seconds[f];
    return COLLET_OK;
}

static int same(const trajectory_cif_value *a, const trajectory_cif_value *b)
{
    size_t n = a->length < sizeof a->text ? a->length : sizeof a->text;

    return a->length == b->length && memcmp(a->text, b->text, n) == 0;
}

/* 1 if the atom is used: it has no alternative location, or the first alternative location of its residue. */
static int take_location(trajectory_cif *cif)
{
    static const int residue[] = {TRAJECTORY_CIF_CHAIN, TRAJECTORY_CIF_RESIDUE,
                                  TRAJECTORY_CIF_INSERTION};
    int same_residue = 1;

    for (size_t i = 0; i < 3; i++)
        same_residue = same_residue && same(&cif->row[residue[i]], &cif->first[residue[i]]);
    if (cif->row[TRAJECTORY_CIF_LOCATION].length == 0)
        return 1;
    if (!same_residue || cif->first[TRAJECTORY_CIF_LOCATION].length == 0)
        memcpy(cif->first, cif->row, sizeof cif->first);
    return same(&cif->row[TRAJECTORY_CIF_LOCATION], &cif->first[TRAJECTORY_CIF_LOCATION]);
}

collet_status trajectory_cif_next(trajectory_cif *cif, int *more, collet_error *err)
{
    *more = 0;
    while (cif->end == TRAJECTORY_CIF_OPEN) {
        trajectory_cif_token token;
        collet_status status = trajectory_cif_read(&cif->tokens, &token, err);

        if (status != COLLET_OK)
            return status;
        cif->next = token.offset;
        cif->next_line = token.line;
        if (trajectory_cif_ends_values(&token)) {
            cif->end = token.word.text ? TRAJECTORY_CIF_LOOP : TRAJECTORY_CIF_FILE;
            break;
        }
        status = read_row(cif, &token, err);
        if (status != COLLET_OK)
            return status;
        if (cif->n_atoms + cif->left_out == 0)
            cif->model = cif->row[TRAJECTORY_CIF_MODEL];
        if (!same(&cif->model, &cif->row[TRAJECTORY_CIF_MODEL])) {
            cif->end = TRAJECTORY_CIF_MORE;
        } else if (take_location(cif)) {
            cif->n_atoms++;
            *more = 1;
            return COLLET_OK;
        } else {
            cif->left_out++;
        }
    }
    return COLLET_OK;
}

collet_status trajectory_cif_position(const trajectory_cif *cif, double position[3],
                                      collet_error *err)
{
    for (int i = 0; i < 3; i++) {
        const trajectory_cif_value *value = &cif->row[TRAJECTORY_CIF_X + i];

        if (value->length > sizeof value->text ||
            !io_decimal_parse(value->text, value->length, &position[i]))
            return trajectory_text_fail(&cif->tokens.lines, err, "Cartn_%c is not a number: '%.*s'",
                                        "xyz"[i], (int)(value->length & 31), value -> text);
        position[i] /= ANGSTROM;
    }
    return COLLET_OK;
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t';
}

void trajectory_cif_seek(trajectory_cif_tokens *t, int64_t offset, int64_t line)
{
    t->lines.offset = offset;
    t->lines.number = line;
    t->at = NULL;
}

static collet_status next_line(trajectory_cif_tokens *t, collet_error *err)
{
    size_t length;

    t->line_offset = t->lines.offset;
    collet_status status = io_lines_next(&t->lines, &t->begin, &length, err);
    t->at = t->begin;
    t->end = t->begin ? t->begin + length : NULL;
    return status;
}

/* Reads a value that begins with ';' at the start of a line and ends at such a line. */
static collet_status read_text(trajectory_cif_tokens *t, trajectory_cif_token *token,
                               collet_error *err)
{
    size_t n = (size_t)(t->end - t->begin) - 1;
    long long first = (long long)t->lines.number - 1;

    n = n < TRAJECTORY_CIF_TEXT ? n : TRAJECTORY_CIF_TEXT - 1;
    memcpy(t->text, t->begin + 1, n);
    token->word = (trajectory_word){t->text, n};
    token->quoted = 1;
    do {
        collet_status status = next_line(t, err);
        if (status != COLLET_OK)
            return status;
        if (!t->begin)
            return trajectory_text_fail(&t->lines, err,
                                        "the file ends inside the text that begins in line %lld "
                                        "with ';'",
                                        first);
    } while (t->begin == t->end || *t->begin != ';');
    t->at = t->begin + 1;
    return COLLET_OK;
}

/* Reads a value in quotation marks. A mark ends the value only if a blank or the line's end follows. */
static collet_status read_quoted(trajectory_cif_tokens *t, trajectory_cif_token *token,
                                 collet_error *err)
{
    char mark = *t->at++;
    const char *close = t->at;

    while (close < t->end && !(*close == mark && (close + 1 == t->end || is_blank(close[1]))))
        close++;
    if (close == t->end)
        return trajectory_text_fail(&t->lines, err, "the line has no %c that ends a value", mark);
    token->word = (trajectory_word){t->at, (size_t)(close - t->at)};
    token->quoted = 1;
    t->at = close + 1;
    return COLLET_OK;
}

collet_status trajectory_cif_read(trajectory_cif_tokens *t, trajectory_cif_token *token,
                                  collet_error *err)
{
    *token = (trajectory_cif_token){.quoted = 0};
    for (;;) {
        while (t->at && t->at < t->end && is_blank(*t->at))
            t->at++;
        if (t->at && t->at < t->end && *t->at != '#')
            break;
        collet_status status = next_line(t, err);
        if (status != COLLET_OK || !t->begin)
            return status;
        if (t->begin < t->end && *t->begin == ';') {
            token->offset = t->line_offset;
            token->line = t->lines.number - 1;
            return read_text(t, token, err);
        }
    }
    token->offset = t->line_offset + (t->at - t->begin);
    token->line = t->lines.number - 1;
    if (*t->at == '\'' || *t->at == '"')
        return read_quoted(t, token, err);
    token->word.text = t->at;
    while (t->at < t->end && !is_blank(*t->at))
        t->at++;
    token->word.length = (size_t)(t->at - token->word.text);
    t->open = t->at == t->end && t->lines.cut;
    return COLLET_OK;
}

static int begins_with(trajectory_word word, const char *text)
{
    return word.length >= strlen(text) && io_same_letters(word.text, text, strlen(text));
}

int trajectory_cif_is(const trajectory_cif_token *token, const char *name)
{
    return !token->quoted && token->word.length == strlen(name) && begins_with(token->word, name);
}

int trajectory_cif_ends_values(const trajectory_cif_token *token)
{
    return !token->word.text ||
           (!token->quoted &&
            (*token->word.text == '_' || begins_with(token->word, "data_") ||
             begins_with(token->word, "save_") || trajectory_cif_is(token, "loop_") ||
             trajectory_cif_is(token, "stop_") || trajectory_cif_is(token, "global_")));
}

int trajectory_cif_recognise(const uint8_t *bytes, size_t n)
{
    const char *text = (const char *)bytes, *end = text + n;

    if (memchr(bytes, 0, n))
        return 0;
    while (text < end && (is_blank(*text) || *text == '\n' || *text == '\r' || *text == '#')) {
        const char *next = *text == '#' ? memchr(text, '\n', (size_t)(end - text)) : text;
        text = next ? next + 1 : end;
    }
    return begins_with((trajectory_word){text, (size_t)(end - text)}, "data_");
}

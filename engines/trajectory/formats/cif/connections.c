/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connections.c - the bonds of _struct_conn in an mmCIF file: covalent bonds (covale) and disulfide bridges (disulf)
 * between atoms of the file itself. Bonds to other images (operators except 1_555) are not read.
 *
 * One bond may be written as items instead of a loop.
 *
 * Tests: tests/engines/test_io_links.c, tests/fuzz/fuzz_trajectory.c
 */
#include "atoms.h"

#include "io/decimal.h"
#include "io/letters.h"

#include <string.h>

#define MAX_COLUMNS 255

/* The fields of each partner. SYMMETRY is 1_555 for an atom of the file itself, not of a symmetric image. */
enum { CHAIN, RESIDUE, INSERTION, NAME, SYMMETRY, PARTNER_FIELDS };

#define KIND (2 * PARTNER_FIELDS)
#define FIELDS (KIND + 1)

/* Items of _struct_conn. Each item has a second item, which is used if a row has no value of the first item. */
static const char *const items[FIELDS][2] = {
    [CHAIN] = {"ptnr1_auth_asym_id", "ptnr1_label_asym_id"},
    [RESIDUE] = {"ptnr1_auth_seq_id", "ptnr1_label_seq_id"},
    [INSERTION] = {"pdbx_ptnr1_PDB_ins_code", NULL},
    [NAME] = {"ptnr1_label_atom_id", "ptnr1_auth_atom_id"},
    [SYMMETRY] = {"ptnr1_symmetry", NULL},
    [PARTNER_FIELDS + CHAIN] = {"ptnr2_auth_asym_id", "ptnr2_label_asym_id"},
    [PARTNER_FIELDS + RESIDUE] = {"ptnr2_auth_seq_id", "ptnr2_label_seq_id"},
    [PARTNER_FIELDS + INSERTION] = {"pdbx_ptnr2_PDB_ins_code", NULL},
    [PARTNER_FIELDS + NAME] = {"ptnr2_label_atom_id", "ptnr2_auth_atom_id"},
    [PARTNER_FIELDS + SYMMETRY] = {"ptnr2_symmetry", NULL},
    [KIND] = {"conn_type_id", NULL},
};

typedef trajectory_cif_value row[FIELDS][2];

typedef struct connections {
    trajectory_cif_tokens tokens;
    trajectory_links *links;
    uint8_t columns[MAX_COLUMNS]; /* item of each column: 1 + 2 x field + (0 or 1); 0: another item */
    int n_columns;
} connections;

/* Returns the number of an item, as in connections.columns; -1: an item of another category. */
static int find_item(const trajectory_cif_token *token)
{
    static const char category[] = "_struct_conn.";
    const size_t n = sizeof category - 1;

    if (token->word.length <= n || !io_same_letters(token->word.text, category, n))
        return -1;
    for (int f = 0; f < FIELDS; f++)
        for (int second = 0; second < 2; second++)
            if (items[f][second] && token->word.length - n == strlen(items[f][second]) &&
                io_same_letters(token->word.text + n, items[f][second], token->word.length - n))
                return 1 + 2 * f + second;
    return 0;
}

/* ---- A bond ------------------------------------------------------------------------------ */

static int is_text(const trajectory_cif_value *value, const char *text)
{
    return value->length == strlen(text) && io_same_letters(value->text, text, value->length);
}

static int is_bond(const trajectory_cif_value *kind)
{
    static const char covalent[] = "covale"; /* also covale_base, covale_phosphate, ... */
    const size_t n = sizeof covalent - 1;

    return (kind->length >= n && io_same_letters(kind->text, covalent, n)) ||
           is_text(kind, "disulf");
}

/* Returns 0 if a value is too long or is not a number. */
static int take_end(const row values, int partner, trajectory_link_end *end)
{
    const trajectory_cif_value *fields[PARTNER_FIELDS];
    int64_t number = 0;

    for (int f = 0; f < PARTNER_FIELDS; f++) {
        const trajectory_cif_value *pair = values[partner * PARTNER_FIELDS + f];
        fields[f] = &pair[pair[0].length == 0];
        if (fields[f]->length >= TRAJECTORY_ATOM_NAME)
            return 0;
    }
    if ((fields[RESIDUE]->length > 0 &&
         !io_decimal_parse_integer(fields[RESIDUE]->text, fields[RESIDUE]->length, &number)) ||
        number < INT32_MIN || number > INT32_MAX)
        return 0;
    *end =
        (trajectory_link_end){.residue = (int32_t)number, .insertion = fields[INSERTION]->text[0]};
    memcpy(end->chain, fields[CHAIN]->text, fields[CHAIN]->length);
    memcpy(end->name, fields[NAME]->text, fields[NAME]->length);
    return fields[SYMMETRY]->length == 0 || is_text(fields[SYMMETRY], "1_555");
}

static collet_status add_row(const connections *c, const row values, collet_error *err)
{
    trajectory_link_end ends[2];

    if (!is_bond(&values[KIND][0]) || !take_end(values, 0, &ends[0]) ||
        !take_end(values, 1, &ends[1]) || trajectory_links_add(c->links, ends))
        return COLLET_OK;
    return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for its bonds",
                       c->tokens.lines.source->path);
}

static void take_value(row values, int item, const trajectory_cif_token *token)
{
    if (item > 0)
        trajectory_cif_take_value(&values[(item - 1) / 2][(item - 1) % 2], token);
}

/* ---- The loop ---------------------------------------------------------------------------- */

/* Reads the names of a loop up to its first value. *found becomes 1 if the loop has bonds. */
static collet_status read_columns(connections *c, int *found, collet_error *err)
{
    trajectory_cif_token token;

    *found = 0;
    for (c->n_columns = 0;; c->n_columns++) {
        collet_status status = trajectory_cif_read(&c->tokens, &token, err);
        if (status != COLLET_OK)
            return status;
        if (!token.word.text || token.quoted || *token.word.text != '_')
            break;
        int item = find_item(&token);
        *found = *found || item >= 0;
        if (c->n_columns == MAX_COLUMNS)
            return trajectory_text_fail(&c->tokens.lines, err, "a loop has more than %d items",
                                        MAX_COLUMNS);
        c->columns[c->n_columns] = (uint8_t)(item > 0 ? item : 0);
    }
    if (token.word.text)
        trajectory_cif_seek(&c->tokens, token.offset, token.line);
    return COLLET_OK;
}

static collet_status read_rows(connections *c, collet_error *err)
{
    row values = {{{.length = 0}}};

    for (int column = 0;;) {
        trajectory_cif_token token;
        collet_status status = trajectory_cif_read(&c->tokens, &token, err);

        if (status != COLLET_OK)
            return status;
        if (trajectory_cif_ends_values(&token)) {
            if (column > 0)
                return trajectory_text_fail(&c->tokens.lines, err,
                                            "a row of _struct_conn ends after %d of its %d values",
                                            column, c->n_columns);
            if (token.word.text)
                trajectory_cif_seek(&c->tokens, token.offset, token.line);
            return COLLET_OK;
        }
        take_value(values, c->columns[column], &token);
        if (++column < c->n_columns)
            continue;
        status = add_row(c, values, err);
        if (status != COLLET_OK)
            return status;
        memset(values, 0, sizeof values);
        column = 0;
    }
}

collet_status trajectory_cif_read_links(io_source *source, int64_t offset, int64_t line,
                                        int64_t end, trajectory_links *links, collet_error *err)
{
    connections c = {.tokens = {.lines = {.source = source, .number = 1}}, .links = links};
    row values = {{{.length = 0}}};
    collet_status status = COLLET_OK;

    trajectory_cif_seek(&c.tokens, offset, line);
    while (status == COLLET_OK) {
        trajectory_cif_token token;
        int item;

        status = trajectory_cif_read(&c.tokens, &token, err);
        if (status != COLLET_OK)
            break;
        if (!token.word.text || token.offset >= end)
            return add_row(&c, values, err);
        if (trajectory_cif_is(&token, "loop_")) {
            status = read_columns(&c, &item, err);
            if (status == COLLET_OK && item)
                status = read_rows(&c, err);
        } else if (!token.quoted && (item = find_item(&token)) > 0) {
            status = trajectory_cif_read(&c.tokens, &token, err);
            if (status == COLLET_OK && token.word.text)
                take_value(values, item, &token);
        }
    }
    return status;
}

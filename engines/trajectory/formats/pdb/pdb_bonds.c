/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pdb_bonds.c - the bonds of a .pdb file, from CONECT, SSBOND and LINK records.
 *
 * A CONECT record has the serial number of an atom and the serial numbers of up to four atoms that are bonded to it,
 * each in five columns. Numbers are compared as texts, so that decimal, hexadecimal and hybrid-36 numbers need not be
 * distinguished. If serial numbers begin again after 99999, a number that several atoms have identifies no atom.
 * Atoms that the file does not have (or that are in alternative locations) have no bonds. Numbers of more than
 * five digits move the columns after them.
 *
 * Tests: tests/engines/test_io_pdb.c, tests/fuzz/fuzz_trajectory.c, tests/engines/test_io_links.c
 */
#include "pdb.h"

#include "trajectory/formats/growth.h"

#include <string.h>

/*
 * The bonds of SSBOND and LINK records, which come before the first atom.
 *
 * Both ends are named by chain, residue and atom; the atom of an SSBOND is SG. Symmetry operators name the image of
 * an end: 1555 is the image in the file. A bond to another image joins two molecules.
 */

#define RECORD 6
#define SYMMETRY 6 /* columns of an operator */

/* The columns of a record (from 0) with the names, chains and residues of both ends. */
typedef struct ends {
    const char *record;
    size_t names[2]; /* 0: no such column; the atom is SG */
    size_t chains[2];
    size_t residues[2];
} ends;

static const ends kinds[] = {{"SSBOND", {0, 0}, {15, 29}, {17, 31}},
                             {"LINK  ", {12, 42}, {21, 51}, {22, 52}}};
static const size_t symmetries[2] = {59, 66};

static int is_identity(const char *text, size_t length, size_t at)
{
    char operator[TRAJECTORY_ATOM_NAME] = "";

    if (at < length)
        trajectory_topology_copy_name(operator, text + at,
                                      length - at < SYMMETRY ? length - at : SYMMETRY);
    return operator[0] == '\0' || strcmp(operator, "1555") == 0;
}

/* Reads both ends of a bond. 0: the line is too short, or a residue number is not a number. */
static int take_ends(const char *text, size_t length, const ends *columns,
                     trajectory_link_end link[2])
{
    for (int k = 0; k < 2; k++) {
        size_t at = columns->residues[k], n = length > at ? length - at : 0;
        char residue[TRAJECTORY_PDB_NUMBER + 1];

        link[k] = (trajectory_link_end){.name = "SG"};
        if (n < TRAJECTORY_PDB_NUMBER)
            return 0;
        residue[TRAJECTORY_PDB_NUMBER] = ' ';
        memcpy(residue, text + at, n < sizeof residue ? n : sizeof residue);
        if (!trajectory_pdb_residue(residue, 0, &link[k].residue, &link[k].insertion))
            return 0;
        trajectory_topology_copy_name(link[k].chain, text + columns->chains[k], 1);
        if (columns->names[k] > 0)
            trajectory_topology_copy_name(link[k].name, text + columns->names[k], 4);
    }
    return 1;
}

/* Adds the bonds of SSBOND and LINK records before the first atom. COLLET_NO_MEMORY, and errors of
 * io_lines_next. */
static collet_status trajectory_pdb_read_links(io_lines lines, trajectory_links *links,
                                               collet_error *err)
{
    for (;;) {
        trajectory_link_end link[2];
        const char *text;
        size_t length;
        collet_status status = io_lines_next(&lines, &text, &length, err);

        if (status != COLLET_OK || !text || trajectory_pdb_begins_model(text, length))
            return status;
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (length > RECORD && memcmp(text, kinds[i].record, RECORD) == 0 &&
                is_identity(text, length, symmetries[0]) &&
                is_identity(text, length, symmetries[1]) &&
                take_ends(text, length, &kinds[i], link) && !trajectory_links_add(links, link))
                return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for its bonds",
                                   lines.source->path);
    }
}

#define COLUMNS 5    /* columns of a serial number */
#define FIRST 6      /* first column after the name of a record */
#define MAX_SERIAL 8 /* maximum number of characters of a serial number */
#define RECORD_ENDS 5
#define TAIL_PER_ATOM 128 /* approximate bytes of CONECT records for an atom */

enum { ABSENT = -1, REPEATED = -2 };

/* The characters of a serial number, packed into 64 bits; 0: none. */
typedef uint64_t serial;

typedef struct identity {
    serial serial;
    int64_t atom;
} identity;

typedef struct connections {
    trajectory_topology *topology;
    const char *path;
    identity *identities; /* n_atoms, ascending by serial */
    size_t longest;       /* characters of the longest serial number of an atom */
    trajectory_bond *bonds;
    int64_t n_bonds;
    int64_t capacity;
} connections;

static trajectory_word trim(trajectory_word word)
{
    while (word.length > 0 && *word.text == ' ') {
        word.text++;
        word.length--;
    }
    while (word.length > 0 && word.text[word.length - 1] == ' ')
        word.length--;
    return word;
}

static serial pack(trajectory_word word)
{
    serial packed = 0;

    word = trim(word);
    memcpy(&packed, word.text, word.length < MAX_SERIAL ? word.length : MAX_SERIAL);
    return packed;
}

static int compare_identities(const void *a, const void *b)
{
    const identity *p = a, *q = b;

    return (p->serial > q->serial) - (p->serial < q->serial);
}

/* Reads the first model again, for the serial numbers of its atoms. */
static collet_status identify_atoms(connections *c, const trajectory_pdb *start, collet_error *err)
{
    trajectory_pdb pdb = *start;
    int64_t n = c->topology->n_atoms;
    collet_status status = COLLET_OK;

    c->identities = calloc((size_t)n, sizeof *c->identities);
    if (!c->identities)
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for %lld atoms", c->path,
                           (long long)n);
    for (int64_t i = 0; i < n && status == COLLET_OK; i++) {
        const char *text;
        size_t length;

        status = trajectory_pdb_next(&pdb, &text, &length, err);
        if (status == COLLET_OK && !text)
            status = collet_fail(err, COLLET_IO,
                                 "%s: the file was changed while it was read; run again", c->path);
        if (status == COLLET_OK) {
            trajectory_word word = trajectory_pdb_serial(&pdb, text);
            c->identities[i] = (identity){pack(word), i};
            size_t letters = trim(word).length;
            c->longest = letters > c->longest ? letters : c->longest;
        }
    }
    qsort(c->identities, (size_t)n, sizeof *c->identities, compare_identities);
    return status;
}

/* Returns the atom with this serial number; ABSENT, or REPEATED if several atoms have it. */
static int64_t find_atom(const connections *c, serial number)
{
    const identity key = {number, 0};
    const identity *end = c->identities + c->topology->n_atoms;
    const identity *found =
        bsearch(&key, c->identities, (size_t)c->topology->n_atoms, sizeof key, compare_identities);

    if (!found)
        return ABSENT;
    if ((found > c->identities && found[-1].serial == number) ||
        (found + 1 < end && found[1].serial == number))
        return REPEATED;
    return found->atom;
}

static collet_status add_bond(connections *c, int64_t first, int64_t second, collet_error *err)
{
    if (!trajectory_grow(&c->bonds, c->n_bonds, 1, &c->capacity, sizeof *c->bonds))
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for its bonds", c->path);
    c->bonds[c->n_bonds++] = (trajectory_bond){first, second};
    return COLLET_OK;
}

/* Divides the text into serial numbers of five columns, or more if a number is longer, such that every number is the
 * serial number of an atom. Returns how many numbers there are; 0: no division is possible. */
static size_t read_columns(const connections *c, trajectory_word rest, serial serials[RECORD_ENDS],
                           size_t n)
{
    if (rest.length == 0 || n == RECORD_ENDS)
        return rest.length == 0 ? n : 0;
    for (size_t width = COLUMNS; width <= MAX_SERIAL && width <= rest.length; width++) {
        const trajectory_word field = {rest.text, width};
        const trajectory_word next = {rest.text + width, rest.length - width};

        if (width > COLUMNS && memchr(rest.text, ' ', width))
            break;
        serials[n] = pack(field);
        if (serials[n] != 0 && find_atom(c, serials[n]) == ABSENT)
            continue;
        size_t found = read_columns(c, next, serials, n + 1);
        if (found > 0)
            return found;
    }
    return 0;
}

/* Reads numbers that blanks separate. A number longer than the number of any atom consists of several numbers that
 * touch each other. Their bonds are unknown. */
static size_t read_words(connections *c, trajectory_word rest, serial serials[RECORD_ENDS])
{
    trajectory_word words[RECORD_ENDS];
    size_t n = trajectory_text_split(rest.text, rest.length, words, RECORD_ENDS);
    int touch = 0;

    for (size_t i = 0; i < n; i++) {
        serials[i] = pack(words[i]);
        touch |= words[i].length > c->longest;
    }
    c->topology->bonds_left_out += touch;
    return touch ? 0 : n;
}

/* Sets the serial numbers of a record; returns their number. */
static size_t read_serials(connections *c, const char *text, size_t length,
                           serial serials[RECORD_ENDS])
{
    trajectory_word rest = {text + FIRST, length - FIRST};
    size_t n = 0;

    if (c->longest > COLUMNS) {
        while (rest.length > 0 && rest.text[rest.length - 1] == ' ')
            rest.length--;
        n = read_columns(c, rest, serials, 0);
        return n > 0 ? n : read_words(c, rest, serials);
    }
    for (size_t at = FIRST; n < RECORD_ENDS && at < length; at += COLUMNS)
        serials[n++] =
            pack((trajectory_word){text + at, length - at < COLUMNS ? length - at : COLUMNS});
    return n;
}

static int is_connection(const char *text, size_t length)
{
    return length > FIRST && memcmp(text, "CONECT", FIRST) == 0;
}

static collet_status take_line(connections *c, const char *text, size_t length, collet_error *err)
{
    serial serials[RECORD_ENDS];
    collet_status status = COLLET_OK;
    size_t n = read_serials(c, text, length, serials);

    for (size_t i = 1; i < n && status == COLLET_OK; i++) {
        if (serials[0] == 0 || serials[i] == 0)
            continue;
        int64_t first = find_atom(c, serials[0]), second = find_atom(c, serials[i]);
        if (first >= 0 && second >= 0)
            status = add_bond(c, first, second, err);
        else if (first == REPEATED || second == REPEATED)
            c->topology->bonds_left_out++;
    }
    return status;
}

/* Moves `lines` past other models to the CONECT records at the end of the file, or to a point before these
 * records. */
static collet_status skip_models(io_lines *lines, int64_t n_atoms, collet_error *err)
{
    int64_t from = lines->offset, size = lines->source->size;

    for (int64_t tail = (int64_t)IO_SOURCE_VIEW + n_atoms * TAIL_PER_ATOM; tail < size - from;
         tail *= 2) {
        const char *text;
        size_t length;

        lines->offset = size - tail;
        collet_status status = io_lines_next(lines, &text, &length, err); /* a part of a line */
        io_lines after = *lines;
        if (status == COLLET_OK)
            status = io_lines_next(&after, &text, &length, err);
        if (status != COLLET_OK || !text || !is_connection(text, length))
            return status;
        lines->offset = from;
    }
    return COLLET_OK;
}

/* Takes the CONECT records from `lines` up to `end`. With `rest` = 1, skips records that belong to other models. */
static collet_status take_lines(connections *c, const trajectory_pdb *start, io_lines lines,
                                int64_t end, int rest, collet_error *err)
{
    collet_status status = COLLET_OK;

    while (lines.offset < end && status == COLLET_OK) {
        io_lines before = lines;
        const char *text;
        size_t length;

        status = io_lines_next(&lines, &text, &length, err);
        if (status != COLLET_OK || !text)
            return status;
        if (is_connection(text, length) && !c->identities) {
            status = identify_atoms(c, start, err);
            lines = before; /* read the line again: its text is no longer valid */
        } else if (is_connection(text, length)) {
            status = take_line(c, text, length, err);
        } else if (rest && trajectory_pdb_begins_model(text, length)) {
            rest = 0;
            status = skip_models(&lines, c->topology->n_atoms, err);
        }
    }
    return status;
}

collet_status trajectory_pdb_read_bonds(const trajectory_pdb *start, const trajectory_pdb *rest,
                                        trajectory_topology *topology, collet_error *err)
{
    io_source *source = start->lines.source;
    connections c = {.topology = topology, .path = source->path};
    trajectory_links links = {.n = 0};
    collet_status status = trajectory_pdb_read_links(start->lines, &links, err);

    if (status == COLLET_OK)
        status =
            trajectory_links_find(&links, topology, &c.bonds, &c.n_bonds, &c.capacity, c.path, err);
    free(links.ends);
    if (status == COLLET_OK && rest->connected)
        status = take_lines(&c, start, start->lines, rest->lines.offset, 0, err);
    if (status == COLLET_OK)
        status = take_lines(&c, start, rest->lines, source->size, 1, err);
    free(c.identities);
    if (status == COLLET_OK && c.n_bonds > 0)
        return trajectory_topology_set_bonds(topology, c.bonds, c.n_bonds, c.path, err);
    free(c.bonds);
    return status;
}

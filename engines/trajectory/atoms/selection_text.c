/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_selection.c, tests/fuzz/fuzz_selection.c */
#include "selection_text.h"

#include "io/letters.h"
#include "io/nearest.h"

#include <stdio.h>
#include <string.h>

/* ---- Errors ------------------------------------------------------------------------------ */

#define EXCERPT 60

collet_status selection_fail(const selection_parser *p, size_t at, const char *message)
{
    size_t start = at > EXCERPT / 2 ? at - EXCERPT / 2 : 0;
    const char *lead = start > 0 ? "..." : "";
    char excerpt[EXCERPT + 1];
    size_t n = strnlen(p->text + start, EXCERPT);

    memcpy(excerpt, p->text + start, n);
    excerpt[n] = '\0';
    for (size_t i = 0; i < n; i++)
        if (excerpt[i] < ' ' || excerpt[i] > '~')
            excerpt[i] = '?';
    return collet_fail(p->err, COLLET_INVALID, "selection, column %zu: %s\n    %s%s%s\n    %*s^",
                       at + 1, message, lead, excerpt, p->text[start + n] != '\0' ? "..." : "",
                       (int)(at - start + strlen(lead)), "");
}

/* ---- Tokens ------------------------------------------------------------------------------ */

/* A quote counts only where a token begins: O5' and H5'' are names. */
static collet_status take_quoted(selection_parser *p)
{
    char quote = p->text[p->at++];
    const char *close = strchr(p->text + p->at, quote);

    p->quoted = 1;
    if (close == NULL)
        return selection_fail(p, p->at - 1, "this quote is never closed");
    p->length = (size_t)(close - p->text) - p->at;
    p->end = p->at + p->length + 1;
    return COLLET_OK;
}

collet_status selection_advance(selection_parser *p)
{
    const char *at = p->text + p->end;

    at += strspn(at, " \t\n\r");
    p->at = (size_t)(at - p->text);
    p->quoted = 0;
    if (*at == '"' || *at == '\'')
        return take_quoted(p);
    p->length = *at == '(' || *at == ')' ? 1 : strcspn(at, " \t\n\r()");
    p->end = p->at + p->length;
    return COLLET_OK;
}

int selection_is(const selection_parser *p, const char *word)
{
    return !p->quoted && strlen(word) == p->length &&
           io_same_letters(p->text + p->at, word, p->length);
}

int selection_at_end(const selection_parser *p)
{
    return !p->quoted && p->length == 0;
}

int selection_ends_list(const selection_parser *p)
{
    static const char *const ends[] = {"(", ")", "and", "or", "not", "&&", "||"};

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (selection_is(p, ends[i]))
            return 1;
    return selection_at_end(p);
}

/* ---- Words ------------------------------------------------------------------------------- */

/* Words that begin a test. The words after `group` are synonyms from other programs: VMD, MDAnalysis, mdtraj,
 * GROMACS. */
static const selection_word words[] = {
    {"all", SELECT_ALL, SELECT_NOTHING},          {"none", SELECT_NONE, SELECT_NOTHING},
    {"protein", SELECT_PROTEIN, SELECT_NOTHING},  {"nucleic", SELECT_NUCLEIC, SELECT_NOTHING},
    {"water", SELECT_WATER, SELECT_NOTHING},      {"backbone", SELECT_BACKBONE, SELECT_NOTHING},
    {"resname", SELECT_RESNAME, SELECT_PATTERNS}, {"name", SELECT_NAME, SELECT_PATTERNS},
    {"element", SELECT_ELEMENT, SELECT_PATTERNS}, {"chain", SELECT_CHAIN, SELECT_PATTERNS},
    {"segid", SELECT_SEGMENT, SELECT_PATTERNS},   {"resid", SELECT_RESID, SELECT_RANGES},
    {"index", SELECT_INDEX, SELECT_RANGES},       {"bynum", SELECT_INDEX, SELECT_RANGES},
    {"mass", SELECT_MASS, SELECT_COMPARISON},     {"charge", SELECT_CHARGE, SELECT_COMPARISON},
    {"group", SELECT_GROUP, SELECT_PATTERNS},     {"waters", SELECT_WATER, SELECT_NOTHING},
    {"atomname", SELECT_NAME, SELECT_PATTERNS},   {"segname", SELECT_SEGMENT, SELECT_PATTERNS},
    {"resnum", SELECT_RESID, SELECT_RANGES},      {"resnr", SELECT_RESID, SELECT_RANGES},
    {"resseq", SELECT_RESID, SELECT_RANGES},
};

/* Words of other programs that are not words here, because programs disagree on their meaning or because they are
 * written differently here. */
static const struct {
    const char *word;
    const char *advice;
} foreign[] = {
    {"around", "MDAnalysis measures around in Angstrom, without the atoms of its selection: write "
               "exwithin 3.5 A of ..."},
    {"pbwithin", "write within, which respects the periodic box"},
    {"residue", "VMD counts residue from 0, GROMACS from 1, and mdtraj means the number in the "
                "file: write resid for the number in the file"},
    {"resindex", "MDAnalysis counts resindex from 0, GROMACS from 1: write resid for the number in "
                 "the file"},
    {"chainid", "mdtraj counts chainid from 0, MDAnalysis means the name: write chain A for the "
                "name"},
    {"serial", "write index, which counts from 0, or bynum, which counts from 1"},
    {"id", "write index, which counts from 0, or bynum, which counts from 1"},
    {"atomnr", "write bynum, which counts from 1"},
    {"byres", "write same residue as ..."},
    {"prop", "write the property alone: mass > 12"},
    {"sidechain", "write protein and not backbone"},
    {"nucleicbackbone", "write nucleic and backbone"},
    {"calpha", "write protein and name CA"},
    {"hydrogen", "write element H"},
    {"noh", "write not element H"},
    {"resn", "write resname"},
    {"resi", "write resid"},
    {"symbol", "write element"},
    {"type", "types of force fields are not read: write name or element"},
    {"atomtype", "types of force fields are not read: write name or element"},
    {"xor", "write (A or B) and not (A and B)"},
};

const selection_word *selection_find_word(const selection_parser *p)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (selection_is(p, words[i].text))
            return &words[i];
    return NULL;
}

collet_status selection_fail_word(const selection_parser *p)
{
    static const char *const operators[] = {"within", "exwithin", "same", "not"};
    const char *word = p->text + p->at, *nearest = NULL;
    size_t bound = io_nearest_bound(p->length);
    char message[160];

    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (selection_is(p, foreign[i].word))
            return selection_fail(p, p->at, foreign[i].advice);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        io_nearest_try(word, p->length, words[i].text, &bound, &nearest);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        io_nearest_try(word, p->length, operators[i], &bound, &nearest);
    if (nearest == NULL || p->length == 0 || p->quoted)
        return selection_fail(p, p->at,
                              "expected one of all, none, protein, nucleic, water, backbone, "
                              "resname, name, element, chain, segid, resid, index, bynum, mass, "
                              "charge, group, same, within, exwithin, not and (");
    snprintf(message, sizeof message, "there is no such word; the nearest is %s", nearest);
    return selection_fail(p, p->at, message);
}

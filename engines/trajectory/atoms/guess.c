/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_masses.c */
#include "guess.h"

#include "io/letters.h"
#include "residues.h"

#include <string.h>

/* Ions whose names are not symbols. */
static const struct {
    char name[5];
    char symbol[3];
} ions[] = {
    {"SOD", "Na"}, {"CLA", "Cl"}, {"POT", "K"},  {"CAL", "Ca"}, {"CES", "Cs"}, {"LIT", "Li"},
    {"RUB", "Rb"}, {"CAD", "Cd"}, {"BAR", "Ba"}, {"IOD", "I"},  {"BRO", "Br"}, {"FLU", "F"},
};

/* Symbols of two letters that do not begin a usual name of an organic atom. */
static const char distinct_symbols[][3] = {
    "Cl", "Br", "Fe", "Zn", "Mg", "Mn", "Cu", "Li", "Al", "Si", "Se", "As", "Ti",
    "Ag", "Au", "Pt", "Mo", "Ru", "Rh", "Ga", "Ge", "Zr", "Rb", "Kr", "Xe", "Ar",
};

/* Elements that the first letter of a name may denote. */
static const char first_letters[] = "HDCNOSPFBIK";

/* The part of a name that denotes its element: without leading digits and trailing charges, primes
 * and digits. */
typedef struct stem {
    const char *text;
    size_t length;
} stem;

static stem stem_of(const char *name)
{
    stem s;

    s.text = name + strspn(name, "0123456789");
    s.length = 0;
    while (io_is_upper(s.text[s.length]) || io_is_lower(s.text[s.length]))
        s.length++;
    return s;
}

static int stem_is(stem s, const char *name)
{
    return strlen(name) == s.length && io_same_letters(s.text, name, s.length);
}

static int same_stem(stem a, stem b)
{
    return a.length == b.length && io_same_letters(a.text, b.text, a.length);
}

static const trajectory_element *find(const char *symbol)
{
    return trajectory_element_find(symbol, strlen(symbol));
}

static int is_virtual_site(stem atom, const char *residue)
{
    static const char *const names[] = {"MW", "LP", "EP", "EPW", "LPA", "LPB"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (stem_is(atom, names[i]))
            return 1;
    return stem_is(atom, "M") && trajectory_residue_is_water(residue);
}

/* Returns the element of an ion, or of an atom whose name is also its residue's name; NULL for other atoms. */
static const trajectory_element *guess_ion(stem atom, stem residue)
{
    for (size_t i = 0; i < sizeof ions / sizeof *ions; i++) {
        if (stem_is(residue, ions[i].name) &&
            (stem_is(atom, ions[i].name) || stem_is(atom, ions[i].symbol)))
            return find(ions[i].symbol);
    }
    if (!same_stem(atom, residue) && !stem_is(residue, "ION"))
        return NULL;
    /* Atom W in a residue W is a coarse-grained water, not tungsten. */
    return stem_is(atom, "W") ? NULL : trajectory_element_find(atom.text, atom.length);
}

/* 1 for metals and metalloids, except the elements of the list below: organic molecules often contain these. */
static int is_metal(const trajectory_element *element)
{
    static const char others[][3] = {"",   "H",  "D",  "He", "B", "C",  "N",  "O",
                                     "F",  "Ne", "Si", "P",  "S", "Cl", "Ar", "As",
                                     "Se", "Br", "Kr", "Te", "I", "Xe"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(element->symbol, others[i]) == 0)
            return 0;
    return 1;
}

static int is_distinct(stem name)
{
    for (size_t i = 0; i < sizeof distinct_symbols / sizeof *distinct_symbols; i++)
        if (name.length >= 2 && io_same_letters(name.text, distinct_symbols[i], 2))
            return 1;
    return 0;
}

/* Returns the element whose symbol is the first letter of the name; NULL if that letter stands for no usual element. */
static const trajectory_element *first_letter(stem name, int organic)
{
    if (strchr(organic ? "HDCNOSP" : first_letters, io_to_upper(name.text[0])) == NULL)
        return NULL;
    return trajectory_element_find(name.text, 1);
}

/* Returns the element of a name that is written like a symbol of two letters, such as Ca. With a number, in a residue
 * of many atoms, the name means an organic atom: Ca13 is a carbon. */
static const trajectory_element *guess_cased(stem name, int organic, int many, int *doubtful)
{
    const trajectory_element *element = NULL;

    if (!organic && name.length == 2 && io_is_upper(name.text[0]) && io_is_lower(name.text[1]))
        element = trajectory_element_find(name.text, 2);
    if (element == NULL || !many || is_distinct(name) || first_letter(name, 0) == NULL)
        return element;
    *doubtful = 1;
    return name.text[2] >= '0' && name.text[2] <= '9' ? first_letter(name, 0) : element;
}

const trajectory_element *trajectory_element_guess(const char *atom, const char *residue,
                                                   int64_t residue_atoms, int *doubtful)
{
    stem name = stem_of(atom);
    const trajectory_element *element;
    int organic = trajectory_residue_is_protein(residue) || trajectory_residue_is_water(residue);
    int many = residue_atoms > TRAJECTORY_MANY_ATOMS;

    *doubtful = 0;
    if (name.length == 0)
        return NULL;
    if (is_virtual_site(name, residue))
        return trajectory_element_at(TRAJECTORY_ELEMENTS - 1);
    element = guess_ion(name, stem_of(residue));
    if (element != NULL)
        return element;
    element = guess_cased(name, organic, many, doubtful);
    /* Among all amino acids only MSE and SEC contain an element whose symbol has two letters: selenium. */
    if (element == NULL && organic &&
        (strcmp(residue, "MSE") == 0 || strcmp(residue, "SEC") == 0) && stem_is(name, "SE"))
        element = find("Se");
    if (element == NULL && !organic && is_distinct(name))
        element = trajectory_element_find(name.text, 2);
    if (element == NULL)
        element = first_letter(name, organic);
    if (element != NULL && many && is_metal(element))
        *doubtful = 1;
    return element;
}

int trajectory_element_is_metal(const char *atom, const char *residue, const char *symbol)
{
    int doubtful;
    const trajectory_element *element = symbol[0]
                                            ? trajectory_element_find(symbol, strlen(symbol))
                                            : trajectory_element_guess(atom, residue, 1, &doubtful);

    return element && is_metal(element);
}

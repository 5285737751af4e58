/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_masses.c */
#include "elements.h"

#include "io/letters.h"
#include "residues.h"

#include <string.h>

/*
 * Standard atomic weights, IUPAC 2021, abridged to five digits: Pure and Applied Chemistry 94
 * (2022) 573. Where the weight of an element varies in nature, its conventional value.
 */
static const trajectory_element elements[] = {
    {"H", 1.008},   {"D", 2.0141},  {"He", 4.0026}, {"Li", 6.94},   {"Be", 9.0122}, {"B", 10.81},
    {"C", 12.011},  {"N", 14.007},  {"O", 15.999},  {"F", 18.998},  {"Ne", 20.180}, {"Na", 22.990},
    {"Mg", 24.305}, {"Al", 26.982}, {"Si", 28.085}, {"P", 30.974},  {"S", 32.06},   {"Cl", 35.45},
    {"Ar", 39.95},  {"K", 39.098},  {"Ca", 40.078}, {"Sc", 44.956}, {"Ti", 47.867}, {"V", 50.942},
    {"Cr", 51.996}, {"Mn", 54.938}, {"Fe", 55.845}, {"Co", 58.933}, {"Ni", 58.693}, {"Cu", 63.546},
    {"Zn", 65.38},  {"Ga", 69.723}, {"Ge", 72.630}, {"As", 74.922}, {"Se", 78.971}, {"Br", 79.904},
    {"Kr", 83.798}, {"Rb", 85.468}, {"Sr", 87.62},  {"Y", 88.906},  {"Zr", 91.224}, {"Nb", 92.906},
    {"Mo", 95.95},  {"Ru", 101.07}, {"Rh", 102.91}, {"Pd", 106.42}, {"Ag", 107.87}, {"Cd", 112.41},
    {"In", 114.82}, {"Sn", 118.71}, {"Sb", 121.76}, {"Te", 127.60}, {"I", 126.90},  {"Xe", 131.29},
    {"Cs", 132.91}, {"Ba", 137.33}, {"La", 138.91}, {"Ce", 140.12}, {"Pr", 140.91}, {"Nd", 144.24},
    {"Sm", 150.36}, {"Eu", 151.96}, {"Gd", 157.25}, {"Tb", 158.93}, {"Dy", 162.50}, {"Ho", 164.93},
    {"Er", 167.26}, {"Tm", 168.93}, {"Yb", 173.05}, {"Lu", 174.97}, {"Hf", 178.49}, {"Ta", 180.95},
    {"W", 183.84},  {"Re", 186.21}, {"Os", 190.23}, {"Ir", 192.22}, {"Pt", 195.08}, {"Au", 196.97},
    {"Hg", 200.59}, {"Tl", 204.38}, {"Pb", 207.2},  {"Bi", 208.98}, {"Th", 232.04}, {"Pa", 231.04},
    {"U", 238.03},  {"", 0.0}, /* a virtual site */
};

_Static_assert(sizeof elements / sizeof *elements == TRAJECTORY_ELEMENTS, "TRAJECTORY_ELEMENTS");

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

const trajectory_element *trajectory_element_find(const char *symbol, size_t length)
{
    if (length < 1 || length > 2)
        return NULL;
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (strlen(elements[i].symbol) == length &&
            io_same_letters(elements[i].symbol, symbol, length))
            return &elements[i];
    return NULL;
}

const trajectory_element *trajectory_element_at(size_t index)
{
    return &elements[index];
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

/* Returns the element of an ion, or of an atom whose name is also its residue's name; NULL: it is neither. */
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

/* 1 for metals and metalloids, except those of the list below: organic molecules often contain them. */
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

/* Returns the element of a name that is written like a symbol of two letters, such as Ca. With a number, in
 * a residue of many atoms, the name is that of an organic atom: Ca13 is a carbon. */
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
        return &elements[TRAJECTORY_ELEMENTS - 1];
    element = guess_ion(name, stem_of(residue));
    if (element != NULL)
        return element;
    element = guess_cased(name, organic, many, doubtful);
    /* Of all amino acids only MSE and SEC contain an element whose symbol has two letters: selenium. */
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

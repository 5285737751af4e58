/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_masses.c */
#include "residues.h"

#include <stdlib.h>
#include <string.h>

/* bsearch needs both tables in the order of strcmp. */
static const char *const protein_names[] = {
    "ABU",  "ACE",  "AIB",  "ALA",  "ALAD", "ARG",  "ARGN", "ARGP", "ASH",  "ASN",  "ASN1", "ASP",
    "ASP1", "ASPH", "ASPP", "CME",  "CYM",  "CYN",  "CYP",  "CYS",  "CYS1", "CYS2", "CYSH", "CYX",
    "DAB",  "FOR",  "GLH",  "GLN",  "GLU",  "GLUH", "GLUP", "GLY",  "HID",  "HIE",  "HIP",  "HIS",
    "HIS1", "HIS2", "HISA", "HISB", "HISD", "HISE", "HISH", "HISP", "HSD",  "HSE",  "HSP",  "HYP",
    "ILE",  "LEU",  "LSN",  "LYN",  "LYP",  "LYS",  "LYSH", "MET",  "MSE",  "NAC",  "NH2",  "NLE",
    "NMA",  "NME",  "NVA",  "ORN",  "PGLU", "PHE",  "PRO",  "PTR",  "PYL",  "SEC",  "SEP",  "SER",
    "THR",  "TPO",  "TRP",  "TYM",  "TYR",  "VAL",
};

static const char *const water_names[] = {
    "H2O", "HOH",  "OPC",  "OPC3", "SOL",  "SPC", "SPCE", "T3P", "T4P", "T5P",
    "TIP", "TIP2", "TIP3", "TIP4", "TIP5", "TP3", "TP4",  "TP5", "WAT",
};

static int compare_names(const void *key, const void *entry)
{
    return strcmp(key, *(const char *const *)entry);
}

static int is_in(const char *name, const char *const *table, size_t n)
{
    return bsearch(name, table, n, sizeof *table, compare_names) != NULL;
}

#define IS_IN(name, table) is_in(name, table, sizeof(table) / sizeof *(table))

int trajectory_residue_is_protein(const char *name)
{
    if (IS_IN(name, protein_names))
        return 1;
    /* Terminal forms: the residue's name with N or C in front of it. */
    return strlen(name) == 4 && (name[0] == 'N' || name[0] == 'C') &&
           IS_IN(name + 1, protein_names);
}

int trajectory_residue_is_water(const char *name)
{
    return IS_IN(name, water_names);
}

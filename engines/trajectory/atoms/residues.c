/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_masses.c */
#include "residues.h"

#include <stdlib.h>
#include <string.h>

/* bsearch needs the tables in the order of strcmp. */
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
    "H2O", "HHO", "HOH", "OH2",  "OHH",  "OPC",  "OPC3", "SOL", "SPC", "SPCE", "T3P",
    "T4P", "T5P", "TIP", "TIP2", "TIP3", "TIP4", "TIP5", "TP3", "TP4", "TP5",  "WAT",
};

/* Bases alone (PDB, CHARMM), with D or R for the sugar, and with 5 if a chain begins there, 3 if it ends there, or N
 * if it has only one residue (AMBER). */
static const char *const nucleic_names[] = {
    "A",    "A3",   "A5",  "ADE", "AN",  "C",    "C3",  "C5",   "CN",  "CYT", "DA",  "DA3",
    "DA5",  "DADE", "DAN", "DC",  "DC3", "DC5",  "DCN", "DCYT", "DG",  "DG3", "DG5", "DGN",
    "DGUA", "DI",   "DT",  "DT3", "DT5", "DTHY", "DTN", "DU",   "G",   "G3",  "G5",  "GN",
    "GUA",  "RA",   "RA3", "RA5", "RAN", "RC",   "RC3", "RC5",  "RCN", "RG",  "RG3", "RG5",
    "RGN",  "RU",   "RU3", "RU5", "RUN", "T",    "THY", "U",    "U3",  "U5",  "UN",  "URA",
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
    /* Terminal forms have the residue's name with N or C in front of it. */
    return strlen(name) == 4 && (name[0] == 'N' || name[0] == 'C') &&
           IS_IN(name + 1, protein_names);
}

int trajectory_residue_is_nucleic(const char *name)
{
    return IS_IN(name, nucleic_names);
}

int trajectory_residue_is_water(const char *name)
{
    return IS_IN(name, water_names);
}

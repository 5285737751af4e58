/* SPDX-License-Identifier: Apache-2.0 */
/* residues.h - kinds of residues by name. */
#pragma once

/* 1 for an amino acid or a cap of a chain: the twenty amino acids, their protonation states and links in the names of
 * the AMBER, CHARMM, GROMOS and OPLS force fields, AMBER's N- and C-terminal forms (NALA, CALA) and the common
 * modified amino acids; else 0. Upper and lower case differ.
 */
int trajectory_residue_is_protein(const char *name);

/* 1 for a nucleotide of DNA or RNA, in the names of the PDB and of the AMBER, CHARMM and GROMOS force
 * fields, also the first and last of a chain; else 0. */
int trajectory_residue_is_nucleic(const char *name);

/* 1 for a water of any model; else 0. */
int trajectory_residue_is_water(const char *name);

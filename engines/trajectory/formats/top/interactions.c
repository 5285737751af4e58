/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows are the values of GROMACS's enumeration InteractionFunction. Versions and parameters are as in GROMACS's
 * tpxio.cpp, for the versions that formats/top/tpr.c reads.
 *
 * Tests: tests/engines/test_io_tpr.c
 */
#include "interactions.h"

/* Numbers of parameters: integers, reals. SIZES: the same in all versions; CHANGED: other numbers from `version` on. */
#define SIZES(integers, reals) integers, reals, 0, 0, 0
#define CHANGED(integers, reals, version, new_integers, new_reals)                                 \
    integers, reals, version, new_integers, new_reals
#define ENERGY(since)                                                                              \
    {                                                                                              \
        since, -1, 0, 0, 0, 0, 0, TRAJECTORY_JOINS_NONE                                            \
    }
#define TERM(since, sizes)                                                                         \
    {                                                                                              \
        since, sizes, 0, TRAJECTORY_JOINS_NONE                                                     \
    }
#define BOND(since, sizes)                                                                         \
    {                                                                                              \
        since, sizes, 2, TRAJECTORY_JOINS_PAIR                                                     \
    }
#define SITE(since, reals, atoms)                                                                  \
    {                                                                                              \
        since, SIZES(0, reals), atoms, TRAJECTORY_JOINS_PAIR                                       \
    }

static const trajectory_interaction interactions[] = {
    BOND(0, SIZES(0, 4)),                         /* bonds */
    BOND(0, SIZES(0, 4)),                         /* bonds of GROMOS */
    BOND(0, CHANGED(0, 3, 79, 0, 6)),             /* Morse */
    BOND(0, SIZES(0, 3)),                         /* cubic */
    BOND(0, SIZES(0, 0)),                         /* connections */
    BOND(0, SIZES(0, 4)),                         /* harmonic potentials, as in elastic networks */
    BOND(0, SIZES(0, 2)),                         /* FENE */
    BOND(0, SIZES(1, 2)),                         /* tabulated */
    BOND(0, SIZES(1, 2)),                         /* tabulated, without exclusions */
    TERM(70, SIZES(0, 8)),                        /* restraints: no bonds */
    TERM(0, SIZES(0, 4)),                         /* angles */
    TERM(0, SIZES(0, 4)),                         /* angles of GROMOS */
    TERM(98, CHANGED(0, 2, 134, 0, 4)),           /* restricted bending */
    TERM(76, SIZES(0, 4)),                        /* linear angles */
    TERM(0, SIZES(0, 3)),                         /* cross terms of two bonds */
    TERM(0, SIZES(0, 4)),                         /* cross terms of a bond and an angle */
    TERM(0, CHANGED(0, 4, 79, 0, 8)),             /* Urey-Bradley */
    TERM(0, SIZES(0, 6)),                         /* quartic angles */
    TERM(0, SIZES(1, 2)),                         /* tabulated angles */
    TERM(0, SIZES(1, 4)),                         /* proper dihedrals */
    TERM(0, SIZES(0, 12)),                        /* Ryckaert-Bellemans */
    TERM(98, CHANGED(0, 2, 134, 0, 4)),           /* restricted torsion */
    TERM(98, CHANGED(0, 6, 134, 0, 12)),          /* combined bending and torsion */
    TERM(0, SIZES(0, 12)),                        /* Fourier dihedrals */
    TERM(0, SIZES(0, 4)),                         /* improper dihedrals */
    TERM(0, SIZES(1, 4)),                         /* periodic improper dihedrals */
    TERM(0, SIZES(1, 2)),                         /* tabulated dihedrals */
    TERM(65, SIZES(2, 0)),                        /* CMAP */
    TERM(60, CHANGED(0, 5, 113, 0, 0)),           /* generalised Born, 1-2 */
    TERM(61, CHANGED(0, 5, 113, 0, 0)),           /* generalised Born, 1-3 */
    TERM(61, CHANGED(0, 5, 113, 0, 0)),           /* generalised Born, 1-4 */
    ENERGY(72),                                   /* polarisation of generalised Born */
    ENERGY(72),                                   /* nonpolar solvation */
    TERM(0, SIZES(0, 4)),                         /* Lennard-Jones of pairs */
    ENERGY(0),                                    /* Coulomb energy of pairs */
    TERM(0, SIZES(0, 5)),                         /* pairs with their own charges */
    TERM(0, SIZES(0, 4)),                         /* pairs beyond exclusions */
    TERM(0, SIZES(0, 2)),                         /* Lennard-Jones */
    TERM(0, SIZES(0, 3)),                         /* Buckingham */
    ENERGY(0),                                    /* Lennard-Jones, long range */
    ENERGY(0),                                    /* Buckingham, long range */
    ENERGY(0),                                    /* dispersion correction */
    ENERGY(0),                                    /* Coulomb, short range */
    ENERGY(0),                                    /* Coulomb, long range */
    ENERGY(0),                                    /* exclusions of the reaction field */
    ENERGY(0),                                    /* Coulomb in reciprocal space */
    ENERGY(93),                                   /* Lennard-Jones in reciprocal space */
    ENERGY(0),                                    /* dissipative particle dynamics */
    TERM(0, SIZES(0, 1)),                         /* polarisation */
    TERM(0, SIZES(0, 6)),                         /* polarisation of water */
    TERM(0, CHANGED(0, 4, 127, 0, 3)),            /* polarisation of Thole */
    TERM(76, SIZES(0, 3)),                        /* anharmonic polarisation */
    TERM(0, SIZES(0, 12)),                        /* position restraints */
    TERM(90, SIZES(1, 5)),                        /* position restraints with a flat bottom */
    TERM(0, SIZES(2, 4)),                         /* distance restraints */
    ENERGY(0),                                    /* violations of distance restraints */
    TERM(0, SIZES(3, 3)),                         /* orientation restraints */
    ENERGY(0),                                    /* deviations from orientation restraints */
    TERM(0, SIZES(1, 4)),                         /* angle restraints */
    TERM(0, SIZES(1, 4)),                         /* restraints of angles with the z axis */
    TERM(0, CHANGED(2, 3, 82, 0, 6)),             /* dihedral restraints */
    ENERGY(0),                                    /* violations of dihedral restraints */
    BOND(0, SIZES(0, 2)),                         /* constraints */
    BOND(0, SIZES(0, 2)),                         /* constraints without exclusions */
    {0, SIZES(0, 2), 3, TRAJECTORY_JOINS_SETTLE}, /* rigid water */
    SITE(121, 0, 2),                              /* virtual site at an atom */
    SITE(0, 1, 3),                                /* virtual site on a line of two atoms */
    SITE(118, 1, 3),                              /* virtual site on a line, at a distance */
    SITE(0, 2, 4),                                /* virtual site in the plane of three atoms */
    SITE(0, 2, 4),                                /* virtual site in a plane, at a distance */
    SITE(0, 2, 4),                                /* virtual site in a plane, at a distance and an angle */
    SITE(0, 3, 4),                                /* virtual site out of the plane of three atoms */
    SITE(0, 3, 5),                                /* virtual site of four atoms */
    SITE(0, 3, 5),                                /* virtual site of four atoms, normalised */
    {0, SIZES(1, 1), 2, TRAJECTORY_JOINS_SITE},   /* virtual site of any number of atoms */
    ENERGY(0),                                    /* pulling */
    ENERGY(117),                                  /* density fitting */
    ENERGY(0),                                    /* quantum mechanics */
    ENERGY(137),                                  /* neural network */
    ENERGY(0),                                    /* potential energy */
    ENERGY(0),                                    /* kinetic energy */
    ENERGY(0),                                    /* total energy */
    ENERGY(0),                                    /* conserved energy */
    ENERGY(0),                                    /* temperature */
    ENERGY(69),                                   /* temperature of the virial */
    ENERGY(66),                                   /* dispersion correction of the pressure */
    ENERGY(0),                                    /* pressure */
    ENERGY(0),                                    /* dH/dlambda of constraints */
    ENERGY(0),                                    /* dV/dlambda, remaining */
    ENERGY(0),                                    /* dEkin/dlambda */
    ENERGY(79),                                   /* dV/dlambda: Coulomb */
    ENERGY(79),                                   /* dV/dlambda: van der Waals */
    ENERGY(79),                                   /* dV/dlambda: bonded */
    ENERGY(79),                                   /* dV/dlambda: restraints */
    ENERGY(79),                                   /* dV/dlambda: temperature */
};
#define INTERACTIONS (sizeof interactions / sizeof *interactions)

const trajectory_interaction *trajectory_interaction_at(size_t i)
{
    return i < INTERACTIONS ? &interactions[i] : NULL;
}

const trajectory_interaction *trajectory_interaction_find(int number, int version)
{
    for (size_t i = 0; i < INTERACTIONS && number >= 0; i++)
        if (version >= interactions[i].since && number-- == 0)
            return &interactions[i];
    return NULL;
}

int trajectory_interaction_sizes(const trajectory_interaction *interaction, int version,
                                 int *integers, int *reals)
{
    int is_new = interaction->changed > 0 && version >= interaction->changed;

    *integers = is_new ? interaction->new_integers : interaction->integers;
    *reals = is_new ? interaction->new_reals : interaction->reals;
    return interaction->integers >= 0;
}

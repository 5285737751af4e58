/* SPDX-License-Identifier: Apache-2.0 */
/* collet-extract on molecules that cross the boundary of the periodic box: they are made whole, or a
 * warning names them. */

#include "directory.h"
#include "extract_warnings.h"

/* The run has this warning about bodies that may not be in one piece; with --strict it fails with the same text, and
 * writes neither results nor a shard. NULL: there is none, and --strict changes nothing. */
static void expect(const char *text, const char *const *args)
{
    const char *all[24] = {"--strict"};
    char *shards = strdup(io_path(directory, "out.npz.shards"));
    size_t n = 1;

    for (size_t i = 0; args[i] != NULL && n < 20; i++)
        all[n++] = args[i];
    for (int shard = 0; shard < 2; shard++) {
        if (shard)
            all[n++] = "--shard", all[n++] = "1/1";
        unlink(io_path(directory, "out.npz"));
        tool_result result = run(text != NULL ? 2 : 0, all);
        if (text != NULL) {
            assert_contains(result.err, "strict: ", text);
        }
        assert_int_equal(access(io_path(directory, shard ? "out.npz.shards/1-of-1.npz" : "out.npz"), F_OK),
                         text != NULL ? -1 : 0);
    }
    io_remove_directory(shards);
    expect_warning(run(0, args), text);
}
#define EXPECT(text, ...) expect(text, (const char *const[]){__VA_ARGS__, NULL})

/* ---- Cut molecules ----------------------------------------------------------------------- */

/* Saves a water molecule with the oxygen at (0.1, 0.1, 0.1) and a hydrogen at `position`, in nm. */
static const char *save_bond(const char *position, const char *box)
{
    char atoms[128];

    snprintf(atoms, sizeof atoms,
             "    7SOL     OW    1   0.100   0.100   0.100\n"
             "    7SOL    HW1    2%s\n",
             position);
    return save_pair(atoms, box);
}

#define COM "--keys", "com"
#define CUT COM, "--pbc", "none"

TEST(molecules_that_the_box_cuts)
{
    static const char *const files[] = {WATER "traj.trr", WATER "traj.xtc"};
    static const char text[] = "frame 0: SOL 3: its atoms are 0.985 box lengths apart along the x "
                               "axis of the box, more than half";

    for (size_t i = 0; i < 2; i++) {
        EXPECT(text, WATER "conf.gro", files[i], CUT);
        EXPECT("(such molecules: 1): the periodic box cuts this molecule, or it is longer; "
               "the results of a cut molecule are wrong: make molecules whole (--pbc whole",
               WATER "conf.gro", files[i], CUT, "--selection", "resid 3");
        EXPECT(NULL, WATER "conf.gro", files[i], COM);
        EXPECT(NULL, WATER "conf.gro", files[i], CUT, "--selection", "resid 1 2");
        EXPECT(NULL, WATER "conf.gro", files[i], CUT, "--selection", "name OW");
    }
    EXPECT("frame 7: SOL", WATER "conf.gro", WATER "traj.xtc", CUT, "--start", "7");
    EXPECT(NULL, WATER "conf.gro", WATER "conf.gro", CUT);
    EXPECT(NULL, PEPTIDE "conf.gro", PEPTIDE "traj.xtc", CUT);
}

TEST(boxes_that_cut)
{
    static const struct {
        const char *position, *box, *text;
    } cases[] = {
        {"   0.100   0.100   2.950", "   3.0   3.0   3.0", "0.95 box lengths apart along the z"},
        {"   0.100   1.590   0.100", "   3.0   3.0   3.0", NULL},
        {"   0.100   1.610   0.100", "   3.0   3.0   3.0", "0.503 box lengths apart along the y"},
        {"   0.100   0.100   2.950", "   3.0   3.0   0.0", NULL},
        {"   0.100   0.100   2.950", "   0.0   0.0   0.0", NULL},
        {"   0.100   0.100   2.950", "no box", NULL},
        {"   0.100   0.100   2.950", "0 1 2 0.25 0.5 0.75 1.25 1.5 1.75", NULL}, /* flat */
        /* c = (1, 1, 2). The first bond is 0.9 c. The second bond is 1.6 nm along y, but less than
         * half of each box vector: about 0.4 b + 0.4 c. */
        {"   1.000   1.900   1.900", "3 3 2 0 0 0 0 1 1", "0.9 box lengths apart along the z"},
        {"   0.700   1.700   0.900", "3 3 2 0 0 0 0 1 1", NULL},
        {"   0.700   1.700   0.900", "3 3 2", "0.533 box lengths apart along the y"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = save_bond(cases[i].position, cases[i].box);

        EXPECT(cases[i].text, path, path, CUT);
    }
}

TEST(bonds_between_residues_that_the_box_cuts)
{
    static const char near[] = "    4ALA      C    1   0.100   0.100   0.100\n",
                      end[] = "    4ALA    OXT    1   0.100   0.100   0.100\n",
                      far[] = "    5GLY      N    2   2.950   0.100   0.100\n",
                      later[] = "    6GLY      N    2   2.800   0.100   0.100\n",
                      other[] = "    5GLY      N    2   2.800   0.100   0.100\n",
                      distant[] = "    5DT       P    2   2.800   0.100   0.100\n",
                      ligand[] = "    5LIG      N    2   2.950   0.100   0.100\n",
                      sugar[] = "    4DA     O3'    1   0.100   0.100   0.100\n",
                      base[] = "    5DT       P    2   2.950   0.100   0.100\n";
    static const struct {
        const char *first, *second, *text;
    } cases[] = {
        {near, far, "ALA 4: it and GLY 5 are 0.95 box lengths apart along the x"},
        {sugar, base, "DA 4: it and DT 5 are"},
        {near, later, NULL},
        {end, other, NULL},
        {near, ligand, "ALA 4: it and LIG 5 are"},
        {distant, near, NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char atoms[128];

        snprintf(atoms, sizeof atoms, "%s%s", cases[i].first, cases[i].second);
        const char *path = save_pair(atoms, "   3.0   3.0   3.0");
        EXPECT(cases[i].text, path, path, CUT);
    }
}

/* ---- Whole molecules --------------------------------------------------------------------- */

/* Saves a .pdb file of carbon atoms of one residue in a cube of 3 nm; x in Angstrom. */
static const char *save_chain(const double *x, int n, const char *bonds)
{
    char text[2048];
    int length =
        snprintf(text, sizeof text,
                 "CRYST1   30.000   30.000   30.000  90.00  90.00  90.00 P 1           1\n");

    for (int i = 0; i < n; i++)
        length += snprintf(
            text + length, sizeof text - (size_t)length,
            "HETATM%5d  C%-2d LIG A   1    %8.3f   1.000   1.000  1.00  0.00           C\n", i + 1,
            i + 1, x[i]);
    length += snprintf(text + length, sizeof text - (size_t)length, "%sEND\n", bonds);
    io_save(io_path(directory, "chain.pdb"), text, (size_t)length);
    return "chain.pdb";
}

static double radius(void)
{
    npz out = npz_open(io_path(directory, "out.npz"));
    double rg = npz_f64(&out, "rg", NULL, NULL)[0];

    npz_close(&out);
    return rg;
}

#define RG "--keys", "rg"

/* A chain of 2.1 nm in a box of 3 nm is made whole by distances alone. The result is right, and a warning
 * reports it. */
TEST(residues_longer_than_half_the_box)
{
    static const double chain[] = {20, 23, 26, 29, 2, 5, 8, 11};
    const char *path = save_chain(chain, 8, "");

    EXPECT("LIG 1: its atoms are 0.7 box lengths apart along the x "
           "axis of the box, more than half (such molecules: 1): it "
           "was made whole by joining the nearest atoms",
           path, path, RG);
    assert_true(fabs(radius() - 0.3 * sqrt(63. / 12)) < 1e-6);
}

TEST(a_polymer_without_an_end)
{
    static const double chain[] = {0, 7.5, 15, 22.5};
    static const char bonds[] = "CONECT    1    2    4\nCONECT    3    2    4\n";
    static const char text[] =
        "the molecule of LIG 1 is bonded to its own image through the periodic "
        "box, so that it has no end";
    const char *path = save_chain(chain, 4, bonds);

    for (int bonded = 0; bonded < 2; bonded++) {
        path = save_chain(chain, 4, bonded ? bonds : "");
        EXPECT(text, path, path, RG);
        EXPECT(text, path, path, RG, "--pbc", "nojump");
        assert_true(fabs(radius() - 0.75 * sqrt(15. / 12)) < 1e-6);
    }
}

/* Frames without a box are reported if other frames have a box, or if the box is needed. */
TEST(frames_without_a_box)
{
    static const char frame[] = "t= %d\n    2\n"
                                "    7SOL     OW    1   0.100   0.100   0.100\n"
                                "    7SOL    HW1    2   0.100   0.100   2.950\n%s\n";
    char text[512];
    int n = snprintf(text, sizeof text, frame, 0, "   3.0   3.0   3.0");

    n += snprintf(text + n, sizeof text - (size_t)n, frame, 1, "   0.0   0.0   0.0");
    io_save(io_path(directory, "boxes.gro"), text, (size_t)n);
    EXPECT("1 of 2 frames have no periodic box", "boxes.gro", "boxes.gro", RG);
    EXPECT(NULL, "boxes.gro", "boxes.gro", RG, "--start", "1");
    cJSON *meta = extract_meta(directory);
    assert_string_equal(meta_at(meta, "periodic_box/done")->valuestring, "the file has none");
    cJSON_Delete(meta);
    EXPECT("1 of 1 frames have no periodic box",
           "boxes.gro", "boxes.gro", RG, "--start", "1", "--pbc", "center");
}

/* A path takes the shortest step between two frames. This is a guess if a molecule moves by half a
 * box. */
TEST(steps_of_half_a_box)
{
    static const double x[] = {0.1, 1.1, 2.9, 1.2,
                               2.65}; /* steps of 1, -1.2, 1.3 and 1.45 nm in a box of 3 */
    char text[1024];
    int n = 0;

    for (int f = 0; f < 5; f++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "t= %d\n    2\n    7SOL     OW    1%8.3f   0.100   0.100\n"
                      "    7SOL    HW1    2%8.3f   0.100   0.200\n   3.0   3.0   3.0\n",
                      f, x[f], x[f]);
    io_save(io_path(directory, "far.gro"), text, (size_t)n);
    EXPECT("frame 3: the molecule of SOL 7 is about half a box from where it was in the frame "
               "before (such steps: 2)",
               "far.gro", "far.gro", COM, "--pbc", "nojump");
    EXPECT(NULL, "far.gro", "far.gro", COM, "--pbc", "nojump", "--stop", "3");
    EXPECT(NULL, "far.gro", "far.gro", COM);
}

/* Saves three frames of a chain with unknown bonds that crosses the boundary of a box of 3 nm. The first
 * frame has no box. */
static const char *save_later_box(void)
{
    static const double chain[] = {2.0, 2.3, 2.6, 2.9, 0.2, 0.5, 0.8, 1.1};
    char text[2048];
    int n = 0;

    for (int frame = 0; frame < 3; frame++) {
        n += snprintf(text + n, sizeof text - (size_t)n, "t= %d\n    8\n", frame);
        for (int i = 0; i < 8; i++)
            n += snprintf(text + n, sizeof text - (size_t)n,
                          "    1LIG     C%d%5d%8.3f   1.000   1.000\n", i + 1, i + 1, chain[i]);
        n += snprintf(text + n, sizeof text - (size_t)n, "%s\n",
                      frame == 0 ? "   0.0   0.0   0.0" : "   3.0   3.0   3.0");
    }
    io_save(io_path(directory, "later.gro"), text, (size_t)n);
    return "later.gro";
}

/* The first frame with a box decides how the chain is joined. */
TEST(boxes_from_a_later_frame_on)
{
    const char *path = save_later_box();

    EXPECT("frame 1: LIG 1: its atoms are 0.9 box lengths apart", path, path, CUT);
    tool_result result = RUN(0, path, path, RG);
    assert_contains(result.err, "frame 1: LIG 1: its atoms are 0.7 box lengths apart");
    OWNED_NPZ out = npz_open(io_path(directory, "out.npz"));
    const double *rg = npz_f64(&out, "rg", NULL, NULL);
    assert_true(fabs(rg[1] - 0.3 * sqrt(63. / 12)) < 1e-6);
    assert_true(rg[2] == rg[1]);
}

/* Two chains 0.4 nm apart; from frame 1 on the boundary is between them. */
TEST(chains_that_the_boundary_separates)
{
    static const double at[3][2] = {{1.0, 1.4}, {2.8, 0.2}, {0.1, 2.7}};
    char text[1024];
    int n = 0;

    for (int frame = 0; frame < 3; frame++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "t= %d\n    2\n    1ALA     CA    1%8.3f   1.000   1.000\n"
                      "    9ALA     CA    2%8.3f   1.000   1.000\n   3.0   3.0   3.0\n",
                      frame, at[frame][0], at[frame][1]);
    io_save(io_path(directory, "dimer.gro"), text, (size_t)n);
    EXPECT("frame 1: molecules of the selection are nearer to each other through the "
           "boundary of the box (such frames: 2)",
           "dimer.gro", "dimer.gro", RG);
    EXPECT(NULL, "dimer.gro", "dimer.gro", RG, "--each", "residue");
    EXPECT(NULL, "dimer.gro", "dimer.gro", RG, "--pbc", "center");
    OWNED_NPZ out = npz_open(io_path(directory, "out.npz"));
    for (int frame = 0; frame < 3; frame++)
        assert_true(fabs(npz_f64(&out, "rg", NULL, NULL)[frame] - 0.2) < 1e-6);
}

static size_t count_molecules(const char *top, const char *traj)
{
    size_t count;
    RUN(0, top, traj, RG, "--each", "molecule", "--masses", "equal");
    OWNED_NPZ out = npz_open(io_path(directory, "out.npz"));
    npz_f64(&out, "rg", NULL, &count);
    return count;
}

/* Saves residues 1, 2, ... with one atom, or with N and C, at these x. */
static const char *save_residues(const char *path, const char *residue, const char *names,
                                 const double *x, int n)
{
    char text[1024];
    int length = snprintf(text, sizeof text, "t= 0\n%5d\n", n), kinds = (int)strlen(names) / 5;

    for (int i = 0; i < n; i++)
        length += snprintf(text + length, sizeof text - (size_t)length,
                           "%5d%-5s%.5s%5d%8.3f   1.000   1.000\n", 1 + i / kinds, residue,
                           names + (size_t)(i % kinds) * 5, i + 1, x[i]);
    length += snprintf(text + length, sizeof text - (size_t)length, "   3.0   3.0   3.0\n");
    io_save(io_path(directory, path), text, (size_t)length);
    return path;
}

/* Residue numbers continue from chain to chain, and chains have no name and no OXT. The distances
 * in the first frame decide where a chain ends. The boundary of the box cuts a chain, or lies
 * between two chains. */
TEST(chains_that_are_numbered_on)
{
    static const double together[] = {2.5, 2.7, 2.85, 0.05, 0.2, 0.3},
                        apart[] = {2.5, 2.7, 2.85, 0.05, 0.4, 0.5};
    static const struct {
        const char *residue, *names;
        double most;
    } others[] = {{"ALA", "   CA", 0.5}, {"ALA", "   BB", 0.6}, {"DA", "    P", 0.8}};
    const char *one = save_residues("one.gro", "ALA", "    N    C", together, 6);
    const char *two = save_residues("two.gro", "ALA", "    N    C", apart, 6);

    assert_int_equal(count_molecules(two, one), 1);
    assert_int_equal(count_molecules(one, two), 2);
    EXPECT(NULL, two, two, RG, "--selection", "same molecule as resid 3");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        double x[] = {2.8, others[i].most - 0.21};

        one = save_residues("one.gro", others[i].residue, others[i].names, x, 2);
        assert_int_equal(count_molecules(one, one), 1);
        x[1] += 0.02;
        two = save_residues("two.gro", others[i].residue, others[i].names, x, 2);
        assert_int_equal(count_molecules(two, two), 2);
        EXPECT("molecules of the selection are nearer to each other",
               two, two, RG, "--masses", "equal");
    }
}

/* The box is a cube, but one of the vectors that describe it is long. A bond shorter than half the edge of the cube is
 * not cut, although it spans most of the box along one vector. */
TEST(bonds_in_a_skewed_box)
{
    static const double x[] = {1, 1};
    static const char frame[] = "t= 0\n    2\n    1LIG     C1    1   0.100   0.100   0.100\n"
                                "    1LIG     C2    2   0.100   %s   0.100\n"
                                "   3.0   3.0   3.0   0.0   0.0   6.0   0.0   0.0   0.0\n";
    static const char *const y[] = {"1.500", "2.900"};
    const char *top = save_chain(x, 2, "CONECT    1    2\n");

    for (size_t i = 0; i < 2; i++) {
        char text[256];
        int n = snprintf(text, sizeof text, frame, y[i]);
        io_save(io_path(directory, "skewed.gro"), text, (size_t)n);
        EXPECT(i == 0 ? NULL : "LIG 1: it and LIG 1 are", top, "skewed.gro", CUT);
    }
}

/* Residues in a row that the boundary of the box cuts, in a file without bonds. A distance of 0.14 nm makes a bond,
 * except between elements that are never joined. A distance of 0.3 nm makes no bond. */
TEST(residues_that_are_bonded)
{
    static const char *const atoms[][3] = {{"NYL", "   C1", "   C2"}, {"DAL", "    N", "    C"},
                                           {"BMA", "   C1", "   O4"}, {"CYX", "   SG", "   CB"},
                                           {"NYL", "   H1", "   H2"}, {"SOL", "   OW", "   O2"},
                                           {"LIG", "   ZN", "   O2"}};

    for (size_t i = 0; i < sizeof atoms / sizeof *atoms; i++) {
        char names[11], name[] = "bonded.gro";
        double near[6], far[6];
        int bonded = i < 4;

        snprintf(names, sizeof names, "%s%s", atoms[i][1], atoms[i][2]);
        for (int k = 0; k < 6; k++) {
            near[k] = 2.6 + 0.14 * k - (k > 2 ? 3 : 0);
            far[k] = 2.2 + 0.14 * k + 0.16 * (k / 2);
        }
        save_residues(name, atoms[i][0], names, near, 6);
        assert_int_equal(count_molecules(name, name), bonded ? 1 : 3);
        if (bonded) {
            EXPECT(NULL, name, name, RG, "--masses", "equal");
            OWNED_NPZ out = npz_open(io_path(directory, "out.npz"));
            assert_true(fabs(*npz_f64(&out, "rg", NULL, NULL) - 0.14 * sqrt(35. / 12)) < 1e-3);
        }
        save_residues(name, atoms[i][0], names, far, 6);
        assert_int_equal(count_molecules(name, name), 3);
    }
}

/* Saves a ring of n molecules of two atoms in a cube of 6 nm. The centre of the ring is at `x`, and its radius is
 * `radius` nm. Atoms outside the cube are wrapped into it. `fill`: the molecules fill the cube instead. */
static const char *save_aggregate(double x, double radius, int n, int fill)
{
    char text[65536];
    int length = snprintf(text, sizeof text, "t= 0\n%5d\n", 2 * n);

    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2; k++) {
            double r = radius - 0.15 * k;
            double at[3] = {x + r * cos(2 * M_PI * i / n), 3 + r * sin(2 * M_PI * i / n), 3};
            if (fill) {
                at[0] = 0.5 * (i % 12) + 0.15 * k;
                at[1] = 0.5 * (i / 12 % 12);
                at[2] = 0.5 * (i / 144);
            }
            length += snprintf(text + length, sizeof text - (size_t)length,
                               "%5dLIP     C%d%5d%8.3f%8.3f%8.3f\n", i + 1, k + 1, 2 * i + k + 1,
                               at[0] - 6 * floor(at[0] / 6), at[1], at[2]);
        }
    length += snprintf(text + length, sizeof text - (size_t)length, "   6.0   6.0   6.0\n");
    io_save(io_path(directory, "aggregate.gro"), text, (size_t)length);
    return "aggregate.gro";
}

static const char *save_frame(const char *atoms, int n)
{
    char text[1024];
    int length = snprintf(text, sizeof text, "t= 0\n%5d\n%s   3.0   3.0   3.0\n", n, atoms);

    io_save(io_path(directory, "few.gro"), text, (size_t)length);
    return "few.gro";
}

/* If atoms of two residues are at the same places, it is unknown whether the residues are bonded. Molecules that the
 * selection does not choose in a frame do not belong to a body. Several free molecules among other molecules do not
 * belong to a body either, but a single free molecule does. */
TEST(what_cannot_be_known_and_what_does_not_count)
{
    static const char pose[] = "    1LIG     C1    1   1.000   1.000   1.000\n"
                               "    1LIG     C2    2   1.150   1.000   1.000\n"
                               "    2LIG     C1    3   1.000   1.080   1.000\n"
                               "    2LIG     C2    4   1.150   1.080   1.000\n",
                      free[] = "    1ALA      N    1   1.500   1.500   1.500\n"
                               "    1ALA     CA    2   1.650   1.500   1.500\n"
                               "    2GOL     C1    3   0.100   0.200   1.500\n"
                               "    2GOL     C2    4   0.250   0.200   1.500\n"
                               "    3GOL     C1    5   2.700   2.500   1.500\n"
                               "    3GOL     C2    6   2.850   2.500   1.500\n",
                      pair[] = "    1LIG     C1    1   2.700   1.000   1.000\n"
                               "    1LIG     C2    2   2.850   1.000   1.000\n"
                               "    2LIG     C1    3   0.100   1.000   1.000\n"
                               "    2LIG     C2    4   0.250   1.000   1.000\n";
    const char *path = save_frame(pose, 4);

    EXPECT("LIG 1 and LIG 2 have atoms nearer to each other than bonded ones in the first "
           "frame (such pairs of residues: 1)",
           path, path, RG);
    EXPECT(NULL, path, path, RG, "--pbc", "none");
    path = save_frame(free, 6);
    EXPECT(NULL, path, path, RG);
    path = save_frame(pair, 4);
    EXPECT("molecules of the selection are nearer", path, path, RG);
    EXPECT(NULL, path, path, RG, "--selection", "resid 1 or within 0.05 of resid 1");
}

/* Saves two chains at both sides of the boundary, and a layer of n molecules that fills the box. */
static const char *save_dimer_in_layer(int n)
{
    static char text[200000];
    int length = snprintf(text, sizeof text, "t= 0\n%5d\n", 12 + 2 * n), atoms = 0;

    for (int chain = 0; chain < 2; chain++)
        for (int k = 0; k < 6; k++)
            length += snprintf(text + length, sizeof text - (size_t)length,
                               "%5dALA  %5s%5d%8.3f%8.3f%8.3f\n", 10 * chain + k / 3 + 1,
                               k % 3 == 0   ? "N"
                               : k % 3 == 1 ? "CA"
                                            : "C",
                               ++atoms, chain ? 11.8 : 0.2, 6 + 0.14 * k, 6.0);
    for (int i = 0; i < 2 * n; i++)
        length += snprintf(text + length, sizeof text - (size_t)length,
                           "%5dPOP     C%d%5d%8.3f%8.3f%8.3f\n", 100 + i / 2, i % 2 + 1, ++atoms,
                           0.5 * (i / 2 % 24) + 0.15 * (i % 2), 0.5 * (i / 48), 3.0);
    length += snprintf(text + length, sizeof text - (size_t)length, "  12.0  12.0  12.0\n");
    io_save(io_path(directory, "layer.gro"), text, (size_t)length);
    return "layer.gro";
}

TEST(dimers_in_a_membrane)
{
    static const int sizes[] = {1, 100, 130, 576};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *path = save_dimer_in_layer(sizes[i]);
        EXPECT("molecules of the selection are nearer to each other", path, path, RG);
    }
}

/* Each aggregate is one body, which the boundary divides or does not divide. Some are longer than half the box. A layer
 * that fills the box cannot be moved to another place, and molecules that do not touch are no aggregate. */
TEST(aggregates_that_the_boundary_divides)
{
    static const struct {
        double x, radius;
        int n, fill, divided;
    } cases[] = {{3, 1.0, 16, 0, 0}, {0.2, 1.0, 16, 0, 1}, {3, 2.4, 40, 0, 0}, {5, 2.4, 40, 0, 1},
                 {3, 0.3, 2, 0, 0},  {0, 0.3, 2, 0, 1},    {0, 1.0, 2, 0, 1},  {3, 1.0, 2, 0, 0},
                 {0, 0, 144, 1, 0},  {0, 0, 288, 1, 0}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = save_aggregate(cases[i].x, cases[i].radius, cases[i].n, cases[i].fill);
        EXPECT(cases[i].divided ? "frame 0: molecules of the selection are nearer to each "
               "other through the boundary of the box (such frames: 1)" : NULL,
               path, path, RG, "--masses", "equal");
        EXPECT(NULL, path, path, RG, "--masses", "equal", "--each", "residue");
    }
}

TEST(wrong_choices)
{
    expect_error(RUN(2, WATER "conf.gro", WATER "traj.xtc", "--pbc", "mol"),
                 "--pbc: 'mol' is not whole, nojump, center or none");
}

TEST_GROUP(make_directory, remove_directory)

/* SPDX-License-Identifier: Apache-2.0 */
/* Selections that vary from frame to frame, compared with their definitions atom by atom. */

#include "common/test.h"
#include "trajectory/atoms/choice.h"

/* 40 water molecules, and a protein of 8 residues of 5 atoms. */
#define ATOMS 160
#define FRAMES 3
#define BOX 2.0

static char names[ATOMS][TRAJECTORY_ATOM_NAME], residues[ATOMS][TRAJECTORY_ATOM_NAME];
static int32_t residue_ids[ATOMS];
static trajectory_topology topology = {
    .n_atoms = ATOMS, .names = names, .residue_names = residues, .residue_ids = residue_ids};
static float positions[FRAMES][ATOMS][3];
static double boxes[FRAMES][9];
static trajectory_frames frames = {.dtype = COLLET_F32,
                                   .n_atoms = ATOMS,
                                   .n_frames = FRAMES,
                                   .positions = positions,
                                   .boxes = boxes[0]};

static int set_up(void **state)
{
    static const char water[][4] = {"OW", "HW1", "HW2"}, protein[][3] = {"N", "CA", "CB", "C", "O"};
    uint64_t random = 7;

    for (int i = 0; i < ATOMS; i++) {
        strcpy(names[i], i < 120 ? water[i % 3] : protein[i % 5]);
        strcpy(residues[i], i < 120 ? "SOL" : "ALA");
        residue_ids[i] = i < 120 ? i / 3 : 100 + i / 5;
    }
    for (int f = 0; f < FRAMES; f++)
        for (int i = 0; i < ATOMS; i++)
            for (int k = 0; k < 3; k++) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                positions[f][i][k] = (float)(random >> 40) / 16777216.0f * 3;
            }
    for (int f = 0; f < FRAMES - 1; f++)
        for (int k = 0; k < 3; k++)
            boxes[f][4 * k] = BOX; /* the last frame has no box */
    return 0;
}

/* ---- The definitions ---------------------------------------------------------------------- */

typedef uint8_t set[ATOMS];

static int is_near(int f, int a, int b, double distance)
{
    double square = 0;

    for (int k = 0; k < 3; k++) {
        double d = (double)positions[f][a][k] - (double)positions[f][b][k];

        if (boxes[f][0] > 0)
            d -= BOX * nearbyint(d / BOX);
        square += d * d;
    }
    return square <= distance * distance;
}

static void within(int f, const set of, double distance, int without, set result)
{
    set copy;

    memcpy(copy, of, sizeof copy);
    for (int a = 0; a < ATOMS; a++) {
        result[a] = 0;
        for (int b = 0; b < ATOMS; b++)
            result[a] |= copy[b] && is_near(f, a, b, distance);
        result[a] &= !(without && copy[a]);
    }
}

static void same_residue(const set of, set result)
{
    set copy;

    memcpy(copy, of, sizeof copy);
    memset(result, 0, sizeof copy);
    for (int a = 0; a < ATOMS; a++)
        for (int b = 0; b < ATOMS; b++)
            result[a] |= copy[b] && residue_ids[a] == residue_ids[b];
}

static void named(const char *name, set result)
{
    for (int a = 0; a < ATOMS; a++)
        result[a] = strcmp(name, residues[a]) == 0 || strcmp(name, names[a]) == 0;
}

static void no_more_than(set result, const set other)
{
    for (int a = 0; a < ATOMS; a++)
        result[a] &= other[a];
}

static void invert(set result)
{
    for (int a = 0; a < ATOMS; a++)
        result[a] = !result[a];
}

/* ---- Tests -------------------------------------------------------------------------------- */

static trajectory_choice *choose(const char *text)
{
    trajectory_selection *selection;
    trajectory_choice *choice = NULL;
    collet_error err;

    if (trajectory_selection_compile(text, &selection, &err) != COLLET_OK ||
        trajectory_choice_create(selection, &topology, NULL, &choice, &err) != COLLET_OK)
        fail_msg("%s", err.text);
    trajectory_selection_free(selection);
    return choice;
}

/* Finds the selected atoms of a frame. Before the search, all positions that must not affect the
 * result are made wrong. */
static void find(trajectory_choice *choice, int f, set result)
{
    static float kept[ATOMS][3];
    int64_t n, n_atoms, count, sum = 0;
    const int64_t *members = trajectory_choice_members(choice, &n);
    const int64_t *atoms = trajectory_choice_atoms(choice, &n_atoms);
    set chosen, needed = {0};

    for (int64_t i = 0; i < n_atoms; i++)
        needed[atoms[i]] = 1;
    memcpy(kept, positions[f], sizeof kept);
    for (int a = 0; a < ATOMS; a++)
        if (!needed[a])
            positions[f][a][0] = NAN;
    assert_int_equal(trajectory_choice_find(choice, &frames, f, atoms, chosen, &count, NULL),
                     COLLET_OK);
    memcpy(positions[f], kept, sizeof kept);
    memset(result, 0, sizeof chosen);
    for (int64_t i = 0; i < n; i++) {
        result[members[i]] = chosen[i];
        sum += chosen[i];
    }
    assert_int_equal(sum, count);
}

static void expect(trajectory_choice *choice, const char *text, int f, const set expected)
{
    set found;

    find(choice, f, found);
    for (int a = 0; a < ATOMS; a++)
        if (found[a] != expected[a])
            fail_msg("%s: atom %d of frame %d is %d", text, a, f, found[a]);
}

/* Compares the selection with the set from `define` for each frame. At most `n_members` atoms can
 * be selected; `n_atoms` atoms must be read. */
static void check(const char *text, int64_t n_members, int64_t n_atoms,
                  void (*define)(int f, set result))
{
    trajectory_choice *choice = choose(text);
    int64_t n;

    assert_int_equal(trajectory_choice_varies(choice), 1);
    trajectory_choice_members(choice, &n);
    assert_int_equal(n, n_members);
    trajectory_choice_atoms(choice, &n);
    assert_int_equal(n, n_atoms);
    for (int f = 0; f < FRAMES; f++) {
        set expected;

        define(f, expected);
        expect(choice, text, f, expected);
    }
    trajectory_choice_free(choice);
}

static void near_protein(int f, set s)
{
    named("ALA", s);
    within(f, s, 0.25, 0, s);
}

static void far_from_protein(int f, set s)
{
    near_protein(f, s);
    invert(s);
}

static void around_oxygen(int f, set s)
{
    named("OW", s);
    within(f, s, 0.3, 1, s);
}

static void whole_waters(int f, set s)
{
    set water;

    near_protein(f, s);
    same_residue(s, s);
    named("SOL", water);
    no_more_than(s, water);
}

static void waters_far_from_protein(int f, set s)
{
    set water;

    far_from_protein(f, s);
    named("OW", water);
    no_more_than(s, water);
}

static void second_shell(int f, set s)
{
    set first, oxygen;

    named("CB", first);
    within(f, first, 0.35, 0, first);
    named("OW", oxygen);
    no_more_than(first, oxygen);
    memcpy(s, first, sizeof(set));
    within(f, s, 0.25, 1, s);
}

static void both(int f, set s)
{
    set other;

    far_from_protein(f, s);
    named("OW", other);
    within(f, other, 0.3, 1, other);
    invert(other);
    no_more_than(s, other);
}

TEST(every_form)
{
    check("within 0.25 of protein", ATOMS, ATOMS, near_protein);
    check("WITHIN 2.5 A OF resname ALA", ATOMS, ATOMS, near_protein);
    check("not within 0.25 of protein", 120, ATOMS, far_from_protein);
    check("exwithin 0.3 of name OW", 120, ATOMS, around_oxygen);
    check("(same residue as within 0.25 nm of protein) and water", 120, ATOMS, whole_waters);
    /* Only the positions of oxygens and the protein are needed. */
    check("name OW and not within 0.25 of protein", 40, 80, waters_far_from_protein);
    check("exwithin 0.25 of (name OW and within 0.35 of name CB)", ATOMS, ATOMS, second_shell);
    check("(not within 0.25 of protein) and not exwithin 0.3 of name OW", 120, ATOMS, both);
}

TEST(bounds)
{
    trajectory_choice *choice;
    int64_t n;

    choice = choose("within 0.5 of none");
    assert_int_equal(trajectory_choice_varies(choice), 0);
    trajectory_choice_members(choice, &n);
    assert_int_equal(n, 0);
    trajectory_choice_free(choice);
    choice = choose("water and not (water or within 0.5 of protein)");
    trajectory_choice_members(choice, &n);
    assert_int_equal(n, 0);
    trajectory_choice_free(choice);
}

TEST(flat_box)
{
    trajectory_choice *choice = choose("within 0.25 of protein");
    int64_t n, count;
    const int64_t *atoms = trajectory_choice_atoms(choice, &n);
    double kept = boxes[0][8];
    collet_error err;
    set chosen;

    boxes[0][8] = 0;
    boxes[0][6] = 1;
    assert_error(trajectory_choice_find(choice, &frames, 0, atoms, chosen, &count, &err),
                 COLLET_FORMAT, err, "flat");
    boxes[0][8] = kept;
    boxes[0][6] = 0;
    trajectory_choice_free(choice);
}

TEST(too_many)
{
    char text[1000] = "all";
    trajectory_selection *selection;
    trajectory_choice *choice;
    collet_error err;

    for (int i = 0; i < 17; i++)
        strcat(text, " and (within 0.3 of protein)");
    assert_int_equal(trajectory_selection_compile(text, &selection, &err), COLLET_OK);
    assert_error(trajectory_choice_create(selection, &topology, NULL, &choice, &err),
                 COLLET_INVALID, err, "17 distances");
    trajectory_selection_free(selection);
}

TEST_GROUP(set_up, NULL)

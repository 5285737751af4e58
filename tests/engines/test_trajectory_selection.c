/* SPDX-License-Identifier: Apache-2.0 */
/* The atoms that each form of a selection selects, and the messages for invalid selections. */

#include "common/test.h"
#include "trajectory/atoms/choice.h"

static char names[][TRAJECTORY_ATOM_NAME] = {"N",  "CA",  "C",   "O",  "CB", "HB1", "HB2",
                                             "OW", "HW1", "HW2", "NA", "CA", "C1",  "O5'"};
static char residues[][TRAJECTORY_ATOM_NAME] = {"ALA", "ALA", "ALA", "ALA", "ALA", "ALA", "NGLY",
                                                "SOL", "SOL", "SOL", "NA",  "CA",  "LIG", "DA"};
static int32_t residue_ids[] = {1, 1, 1, 1, 1, 1, 2, 3, 3, 3, 4, 5, 6, -6};
static char insertions[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'A', 'B', 0};
static char chains[][TRAJECTORY_ATOM_NAME] = {"A", "A", "A", "A", "A", "A", "A",
                                              "B", "B", "B", "",  "A", "C", "C"};
static char segments[][TRAJECTORY_ATOM_NAME] = {"PROA", "PROA", "PROA", "PROA", "PROA",
                                                "PROA", "PROA", "WAT",  "WAT",  "WAT",
                                                "IONS", "IONS", "HETA", "DNA"};
static double masses[] = {14, 12, 12, 16, 12, 1, 1, 16, 1, 1, 23, 40, 12, 16};
static double charges[] = {-0.5, 0, 0.5, -0.5, 0, 0.1, 0.1, -0.8, 0.4, 0.4, 1, 2, 0, -0.25};
#define ATOMS 14

/* A topology with names only, and a topology with all optional data. */
static const trajectory_topology plain = {
    .n_atoms = ATOMS, .names = names, .residue_names = residues, .residue_ids = residue_ids};
static const trajectory_topology topology = {.n_atoms = ATOMS,
                                             .names = names,
                                             .residue_names = residues,
                                             .residue_ids = residue_ids,
                                             .insertions = insertions,
                                             .chains = chains,
                                             .segments = segments,
                                             .masses = masses,
                                             .charges = charges};

/* The selected atoms as a string of 0 and 1. */
static const char *pick(const char *text)
{
    static char picture[ATOMS + 1];
    trajectory_selection *selection;
    trajectory_choice *choice;
    collet_error err;
    int64_t n;

    memset(picture, '0', ATOMS);
    assert_success(trajectory_selection_compile(text, &selection, &err), err);
    assert_int_equal(trajectory_choice_create(selection, &topology, NULL, &choice, &err),
                     COLLET_OK);
    assert_int_equal(trajectory_choice_varies(choice), 0);
    const int64_t *indices = trajectory_choice_members(choice, &n);
    for (int64_t i = 0; i < n; i++) {
        assert_true(i == 0 || indices[i] > indices[i - 1]);
        picture[indices[i]] = '1';
    }
    trajectory_choice_free(choice);
    trajectory_selection_free(selection);
    return picture;
}

TEST(test_picks)
{
    static const struct {
        const char *text;
        const char *picture;
    } cases[] = {
        {"all", "11111111111111"},
        {"none", "00000000000000"},
        {"protein", "11111110000000"},
        {"backbone", "11110000000001"},
        {"protein and backbone", "11110000000000"},
        {"nucleic", "00000000000001"},
        {"water", "00000001110000"},
        {"name CA", "01000000000100"},
        {"name CA and protein", "01000000000000"},
        {"name CA C N", "11100000000100"},
        {"name H*", "00000110110000"},
        {"name *2", "00000010010000"},
        {"name H??", "00000110110000"},
        {"name ?A", "01000000001100"},
        {"name *", "11111111111111"},
        {"name H*B*1", "00000100000000"},
        {"name O5'", "00000000000001"},
        {"name ca", "00000000000000"},
        {"resname SOL", "00000001110000"},
        {"resname S* LIG", "00000001110010"},
        {"resid 3", "00000001110000"},
        {"resid 2:4", "00000011111000"},
        {"resid 1 4:5", "11111100001100"},
        {"index 0", "10000000000000"},
        {"index 0:2 13", "11100000000001"},
        {"resid 2-4", "00000011111000"},
        {"resid 2 to 4 6", "00000011111010"},
        {"resid -6", "00000000000001"},
        {"resid -6 to 1", "11111100000001"},
        {"resid -6:-1", "00000000000001"},
        {"resid -7--5", "00000000000001"},
        {"resid 5", "00000000000100"},
        {"resid 5A 6A 3A", "00000000000100"},
        {"resseq 5 and resnum 5 and resnr 5", "00000000000100"},
        {"index 0-2 13", "11100000000001"},
        {"bynum 1", "10000000000000"},
        {"bynum 2:3 14", "01100000000001"},
        {"index 100:200", "00000000000000"},
        {"not protein", "00000001111111"},
        {"not not protein", "11111110000000"},
        {"not name CA and protein", "10111110000000"},
        {"not (name CA and protein)", "10111111111111"},
        {"resid 1 or resid 3 and name OW", "11111101000000"},
        {"(resid 1 or resid 3) and name OW", "00000001000000"},
        {"resid 3 and name OW or resid 1", "11111101000000"},
        {"(((all)))", "11111111111111"},
        {" \tprotein\n and\r\n name C ", "00100000000000"},
        {"not(resid 1)and(protein)", "00000010000000"},
        {"NOT Protein And (Name OW OR RESID 6)", "00000001000010"},
        {"!protein && name OW || !(not resid 4)", "00000001001000"},
        {"chain A", "11111110000100"},
        {"chain B ?", "11111111110111"},
        {"segid PROA and segname PRO*", "11111110000000"},
        {"element o", "00010001000001"},
        {"element H Na", "00000110111000"},
        {"element CA", "00000000000100"},
        {"element C and name C*", "01101000000010"},
        {"mass > 14", "00010001001101"},
        {"mass>=14 and mass<23", "10010001000001"},
        {"mass == 1", "00000110110000"},
        {"mass != 1 and charge<0", "10010001000001"},
        {"charge <= -0.5", "10010001000000"},
        {"same residue as name CB", "11111100000000"},
        {"SAME residue AS (name HB2 or name OW)", "00000011110000"},
        {"same residue as not name CA", "11111111111011"},
        {"same chain as name CA", "11111110000100"},
        {"same segid as resname CA", "00000000001100"},
        {"same molecule as name HW1", "00000001110000"},
        {"same molecule as name HB2", "11111110000000"},
        {"not same residue as name CB", "00000011111111"},
        {"water and (same residue as name HW*)", "00000001110000"},
        {"name \"CA\" 'C'", "01100000000100"},
        {"name 'O5*'", "00000000000001"},
        {"resname \"SOL\"", "00000001110000"},
        {"resname ALL or element As or name OF", "00000000000000"},
        {"name CA or name C or name N or name O or none", "11110000000100"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *picture = pick(cases[i].text);

        if (strcmp(picture, cases[i].picture) != 0)
            fail_msg("%s: %s, not %s", cases[i].text, picture, cases[i].picture);
    }
}

TEST(test_errors)
{
    static const struct {
        const char *text;
        int column; /* of the caret, 1-based */
        const char *message;
    } cases[] = {
        {"", 1, "empty"},
        {"   ", 4, "empty"},
        {"protien", 1, "the nearest is protein"},
        {"nme CA", 1, "the nearest is name"},
        {"all and wihtin 0.5 of protein", 9, "the nearest is within"},
        {"1xyz", 1, "expected one of all"},
        {"around 3.5 protein", 1, "write exwithin 3.5 A of"},
        {"pbwithin 5 of protein", 1, "write within"},
        {"residue 5", 1, "write resid"},
        {"byres protein", 1, "write same residue as"},
        {"name C[AB]", 7, "* stands for any characters"},
        {"name \"C.*\"", 8, "* stands for any characters"},
        {"name == CA", 6, "separate names by blanks"},
        {"name CA,CB", 8, "separate names by blanks"},
        {"name ''", 7, "empty"},
        {"name 'CA", 6, "never closed"},
        {"name CA protein", 9, "a name that is a word of the language stands in quotes"},
        {"name CA WATER", 9, "a name that is a word of the language stands in quotes"},
        {"element Xx", 9, "no element has this symbol"},
        {"element O*", 9, "no element has this symbol"},
        {"mass 12", 6, "expected a comparison"},
        {"mass >", 7, "expected a number"},
        {"mass > x", 8, "expected a number"},
        {"mass>1e999", 6, "expected a number"},
        {"same name as protein", 6, "expected residue, molecule, chain or segid"},
        {"same residue protein", 14, "expected 'as'"},
        {"same residue as", 16, "expected one of"},
        {"within of protein", 8, "expected a distance"},
        {"within -1 of protein", 8, "cannot be negative"},
        {"within 5 of protein", 8, "write the unit"},
        {"within 0.5 protein", 12, "expected 'of'"},
        {"within 0.5 nm A of protein", 15, "expected 'of'"},
        {"within 0.5 of", 14, "expected one of"},
        {"within 0.5 of protein and name CA", 1, "need parentheses"},
        {"all and not within 0.5 of (protein) or name CA", 13, "need parentheses"},
        {"same residue as protein or name CA", 1, "need parentheses"},
        {"protein and", 12, "expected one of"},
        {"protein protein", 9, "expected 'and' or 'or'"},
        {"name", 5, "expected a name"},
        {"name and protein", 6, "expected a name"},
        {"resid", 6, "expected a number"},
        {"resid x", 7, "expected a number"},
        {"resid 1-", 8, "expected a number"},
        {"resid 1 to", 11, "expected a number"},
        {"resid 1 to x", 12, "expected a number"},
        {"resid 5A:5C", 8, "expected a number"},
        {"index 5A", 8, "expected a number"},
        {"index -1", 7, "no such atom"},
        {"resid 1:", 8, "expected a number"},
        {"resid 1:2:3", 8, "expected a number"},
        {"resid 5:3", 7, "ends before it begins"},
        {"resid 99999999999999999999", 7, "expected a number"},
        {"resid 5 to 3", 7, "ends before it begins"},
        {"bynum 0", 7, "bynum from 1"},
        {"(protein", 1, "never closed"},
        {"protein)", 8, "never opened"},
        {"(protein name CA)", 10, "expected 'and', 'or' or ')'"},
        {"()", 2, "expected one of"},
        {"not", 4, "expected one of"},
        {"or all", 1, "expected one of"},
        {"all and or none", 9, "expected one of"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        trajectory_selection *selection = (trajectory_selection *)&cases;
        collet_error err;
        const char *line, *caret;
        char column[32];

        assert_int_equal(trajectory_selection_compile(cases[i].text, &selection, &err),
                         COLLET_INVALID);
        assert_null(selection);
        snprintf(column, sizeof column, "column %d:", cases[i].column);
        if (strstr(err.text, cases[i].message) == NULL || strstr(err.text, column) == NULL)
            fail_msg("'%s' gives: %s", cases[i].text, err.text);
        line = strchr(err.text, '\n') + 1;
        caret = strchr(line, '\n') + 1;
        assert_int_equal(strchr(caret, '^') - caret, 4 + cases[i].column - 1);
        assert_memory_equal(line + 4, cases[i].text, strlen(cases[i].text));
    }
}

/* Properties that a topology does not have. */
TEST(test_lacking)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {{"chain A", "has no chains"},       {"segid A", "has no segments"},
                 {"mass > 1", "has no masses"},      {"charge < 0", "has no charges"},
                 {"same chain as all", "no chains"}, {"not same segid as all", "no segments"},
                 {"all or charge < 0", "no charges"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        trajectory_selection *selection;
        trajectory_choice *choice = (trajectory_choice *)&choice;
        collet_error err;

        assert_int_equal(trajectory_selection_compile(cases[i].text, &selection, &err), COLLET_OK);
        assert_int_equal(trajectory_choice_create(selection, &plain, NULL, &choice, &err),
                         COLLET_INVALID);
        assert_null(choice);
        assert_contains(err.text, cases[i].message);
        trajectory_selection_free(selection);
    }
}

TEST(test_long_text_is_shown_around_the_error)
{
    char text[4000];
    trajectory_selection *selection;
    collet_error err;
    const char *line, *caret;

    memset(text, ' ', sizeof text);
    memcpy(text, "all and", 7);
    memcpy(text + 2000, "nonsense", 8);
    text[sizeof text - 1] = '\0';
    assert_error(trajectory_selection_compile(text, &selection, &err), COLLET_INVALID, err,
                 "column 2001:");
    line = strchr(err.text, '\n') + 1;
    caret = strchr(line, '\n') + 1;
    assert_memory_equal(line + (strchr(caret, '^') - caret), "nonsense", 8);
    assert_error(trajectory_selection_compile("all \x01\xff", &selection, &err), COLLET_INVALID,
                 err, "all ??");
    assert_error(trajectory_selection_compile("\x1b[2J", &selection, &err), COLLET_INVALID, err,
                 "\n    ?[2J\n");
}

/* The stack is bounded for text of any depth and length. */
TEST(test_depth_and_length)
{
    enum { LENGTH = 300000 };
    FREED(char) *text = malloc(LENGTH + 10);
    trajectory_selection *selection;
    collet_error err;
    size_t n = 0;

    assert_non_null(text);
    memset(text, '(', LENGTH);
    text[LENGTH] = '\0';
    assert_error(trajectory_selection_compile(text, &selection, &err), COLLET_INVALID, err,
                 "nested too deeply");

    for (int i = 0; i < 100; i++)
        memcpy(text + 4 * i, "not ", 4);
    strcpy(text + 400, "none");
    assert_string_equal(pick(text), "00000000000000");
    memcpy(text + 400, "not none", 9);
    assert_int_equal(trajectory_selection_compile(text, &selection, &err), COLLET_INVALID);

    /* The deepest stack that the grammar allows: a pending "or" and "and" at every level. */
    for (int i = 0; i < 100; i++)
        n += (size_t)sprintf(text + n, "none or all and (");
    n += (size_t)sprintf(text + n, "protein");
    memset(text + n, ')', 100);
    text[n + 100] = '\0';
    assert_string_equal(pick(text), "11111110000000");

    for (n = 0; n < LENGTH - 10;)
        n += (size_t)sprintf(text + n, "none or ");
    strcpy(text + n, "all");
    assert_string_equal(pick(text), "11111111111111");
}

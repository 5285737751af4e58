/* SPDX-License-Identifier: Apache-2.0 */
/* Finds points near other points in boxes of every shape; compared with the distances of all
 * pairs. */

#include "common/test.h"
#include "trajectory/atoms/neighbours.h"

#define MAX_POINTS 400

static uint64_t state_of_random = 1;

static double uniform(void)
{
    state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
    return (double)(state_of_random >> 40) / 16777216.0;
}

/* Fills the array with f32 numbers, as in trajectory files, so that all distances are exact in f64. */
static void fill(double *points, int64_t n, double extent)
{
    for (int64_t i = 0; i < 3 * n; i++)
        points[i] = (double)(float)((2 * uniform() - 0.5) * extent);
}

/* `images`: at most how many boxes away the nearest image may be. */
static int near_by_pairs(const double box[9], int images, double distance, const double *sources,
                         int64_t n, const double target[3])
{
    int by[3];

    for (int64_t i = 0; i < n; i++)
        for (by[0] = -images; by[0] <= images; by[0]++)
            for (by[1] = -images; by[1] <= images; by[1]++)
                for (by[2] = -images; by[2] <= images; by[2]++) {
                    double square = 0;

                    for (int k = 0; k < 3; k++) {
                        double d = target[k] - sources[3 * i + k];

                        for (int v = 0; v < 3; v++)
                            d -= by[v] * box[3 * v + k];
                        square += d * d;
                    }
                    if (square <= distance * distance)
                        return 1;
                }
    return 0;
}

static const double boxes[][9] = {
    {3, 0, 0, 0, 3, 0, 0, 0, 3},                   /* a cube */
    {2, 0, 0, 0, 4, 0, 0, 0, 1},                   /* a cuboid */
    {3, 0, 0, 1.5, 2.5, 0, -1.5, 1.25, 2.25},      /* a dodecahedron, nearly */
    {3, 0, 0, 0, 3, 0, 1.5, 1.5, 2.125},           /* the other form */
    {0.5, 2, 0.25, 2, -0.25, 0.5, 0.125, 0.25, 2}, /* turned, left-handed */
    {3, 0, 0, 3, 3, 0, -3, 3, 3},                  /* a cube, given by other vectors */
    {0, 0, 0, 0, 0, 0, 0, 0, 0},                   /* none */
    {3, 0, 0, 0, 3, 0, 0, 0, 0},                   /* a layer */
    {0, 0, 0, 0, 0, 2, 0, 3, 0},                   /* a layer, turned */
    {0, 0, 2, 0, 0, 0, 0, 0, 0},                   /* a line */
};

static void compare(const double box[9], int64_t n_sources, int64_t n_targets, double extent,
                    double distance)
{
    static double sources[3 * MAX_POINTS], targets[3 * MAX_POINTS];
    static double moved_sources[3 * MAX_POINTS], moved_targets[3 * MAX_POINTS];
    static trajectory_neighbours *neighbours;
    uint8_t near[MAX_POINTS];
    collet_error err;

    if (neighbours == NULL)
        neighbours = trajectory_neighbours_create();
    fill(sources, n_sources, extent);
    fill(targets, n_targets, extent);
    memcpy(moved_sources, sources, sizeof sources);
    memcpy(moved_targets, targets, sizeof targets);
    memset(near, 2, sizeof near);
    assert_success(trajectory_neighbours_find(neighbours, box, distance, moved_sources, n_sources,
                                              moved_targets, n_targets, near, &err),
                   err);
    for (int64_t i = 0; i < n_targets; i++)
        if (near[i] != near_by_pairs(box, 5, distance, sources, n_sources, targets + 3 * i))
            fail_msg(
                "box %g %g %g %g %g %g %g %g %g, %lld sources, distance %g: target %g %g %g is %d",
                box[0], box[1], box[2], box[3], box[4], box[5], box[6], box[7], box[8],
                (long long)n_sources, distance, targets[3 * i], targets[3 * i + 1],
                targets[3 * i + 2], near[i]);
}

TEST(every_box)
{
    static const double distances[] = {0, 0.1, 0.3, 0.75, 1.5, 2.25};

    for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++)
        for (size_t d = 0; d < sizeof distances / sizeof *distances; d++) {
            compare(boxes[b], 1, 40, 1.5, distances[d]);
            compare(boxes[b], 2, 40, 1.5, distances[d]);
            compare(boxes[b], 25, 16, 1.5, distances[d]);
        }
    compare(boxes[0], 0, 10, 1.5, 1);
    compare(boxes[0], 10, 0, 1.5, 1);
    for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++)
        compare(boxes[b], 100, 20, 1.5, 0.2);
}

/* ---- Pairs ------------------------------------------------------------------------------- */

#define PAIR_POINTS 30

typedef struct pairs {
    int counts[PAIR_POINTS][PAIR_POINTS];
    double squares[PAIR_POINTS][PAIR_POINTS]; /* sums of squared distances */
} pairs;

static int count_pair(void *user, int64_t first, int64_t second, const double d[3])
{
    pairs *p = user;
    int64_t low = first < second ? first : second, high = first < second ? second : first;

    p->counts[low][high]++;
    p->squares[low][high] += d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    return 1;
}

/* Counts the images of a that are near to b. */
static int count_images(const double box[9], double distance, const double *a, const double *b,
                        double *squares)
{
    int by[3], count = 0, most[3];

    for (int v = 0; v < 3; v++)
        most[v] = box[3 * v] == 0 && box[3 * v + 1] == 0 && box[3 * v + 2] == 0 ? 0 : 9;
    *squares = 0;
    for (by[0] = -most[0]; by[0] <= most[0]; by[0]++)
        for (by[1] = -most[1]; by[1] <= most[1]; by[1]++)
            for (by[2] = -most[2]; by[2] <= most[2]; by[2]++) {
                double square = 0;

                for (int k = 0; k < 3; k++) {
                    double d =
                        b[k] - a[k] - by[0] * box[k] - by[1] * box[3 + k] - by[2] * box[6 + k];
                    square += d * d;
                }
                count += square <= distance * distance;
                *squares += square <= distance * distance ? square : 0;
            }
    return count;
}

TEST(pairs_in_every_box)
{
    static const double distances[] = {0.3, 0.75, 2.25};
    static double points[3 * PAIR_POINTS], moved[3 * PAIR_POINTS];
    trajectory_neighbours *neighbours = trajectory_neighbours_create();

    for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++)
        for (size_t d = 0; d < sizeof distances / sizeof *distances; d++) {
            pairs found;
            collet_error err;
            memset(&found, 0, sizeof found);
            fill(points, PAIR_POINTS, 2);
            if (boxes[b][0] == 0 && boxes[b][2] == 0 &&
                boxes[b][5] == 0) /* without a box, this point is far from the other points */
                points[0] = 1e6;
            memcpy(moved, points, sizeof points);
            assert_success(trajectory_neighbours_pairs(neighbours, boxes[b], distances[d], moved,
                                                       PAIR_POINTS, count_pair, &found, &err),
                           err);
            for (int i = 0; i < PAIR_POINTS; i++)
                for (int j = i + 1; j < PAIR_POINTS; j++) {
                    double squares;
                    assert_int_equal(found.counts[i][j],
                                     count_images(boxes[b], distances[d], points + 3 * i,
                                                  points + 3 * j, &squares));
                    assert_true(fabs(found.squares[i][j] - squares) < 1e-9);
                }
        }
    trajectory_neighbours_free(neighbours);
}

/* Points that are exactly at the distance are near, through every side of the box. */
TEST(boundary)
{
    const double box[9] = {4, 0, 0, 1, 4, 0, -1, 2, 4};
    double source[3] = {0.25, 0.125, 0.0625}; /* already in the box */
    trajectory_neighbours *neighbours = trajectory_neighbours_create();
    uint8_t near[2];

    for (int i = 0; i < 3 * 125; i++) {
        double targets[6], step = i % 2 ? 0.75 : -0.75;
        int axis = i % 3, by[3] = {i / 3 % 5 - 2, i / 15 % 5 - 2, i / 75 - 2};

        for (int k = 0; k < 3; k++) {
            targets[k] = source[k] + by[0] * box[k] + by[1] * box[3 + k] + by[2] * box[6 + k] +
                         (k == axis ? step : 0);
            targets[3 + k] = targets[k] + (k == axis ? step / (1 << 20) : 0);
        }
        assert_int_equal(
            trajectory_neighbours_find(neighbours, box, 0.75, source, 1, targets, 2, near, NULL),
            COLLET_OK);
        assert_int_equal(near[0], 1);
        assert_int_equal(near[1], 0);
    }
    trajectory_neighbours_free(neighbours);
}

TEST(far_and_not_finite)
{
    const double box[9] = {4, 0, 0, 0, 4, 0, 0, 0, 4};
    double sources[9] = {NAN, 1, 1, 1, INFINITY, 1, 1, 1, 4000001};
    double targets[12] = {1, 1, 1, NAN, 1, 1, 1, 1, -INFINITY, -3999999, 1, 1.5};
    trajectory_neighbours *neighbours = trajectory_neighbours_create();
    uint8_t near[4];

    assert_int_equal(
        trajectory_neighbours_find(neighbours, box, 0.5, sources, 3, targets, 4, near, NULL),
        COLLET_OK);
    assert_memory_equal(near, ((uint8_t[]){1, 0, 0, 1}), 4);
    /* With a huge distance all points with finite coordinates are near. */
    assert_int_equal(
        trajectory_neighbours_find(neighbours, box, 1e300, sources, 3, targets, 4, near, NULL),
        COLLET_OK);
    assert_memory_equal(near, ((uint8_t[]){1, 0, 0, 1}), 4);
    trajectory_neighbours_free(neighbours);
}

TEST(refused_boxes)
{
    static const double flat[9] = {1, 0, 0, 0, 1, 0, 1, 1, 0}, wrong[9] = {NAN},
                        thin[9] = {1e-9, 0, 0, 0, 1, 0, 0, 0, 1};
    trajectory_neighbours *neighbours = trajectory_neighbours_create();
    double point[3] = {1, 1, 1};
    collet_error err;
    uint8_t near[1];

    assert_error(trajectory_neighbours_find(neighbours, flat, 0.5, point, 1, point, 1, near, &err),
                 COLLET_FORMAT, err, "flat or not finite");
    assert_error(trajectory_neighbours_find(neighbours, wrong, 0.5, point, 1, point, 1, near, &err),
                 COLLET_FORMAT, err, "flat or not finite");
    assert_error(trajectory_neighbours_find(neighbours, thin, 0.5, point, 1, point, 1, near, &err),
                 COLLET_FORMAT, err, "too thin");
    trajectory_neighbours_free(neighbours);
}

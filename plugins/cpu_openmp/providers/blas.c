/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/fault/test_libraries.c, tests/cpu_openmp/test_symbol_clash.c */
#include "blas.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_openmp/runtime/places.h"
#include "cpu_openmp/runtime/team.h"
#include "shared/host/util/address_space.h"
#include "shared/host/util/threads.h"

/* Address space that OpenBLAS needs: OPEN_BYTES for the library and its constructor, THREAD_BYTES
 * for the buffer (BUFFER_SIZE in common_x86_64.h) and the stack of each thread. Version 0.3.29 maps one
 * more buffer. If there is too little space, the library retries the mapping forever. The numbers were measured with
 * 0.3.21 and 0.3.29. */
#define OPEN_BYTES (UINT64_C(64) << 20)
#define THREAD_BYTES (UINT64_C(136) << 20)
/* A calling thread needs its buffer and the memory that malloc maps at its first allocation. */
#define CALLER_BYTES (UINT64_C(200) << 20)
#define CALLERS 64 /* the most buffers that make_buffers maps */

#define PARALLEL_OPENMP 2 /* a result of openblas_get_parallel */

/* The constants of CBLAS; OpenBLAS's integers are int. */
typedef enum cblas_order { CblasRowMajor = 101, CblasColMajor } cblas_order;
typedef enum cblas_transpose { CblasNoTrans = 111, CblasTrans, CblasConjTrans } cblas_transpose;
typedef enum cblas_uplo { CblasUpper = 121, CblasLower } cblas_uplo;
typedef enum cblas_diag { CblasNonUnit = 131, CblasUnit } cblas_diag;
typedef enum cblas_side { CblasLeft = 141, CblasRight } cblas_side;

struct blas {
    void (*sgemm)(cblas_order, cblas_transpose, cblas_transpose, int m,
                  int n, int k, float alpha, const float *a, int lda, const float *b,
                  int ldb, float beta, float *c, int ldc);
    void (*dgemm)(cblas_order, cblas_transpose, cblas_transpose, int m,
                  int n, int k, double alpha, const double *a, int lda, const double *b,
                  int ldb, double beta, double *c, int ldc);
    /* Complex: c64 and c128. */
    void (*gemm[2])(cblas_order, cblas_transpose, cblas_transpose, int m,
                    int n, int k, const void *alpha, const void *a, int lda,
                    const void *b, int ldb, const void *beta, void *c, int ldc);
    void (*trsm[2])(cblas_order, cblas_side, cblas_uplo, cblas_transpose,
                    cblas_diag, int m, int n, const void *alpha, const void *a,
                    int lda, void *b, int ldb);
    void (*trsv[2])(cblas_order, cblas_uplo, cblas_transpose, cblas_diag,
                    int n, const void *a, int lda, void *x, int incx);
    void (*cherk)(cblas_order, cblas_uplo, cblas_transpose, int n, int k,
                  float alpha, const void *a, int lda, float beta, void *c, int ldc);
    void (*zherk)(cblas_order, cblas_uplo, cblas_transpose, int n, int k,
                  double alpha, const void *a, int lda, double beta, void *c, int ldc);
    void (*strsm)(cblas_order, cblas_side, cblas_uplo, cblas_transpose,
                  cblas_diag, int m, int n, float alpha, const float *a, int lda,
                  float *b, int ldb);
    void (*dtrsm)(cblas_order, cblas_side, cblas_uplo, cblas_transpose,
                  cblas_diag, int m, int n, double alpha, const double *a, int lda,
                  double *b, int ldb);
    void (*strsv)(cblas_order, cblas_uplo, cblas_transpose, cblas_diag,
                  int n, const float *a, int lda, float *x, int incx);
    void (*dtrsv)(cblas_order, cblas_uplo, cblas_transpose, cblas_diag,
                  int n, const double *a, int lda, double *x, int incx);
    void (*ssyrk)(cblas_order, cblas_uplo, cblas_transpose, int n, int k,
                  float alpha, const float *a, int lda, float beta, float *c, int ldc);
    void (*dsyrk)(cblas_order, cblas_uplo, cblas_transpose, int n, int k,
                  double alpha, const double *a, int lda, double beta, double *c, int ldc);
    void *(*memory_alloc)(int purpose); /* NULL if the library lacks it; likewise memory_free */
    void (*memory_free)(void *buffer);
    int (*get_num_threads)(void);
    void (*set_num_threads)(int threads);
    int (*get_parallel)(void);
    char *(*get_config)(void);
    char *(*get_corename)(void);
    blas_lapack lapack[BLAS_TYPES];
    int has_lapack;
    char reason[LIBRARY_REASON]; /* why the library cannot be used; "": it can be used */
    pthread_mutex_t lock;
    blas_use *uses; /* between enter and leave */
    int threads_found;
    /* callers: the most threads that have called the library at the same time; each has a buffer. claimed: the
     * threads of the current groups. */
    int32_t callers, claimed;
    int pool;      /* threads that calls may use: the library's own and the caller */
    int64_t forks; /* the value of library_forks() when the library's threads were started */
};

static blas library = {.lock = PTHREAD_MUTEX_INITIALIZER};
static library_choice choice = {.lock = PTHREAD_MUTEX_INITIALIZER, .settings = {.name = BLAS_NAME}};
static const library_settings *const settings = &choice.settings;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

/* ---- Opening --------------------------------------------------------------------------------- */

#define FIND(name, member)                                                                         \
    {                                                                                              \
        name, offsetof(blas, member)                                                               \
    }
#define CBLAS(routine) FIND("cblas_s" #routine, s##routine), FIND("cblas_d" #routine, d##routine)
#define OWN(function) FIND("openblas_" #function, function)
#define LAPACK(routine)                                                                            \
    FIND("s" #routine "_", lapack[0].routine), FIND("d" #routine "_", lapack[1].routine)
#define COMPLEX(routine) FIND("cblas_c" #routine, routine[0]), FIND("cblas_z" #routine, routine[1])
#define COMPLEX_LAPACK(routine, member)                                                            \
    FIND("c" #routine "_", lapack[2].member), FIND("z" #routine "_", lapack[3].member)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const library_symbol symbols[] = {CBLAS(gemm),
                                         CBLAS(trsm),
                                         CBLAS(trsv),
                                         CBLAS(syrk),
                                         OWN(get_num_threads),
                                         OWN(set_num_threads),
                                         OWN(get_parallel),
                                         OWN(get_config),
                                         OWN(get_corename),
                                         COMPLEX(gemm),
                                         COMPLEX(trsm),
                                         COMPLEX(trsv),
                                         FIND("cblas_cherk", cherk),
                                         FIND("cblas_zherk", zherk)};
static const library_symbol lapack_symbols[] = {LAPACK(getrf),
                                                LAPACK(getrs),
                                                LAPACK(potrf),
                                                LAPACK(gesdd),
                                                LAPACK(syevd),
                                                LAPACK(geev),
                                                COMPLEX_LAPACK(geev, geev_complex),
                                                COMPLEX_LAPACK(getrf, getrf),
                                                COMPLEX_LAPACK(potrf, potrf),
                                                COMPLEX_LAPACK(gesdd, gesdd_complex),
                                                COMPLEX_LAPACK(heevd, heevd),
                                                COMPLEX_LAPACK(geqrf, geqrf),
                                                COMPLEX_LAPACK(ungqr, ungqr)};

/* The prefixes that the names of all functions may have: none, or the prefix of scipy-openblas32. */
static const char *const prefixes[] = {"", "scipy_"};

/* The prefix that the library puts before `name` in the name of this function; NULL if it has no such function. */
static const char *prefix_of(void *handle, const char *name)
{
    const library_symbol symbol = {name, 0};
    void (*function)(void);
    for (size_t i = 0; i < COUNT(prefixes); i++)
        if (library_find_all(handle, prefixes[i], &symbol, 1, &function))
            return prefixes[i];
    return NULL;
}

/* Whether the library was built with 64-bit integers, like the copy in NumPy. Most such builds have names that end
 * with 64_. */
static bool has_long_integers(void *handle, const blas *b, const char *prefix)
{
    return prefix ? strstr(b->get_config(), "USE64BITINT") != NULL
                  : prefix_of(handle, "openblas_get_config64_") != NULL;
}

static void find_functions(void *handle, blas *b)
{
    const char *prefix = prefix_of(handle, "openblas_get_config");
    int found = prefix && library_find_all(handle, prefix, symbols, COUNT(symbols), b);
    if (has_long_integers(handle, b, found ? prefix : NULL))
        (void)snprintf(b->reason, sizeof b->reason,
                       "%s has integers of 64 bits, and a build with 32 bits is needed, as pip's "
                       "scipy-openblas32 is (Debian: libopenblas0-pthread)",
                       settings->name);
    else if (!found)
        (void)snprintf(b->reason, sizeof b->reason, "%s lacks functions of OpenBLAS",
                       settings->name);
    else if (b->get_parallel() == PARALLEL_OPENMP)
        (void)snprintf(b->reason, sizeof b->reason,
                       "%s is the OpenMP build, whose thread count cannot be set without changing "
                       "the host's (Debian: libopenblas0-pthread)",
                       settings->name);
    else
        b->has_lapack = library_find_all(handle, prefix, lapack_symbols, COUNT(lapack_symbols), b);
    if (!library_find(handle, "blas_memory_alloc", &b->memory_alloc) ||
        !library_find(handle, "blas_memory_free", &b->memory_free))
        b->memory_alloc = NULL;
}

/* Whether the library may start `count` threads: if it could not start them, it would raise SIGINT and later wait
 * forever. Includes the space for a buffer of the caller, because the caller may not have a buffer yet. */
static bool can_start(int count)
{
    return address_space_has((uint64_t)count * THREAD_BYTES + CALLER_BYTES) &&
           threads_can_start(count);
}

/* The number of threads, including the caller, that the library may have when it is opened; 0: it must not be
 * opened. Sets *all to the number of threads that the library would use by default. */
static int threads_at_open(int *all)
{
    const char *text = getenv("OPENBLAS_NUM_THREADS");
    long set = text ? strtol(text, NULL, 10) : 0;
    cpu_set_t own;
    *all = sched_getaffinity(0, sizeof own, &own) == 0 ? CPU_COUNT(&own) : 1;
    if (set > 0 && set < *all)
        *all = (int)set;
    int count = *all;
    while (count > 0 && !address_space_has(OPEN_BYTES + (uint64_t)(count + 1) * THREAD_BYTES))
        count /= 2;
    return count > 1 && !threads_can_start(count - 1) ? 1 : count;
}

static void open_library(void)
{
    /* These arrays are static, because the environment that the library's constructor reads points to them. */
    static char core[sizeof settings->target + sizeof BLAS_CORE_VARIABLE], threads[40];
    int all, count;
    const char *variables[4] = {NULL}, **last = variables;
    library_settle(&choice, NULL);
    if (settings->refused[0]) {
        (void)snprintf(library.reason, sizeof library.reason, "%s", settings->refused);
        return;
    }
    count = threads_at_open(&all);
    if (count == 0) {
        (void)snprintf(
            library.reason, sizeof library.reason,
            "it needs %d MiB of address space, and the limit on it (ulimit -v, -d) leaves less",
            (int)((OPEN_BYTES + 2 * THREAD_BYTES) >> 20));
        return;
    }
    (void)snprintf(threads, sizeof threads, "OPENBLAS_NUM_THREADS=%d", count);
    (void)snprintf(core, sizeof core, BLAS_CORE_VARIABLE "=%s", settings->target);
    if (!getenv("OPENBLAS_THREAD_TIMEOUT"))
        *last++ = "OPENBLAS_THREAD_TIMEOUT=20"; /* sleep after 2^20 cycles, not 2^26 */
    if (settings->target[0])
        *last++ = core;
    if (count < all)
        *last++ = threads;
    void *handle = library_open(settings->name, variables);
    if (handle)
        find_functions(handle, &library);
    else
        (void)snprintf(library.reason, sizeof library.reason,
                       "%s cannot be opened (Debian: libopenblas0-pthread)", settings->name);
}

void blas_settle(const library_settings *given)
{
    library_settle(&choice, given);
}

blas *blas_open(const char **reason)
{
    (void)pthread_once(&opened, open_library);
    if (reason)
        *reason = library.reason;
    return library.reason[0] ? NULL : &library;
}

void blas_refuse(const char *reason)
{
    (void)snprintf(library.reason, sizeof library.reason, "%s", reason);
}

int blas_is_loaded(const char *name, char *core, uint64_t capacity)
{
    char *(*get_corename)(void);
    void *handle = library_loaded(name);
    const char *prefix = handle ? prefix_of(handle, "openblas_get_corename") : NULL;
    const library_symbol symbol = {"openblas_get_corename", 0};
    if (!prefix || !library_find_all(handle, prefix, &symbol, 1, &get_corename))
        return 0;
    (void)snprintf(core, (size_t)capacity, "%s", get_corename());
    return 1;
}

void blas_path(blas *b, char *path, uint64_t capacity)
{
    library_path(&b->sgemm, path, capacity);
}

const char *blas_config(const blas *b)
{
    return b->get_config();
}

const char *blas_core(const blas *b)
{
    return b->get_corename();
}

const blas_lapack *blas_lapack_of(const blas *b, blas_type type)
{
    return b->has_lapack ? &b->lapack[type] : NULL;
}

/* ---- Threads --------------------------------------------------------------------------------- */

/* Starts threads of the library, which inherit this thread's affinity. If OpenMP has bound this thread to a CPU, the
 * binding is removed for that time. */
static void start_threads(const blas *b, int count)
{
    cpu_set_t own;
    bool left = places_leave(&own);
    b->set_num_threads(count);
    if (left)
        places_return(&own);
}

/* The library has one thread count for all groups of calls. blas_enter grants each group a number of threads; the count
 * is an even share of the largest grant, but at most the smallest grant. Otherwise a group that was granted one thread,
 * because it runs on a thread of a team, would use several. */
static void set_threads(blas *b)
{
    int32_t users = 0, smallest = 0, largest = 0;
    for (const blas_use *use = b->uses; use; use = use->next, users++) {
        smallest = users == 0 || use->threads < smallest ? use->threads : smallest;
        largest = use->threads > largest ? use->threads : largest;
    }
    int32_t share = users > 0 ? largest / users : 0, threads = smallest < share ? smallest : share;
    int target = users == 0 ? b->threads_found : threads > 1 ? threads : 1;
    if (target > b->pool && can_start(target - b->pool))
        b->pool = target;
    target = target < b->pool ? target : b->pool;
    if (target != b->get_num_threads())
        start_threads(b, target);
}

static void find_threads(blas *b)
{
    b->threads_found = b->get_num_threads();
    b->pool = b->threads_found > b->pool ? b->threads_found : b->pool;
}

/* Makes the library map `count` buffers now, before the program uses up the address space. They stay mapped, and later
 * calls use them. */
static void make_buffers(const blas *b, int32_t count)
{
    void *buffers[CALLERS];
    for (int32_t i = 0; i < count; i++)
        buffers[i] = b->memory_alloc(1);
    for (int32_t i = 0; i < count; i++)
        b->memory_free(buffers[i]);
}

static bool claim(blas *b, int32_t callers)
{
    int32_t all = b->claimed + callers;
    if (all > b->callers && address_space_is_limited()) {
        /* make_buffers cannot reuse buffers that current groups use, so space for these counts again. */
        uint64_t more = (uint64_t)(all - b->callers + b->claimed);
        if (all > CALLERS || !b->memory_alloc || !address_space_has(more * CALLER_BYTES))
            return false;
        make_buffers(b, all);
    }
    b->callers = all > b->callers ? all : b->callers;
    b->claimed = all;
    return true;
}

int blas_begin(blas *b, int32_t callers)
{
    if (!library_enter())
        return 0;
    int64_t forks = library_forks();
    (void)pthread_mutex_lock(&b->lock);
    if (b->forks != forks) {
        find_threads(b);
        if (threads_can_start(b->pool - 1)) {
            start_threads(b, b->threads_found);
            b->forks = forks;
        }
    }
    int runs = b->forks == forks && claim(b, callers);
    (void)pthread_mutex_unlock(&b->lock);
    if (!runs)
        library_leave();
    return runs;
}

void blas_end(blas *b, int32_t callers)
{
    (void)pthread_mutex_lock(&b->lock);
    b->claimed -= callers;
    (void)pthread_mutex_unlock(&b->lock);
    library_leave();
}

int32_t blas_enter(blas *b, blas_use *use, int32_t threads)
{
    int32_t taken = threads > 1 && !library_forked() ? team_take(threads, threads) : 0;
    *use = (blas_use){.threads = taken > 1 ? taken : 1, .taken = taken};
    (void)pthread_mutex_lock(&b->lock);
    if (!b->uses)
        find_threads(b);
    use->next = b->uses;
    if (use->next)
        use->next->previous = use;
    b->uses = use;
    set_threads(b);
    (void)pthread_mutex_unlock(&b->lock);
    return use->threads;
}

void blas_leave(blas *b, blas_use *use)
{
    (void)pthread_mutex_lock(&b->lock);
    if (use->next)
        use->next->previous = use->previous;
    if (use->previous)
        use->previous->next = use->next;
    else
        b->uses = use->next;
    set_threads(b);
    (void)pthread_mutex_unlock(&b->lock);
    if (use->taken)
        team_give(use->taken);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* Stores an integer in `room` as a complex number of the type and returns its address. */
static const void *complex_number(blas_type type, int value, double room[2])
{
    room[0] = room[1] = 0.0;
    if (type == BLAS_C128)
        room[0] = value;
    else
        *(float *)(void *)room = (float)value;
    return room;
}

static cblas_transpose op_of(const blas_matrix *m)
{
    return m->transposed == TRANSPOSED_CONJUGATE ? CblasConjTrans
           : m->transposed                       ? CblasTrans
                                                 : CblasNoTrans;
}

void blas_multiply(const blas *b, blas_type type, const blas_matrix *c, const blas_matrix *left,
                   const blas_matrix *right, int64_t m, int64_t n, int64_t k, int factor, int keep)
{
    cblas_transpose op_left = op_of(left), op_right = op_of(right);
    double room[2][2];
    if (type >= BLAS_C64) {
        b->gemm[type - BLAS_C64](CblasRowMajor, op_left, op_right, (int)m, (int)n,
                                 (int)k, complex_number(type, factor, room[0]), left->at,
                                 (int)left->stride, right->at, (int)right->stride,
                                 complex_number(type, keep, room[1]), c->at, (int)c->stride);
    } else if (type == BLAS_F64) {
        b->dgemm(CblasRowMajor, op_left, op_right, (int)m, (int)n, (int)k, factor,
                 left->at, (int)left->stride, right->at, (int)right->stride, keep, c->at,
                 (int)c->stride);
    } else {
        b->sgemm(CblasRowMajor, op_left, op_right, (int)m, (int)n, (int)k,
                 (float)factor, left->at, (int)left->stride, right->at, (int)right->stride,
                 (float)keep, c->at, (int)c->stride);
    }
}

static const struct triangle {
    cblas_side side;
    cblas_uplo half;
    cblas_transpose op;
    cblas_diag diagonal;
} triangles[] = {[BLAS_UNIT_LOWER] = {CblasLeft, CblasLower, CblasNoTrans, CblasUnit},
                 [BLAS_UPPER] = {CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit},
                 [BLAS_LOWER_RIGHT] = {CblasRight, CblasLower, CblasConjTrans, CblasNonUnit}};

void blas_solve(const blas *b, blas_type type, blas_triangle which, const blas_matrix *a,
                const blas_matrix *x, int64_t m, int64_t n)
{
    struct triangle t = triangles[which];
    /* Uses trsv for one column, because trsm first packs the triangle, and packing costs more than the solution. */
    int vector = t.side == CblasLeft && n == 1;
    int rows = (int)m, columns = (int)n;
    double one[2];
    if (vector && type >= BLAS_C64)
        b->trsv[type - BLAS_C64](CblasRowMajor, t.half, t.op, t.diagonal, rows, a->at,
                                 (int)a->stride, x->at, (int)x->stride);
    else if (type >= BLAS_C64)
        b->trsm[type - BLAS_C64](CblasRowMajor, t.side, t.half, t.op, t.diagonal, rows, columns,
                                 complex_number(type, 1, one), a->at, (int)a->stride, x->at,
                                 (int)x->stride);
    else if (vector && type == BLAS_F64)
        b->dtrsv(CblasRowMajor, t.half, t.op, t.diagonal, rows, a->at, (int)a->stride, x->at,
                 (int)x->stride);
    else if (vector)
        b->strsv(CblasRowMajor, t.half, t.op, t.diagonal, rows, a->at, (int)a->stride, x->at,
                 (int)x->stride);
    else if (type == BLAS_F64)
        b->dtrsm(CblasRowMajor, t.side, t.half, t.op, t.diagonal, rows, columns, 1.0, a->at,
                 (int)a->stride, x->at, (int)x->stride);
    else
        b->strsm(CblasRowMajor, t.side, t.half, t.op, t.diagonal, rows, columns, 1.0f, a->at,
                 (int)a->stride, x->at, (int)x->stride);
}

void blas_square(const blas *b, blas_type type, const blas_matrix *c, const blas_matrix *a,
                 int64_t n, int64_t k, int factor, int keep)
{
    cblas_transpose op = op_of(a);
    if (type == BLAS_C128) {
        b->zherk(CblasRowMajor, CblasLower, op, (int)n, (int)k, factor, a->at, (int)a->stride, keep,
                 c->at, (int)c->stride);
    } else if (type == BLAS_C64) {
        b->cherk(CblasRowMajor, CblasLower, op, (int)n, (int)k, (float)factor, a->at,
                 (int)a->stride, (float)keep, c->at, (int)c->stride);
    } else if (type == BLAS_F64) {
        b->dsyrk(CblasRowMajor, CblasLower, op, (int)n, (int)k, factor, a->at, (int)a->stride, keep,
                 c->at, (int)c->stride);
    } else {
        b->ssyrk(CblasRowMajor, CblasLower, op, (int)n, (int)k, (float)factor, a->at,
                 (int)a->stride, (float)keep, c->at, (int)c->stride);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of cusolver.c for the type NUMBER, whose parts have type REAL. The macros F, UN and HE make the names of
 * cuSOLVER's functions; L, LAPACK_UN and LAPACK_HE make the names of LAPACK's functions. UN makes names that begin with
 * "or" (real numbers) or "un" (complex numbers), HE names that begin with "sy" or "he". AND_REAL passes an argument
 * that LAPACK has for complex numbers only. */

/* ---- potrf ----------------------------------------------------------------------------------- */

cusolverStatus_t F(potrf_bufferSize)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                     NUMBER *A, int lda, int *Lwork)
{
    return size_is(handle, n >= 0 && lda >= n, Lwork, n + 13);
}

static int F(factor)(NUMBER *a, int n, int lda, cublasFillMode_t uplo, int *info)
{
    void (*potrf)(const char *, const int *, NUMBER *, const int *, int *);
    LAPACK(potrf, L("potrf_"));
    potrf(uplo == CUBLAS_FILL_MODE_UPPER ? "U" : "L", &n, a, &lda, info);
    return 0;
}

cusolverStatus_t F(potrf)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, NUMBER *A,
                          int lda, NUMBER *Workspace, int Lwork, int *devInfo)
{
    BEGIN(lda >= n && Lwork >= n + 13 && holds(A, span(lda, n, n), sizeof *A) &&
          holds(Workspace, (size_t)Lwork, sizeof *Workspace) && holds(devInfo, 1, sizeof *devInfo));
    memset(Workspace, 0xaa, (size_t)Lwork * sizeof *Workspace);
    return (cusolverStatus_t)F(factor)(A, n, lda, uplo, devInfo);
}

cusolverStatus_t F(potrfBatched)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                 NUMBER *Aarray[], int lda, int *infoArray, int batchSize)
{
    BEGIN(lda >= n && batchSize > 0 && holds(Aarray, (size_t)batchSize, sizeof *Aarray) &&
          holds(infoArray, (size_t)batchSize, sizeof *infoArray));
    for (int i = 0; i < batchSize; i++)
        if (!holds(Aarray[i], span(lda, n, n), sizeof(NUMBER)) ||
            F(factor)(Aarray[i], n, lda, uplo, &infoArray[i]))
            return CUSOLVER_STATUS_INTERNAL_ERROR;
    return CUSOLVER_STATUS_SUCCESS;
}

/* ---- getrf ----------------------------------------------------------------------------------- */

cusolverStatus_t F(getrf_bufferSize)(cusolverDnHandle_t handle, int m, int n, NUMBER *A, int lda,
                                     int *Lwork)
{
    return size_is(handle, m >= 0 && n >= 0 && lda >= m, Lwork, m + 3LL * n);
}

cusolverStatus_t F(getrf)(cusolverDnHandle_t handle, int m, int n, NUMBER *A, int lda,
                          NUMBER *Workspace, int *devIpiv, int *devInfo)
{
    void (*getrf)(const int *, const int *, NUMBER *, const int *, int *, int *);
    int smaller = m < n ? m : n;
    BEGIN(lda >= m && holds(A, extent(lda, n), sizeof *A) &&
          holds(Workspace, (size_t)m + 3 * (size_t)n, sizeof *Workspace) &&
          holds(devIpiv, (size_t)smaller, sizeof *devIpiv) && holds(devInfo, 1, sizeof *devInfo));
    LAPACK(getrf, L("getrf_"));
    memset(Workspace, 0xaa, ((size_t)m + 3 * (size_t)n) * sizeof *Workspace);
    getrf(&m, &n, A, &lda, devIpiv, devInfo);
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t F(getrs)(cusolverDnHandle_t handle, cublasOperation_t trans, int n, int nrhs,
                          const NUMBER *A, int lda, const int *devIpiv, NUMBER *B, int ldb,
                          int *devInfo)
{
    void (*getrs)(const char *, const int *, const int *, const NUMBER *, const int *, const int *,
                  NUMBER *, const int *, int *);
    BEGIN(lda >= n && ldb >= n && holds(A, extent(lda, n), sizeof *A) &&
          holds(B, extent(ldb, nrhs), sizeof *B) && holds(devIpiv, (size_t)n, sizeof *devIpiv) &&
          holds(devInfo, 1, sizeof *devInfo));
    LAPACK(getrs, L("getrs_"));
    getrs(trans == CUBLAS_OP_N ? "N" : "T", &n, &nrhs, A, &lda, devIpiv, B, &ldb, devInfo);
    return CUSOLVER_STATUS_SUCCESS;
}

/* ---- geqrf ----------------------------------------------------------------------------------- */

cusolverStatus_t F(geqrf_bufferSize)(cusolverDnHandle_t handle, int m, int n, NUMBER *A, int lda,
                                     int *lwork)
{
    return size_is(handle, m >= 0 && n >= 0 && lda >= m, lwork, 8LL * n + 5);
}

cusolverStatus_t F(geqrf)(cusolverDnHandle_t handle, int m, int n, NUMBER *A, int lda, NUMBER *TAU,
                          NUMBER *Workspace, int Lwork, int *devInfo)
{
    void (*geqrf)(const int *, const int *, NUMBER *, const int *, NUMBER *, NUMBER *, const int *,
                  int *);
    int work_size = (int)WORK(n);
    BEGIN(lda >= m && Lwork >= 8 * n + 5 && holds(A, extent(lda, n), sizeof *A) &&
          holds(TAU, (size_t)(m < n ? m : n), sizeof *TAU) &&
          holds(Workspace, (size_t)Lwork, sizeof *Workspace) && holds(devInfo, 1, sizeof *devInfo));
    LAPACK(geqrf, L("geqrf_"));
    NUMBER *work = malloc((size_t)work_size * sizeof *work);
    if (!work)
        return CUSOLVER_STATUS_ALLOC_FAILED;
    memset(Workspace, 0xaa, (size_t)Lwork * sizeof *Workspace);
    geqrf(&m, &n, A, &lda, TAU, work, &work_size, devInfo);
    free(work);
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t UN(gqr_bufferSize)(cusolverDnHandle_t handle, int m, int n, int k, const NUMBER *A,
                                    int lda, const NUMBER *tau, int *lwork)
{
    return size_is(handle, m >= n && n >= k && k >= 0 && lda >= m, lwork, 9LL * n + 3);
}

cusolverStatus_t UN(gqr)(cusolverDnHandle_t handle, int m, int n, int k, NUMBER *A, int lda,
                         const NUMBER *tau, NUMBER *work, int lwork, int *info)
{
    void (*orgqr)(const int *, const int *, const int *, NUMBER *, const int *, const NUMBER *,
                  NUMBER *, const int *, int *);
    int work_size = (int)WORK(n);
    BEGIN(m >= n && n >= k && lda >= m && lwork >= 9 * n + 3 &&
          holds(A, extent(lda, n), sizeof *A) && holds(tau, (size_t)k, sizeof *tau) &&
          holds(work, (size_t)lwork, sizeof *work) && holds(info, 1, sizeof *info));
    LAPACK(orgqr, LAPACK_UN("gqr_"));
    NUMBER *own = malloc((size_t)work_size * sizeof *own);
    if (!own)
        return CUSOLVER_STATUS_ALLOC_FAILED;
    memset(work, 0xaa, (size_t)lwork * sizeof *work);
    orgqr(&m, &n, &k, A, &lda, tau, own, &work_size, info);
    free(own);
    return CUSOLVER_STATUS_SUCCESS;
}

/* ---- syevd ----------------------------------------------------------------------------------- */

static int F(eigen)(NUMBER *a, int n, int lda, cublasFillMode_t uplo, REAL *w, int *info)
{
    void (*syev)(const char *, const char *, const int *, NUMBER *, const int *, REAL *, NUMBER *,
                 const int *AND_REAL(REAL *), int *);
    int work_size = (int)WORK(n);
    LAPACK(syev, LAPACK_HE("ev_"));
    NUMBER *own = malloc((size_t)work_size * sizeof *own);
    REAL *reals = malloc(3 * (size_t)(n + 1) * sizeof *reals);
    if (own && reals)
        syev("V", uplo == CUBLAS_FILL_MODE_UPPER ? "U" : "L", &n, a, &lda, w, own,
             &work_size AND_REAL(reals), info);
    int failed = !own || !reals;
    free(own);
    free(reals);
    return failed ? CUSOLVER_STATUS_ALLOC_FAILED : 0;
}

cusolverStatus_t HE(evd_bufferSize)(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                    cublasFillMode_t uplo, int n, const NUMBER *A, int lda,
                                    const REAL *W, int *lwork)
{
    return size_is(handle, jobz == CUSOLVER_EIG_MODE_VECTOR && n >= 0 && lda >= n, lwork,
                   6LL * n + 1);
}

cusolverStatus_t HE(evd)(cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo,
                         int n, NUMBER *A, int lda, REAL *W, NUMBER *work, int lwork, int *info)
{
    BEGIN(jobz == CUSOLVER_EIG_MODE_VECTOR && lda >= n && lwork >= 6 * n + 1 &&
          holds(A, extent(lda, n), sizeof *A) && holds(W, (size_t)n, sizeof *W) &&
          holds(work, (size_t)lwork, sizeof *work) && holds(info, 1, sizeof *info));
    memset(work, 0xaa, (size_t)lwork * sizeof *work);
    return (cusolverStatus_t)F(eigen)(A, n, lda, uplo, W, info);
}

cusolverStatus_t HE(evjBatched_bufferSize)(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                           cublasFillMode_t uplo, int n, const NUMBER *A, int lda,
                                           const REAL *W, int *lwork, syevjInfo_t params,
                                           int batchSize)
{
    return size_is(
        handle, jobz == CUSOLVER_EIG_MODE_VECTOR && n >= 0 && lda >= n && params && batchSize > 0,
        lwork, 3LL * n * batchSize);
}

cusolverStatus_t HE(evjBatched)(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                cublasFillMode_t uplo, int n, NUMBER *A, int lda, REAL *W,
                                NUMBER *work, int lwork, int *info, syevjInfo_t params,
                                int batchSize)
{
    size_t count = (size_t)batchSize;
    BEGIN(jobz == CUSOLVER_EIG_MODE_VECTOR && lda >= n && params && lwork >= 3 * n * batchSize &&
          holds(A, extent(lda, n) * count, sizeof *A) && holds(W, (size_t)n * count, sizeof *W) &&
          holds(work, (size_t)lwork, sizeof *work) && holds(info, count, sizeof *info));
    memset(work, 0xaa, (size_t)lwork * sizeof *work);
    for (size_t i = 0; i < count; i++)
        if (F(eigen)(A + i * extent(lda, n), n, lda, uplo, W + i * (size_t)n, &info[i]))
            return CUSOLVER_STATUS_INTERNAL_ERROR;
    return CUSOLVER_STATUS_SUCCESS;
}

/* ---- gesvd ----------------------------------------------------------------------------------- */

static int F(singular)(const char *jobs, int m, int n, NUMBER *a, int lda, REAL *s, NUMBER *u,
                       int ldu, NUMBER *vt, int ldvt, int *info)
{
    void (*gesdd)(const char *, const int *, const int *, NUMBER *, const int *, REAL *, NUMBER *,
                  const int *, NUMBER *, const int *, NUMBER *, const int *AND_REAL(REAL *), int *,
                  int *);
    int work_size = 256 + 64 * (m + n) + 8 * n * n;
    LAPACK(gesdd, L("gesdd_"));
    NUMBER *own = malloc((size_t)work_size * sizeof *own);
    REAL *reals = malloc((size_t)(2 * n * (m + 3 * n + 4) + 8) * sizeof *reals);
    int *places = malloc((size_t)(8 * n + 8) * sizeof *places);
    if (own && reals && places)
        gesdd(jobs, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, own, &work_size AND_REAL(reals), places,
              info);
    int failed = !own || !reals || !places;
    free(own);
    free(reals);
    free(places);
    return failed ? CUSOLVER_STATUS_ALLOC_FAILED : 0;
}

cusolverStatus_t F(gesvd_bufferSize)(cusolverDnHandle_t handle, int m, int n, int *lwork)
{
    return size_is(handle, m >= n && n >= 0, lwork, 5LL * m + n);
}

cusolverStatus_t F(gesvd)(cusolverDnHandle_t handle, signed char jobu, signed char jobvt, int m,
                          int n, NUMBER *A, int lda, REAL *S, NUMBER *U, int ldu, NUMBER *VT,
                          int ldvt, NUMBER *work, int lwork, REAL *rwork, int *info)
{
    BEGIN(jobu == 'S' && jobvt == 'S' && m >= n && lda >= m && ldu >= m && ldvt >= n &&
          lwork >= 5 * m + n && holds(A, extent(lda, n), sizeof *A) &&
          holds(S, (size_t)n, sizeof *S) && holds(U, span(ldu, m, n), sizeof *U) &&
          holds(VT, span(ldvt, n, n), sizeof *VT) && holds(work, (size_t)lwork, sizeof *work) &&
          (!rwork || holds(rwork, (size_t)n - 1, sizeof *rwork)) && holds(info, 1, sizeof *info));
    memset(work, 0xaa, (size_t)lwork * sizeof *work);
    return (cusolverStatus_t)F(singular)("S", m, n, A, lda, S, U, ldu, VT, ldvt, info);
}

cusolverStatus_t F(gesvdjBatched_bufferSize)(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                             int m, int n, const NUMBER *A, int lda, const REAL *S,
                                             const NUMBER *U, int ldu, const NUMBER *V, int ldv,
                                             int *lwork, gesvdjInfo_t params, int batchSize)
{
    return size_is(handle,
                   jobz == CUSOLVER_EIG_MODE_VECTOR && m <= SMALL && n <= SMALL && lda >= m &&
                       ldu >= m && ldv >= n && params && batchSize > 0,
                   lwork, (long long)n * n * batchSize + 1);
}

cusolverStatus_t F(gesvdjBatched)(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int m, int n,
                                  NUMBER *A, int lda, REAL *S, NUMBER *U, int ldu, NUMBER *V,
                                  int ldv, NUMBER *work, int lwork, int *info, gesvdjInfo_t params,
                                  int batchSize)
{
    size_t count = (size_t)batchSize;
    static jacobi j;
    BEGIN(jobz == CUSOLVER_EIG_MODE_VECTOR && m <= SMALL && m >= n && lda >= m && ldu >= m &&
          ldv >= n && params && lwork >= n * n * batchSize + 1 &&
          holds(A, extent(lda, n) * count, sizeof *A) && holds(S, (size_t)n * count, sizeof *S) &&
          holds(U, extent(ldu, m) * count, sizeof *U) &&
          holds(V, extent(ldv, n) * count, sizeof *V) && holds(work, (size_t)lwork, sizeof *work) &&
          holds(info, count, sizeof *info));
    memset(work, 0xaa, (size_t)lwork * sizeof *work);
    for (size_t i = 0; i < count; i++) {
        j.m = m;
        j.n = n;
        for (int column = 0; column < n; column++)
            for (int row = 0; row < m; row++)
                j.w[column][row] =
                    (long double complex)A[i * extent(lda, n) + (size_t)(row + column * lda)];
        decompose(&j);
        for (int column = 0; column < m; column++)
            for (int row = 0; row < m; row++)
                U[i * extent(ldu, m) + (size_t)(row + column * ldu)] = (NUMBER)j.w[column][row];
        for (int column = 0; column < n; column++) {
            S[i * (size_t)n + (size_t)column] = (REAL)j.s[column];
            for (int row = 0; row < n; row++)
                V[i * extent(ldv, n) + (size_t)(row + column * ldv)] = (NUMBER)j.v[column][row];
        }
        info[i] = 0;
    }
    return CUSOLVER_STATUS_SUCCESS;
}

#undef LETTER
#undef LAPACK_LETTER
#undef NUMBER
#undef REAL

/* SPDX-License-Identifier: Apache-2.0 */
#include "common/test.h"
/* Compares the binary interface that FAMILY_FILE (engines/mpi) declares with the header of an installed MPI. This
 * test is not built if no MPI is installed. */

#include MPI_HEADER
#include FAMILY_FILE

#define TEXT(x) TEXT_OF(x)
#define TEXT_OF(x) #x

#define SAME(type, own) _Static_assert(sizeof(type) == sizeof(own), #type)
SAME(MPI_Comm, mpi_comm);
SAME(MPI_Datatype, mpi_datatype);
SAME(MPI_Op, mpi_op);
SAME(MPI_Info, mpi_info);
SAME(MPI_Errhandler, mpi_errhandler);
SAME(MPI_Request, mpi_request);
_Static_assert(MPI_MAX_LIBRARY_VERSION_STRING <= MPI_TEXT, "texts");
_Static_assert(MPI_MAX_ERROR_STRING <= MPI_TEXT, "texts");

TEST(constants)
{
    assert_int_equal(MPI_THREAD_FUNNELED, THREAD_FUNNELED);
    assert_int_equal(MPI_COMM_TYPE_SHARED, TYPE_SHARED);
    assert_int_equal(MPI_SUCCESS, 0);
    assert_ptr_equal(MPI_STATUS_IGNORE, STATUS_IGNORE);
}

TEST(handles)
{
#ifdef OMPI_MAJOR_VERSION
    assert_non_null(strstr(TEXT(MPI_COMM_WORLD), "ompi_mpi_comm_world"));
    assert_non_null(strstr(TEXT(MPI_INT64_T), "ompi_mpi_int64_t"));
    assert_non_null(strstr(TEXT(MPI_MAX), "ompi_mpi_op_max"));
    assert_non_null(strstr(TEXT(MPI_SUM), "ompi_mpi_op_sum"));
    assert_non_null(strstr(TEXT(MPI_INFO_NULL), "ompi_mpi_info_null"));
    assert_non_null(strstr(TEXT(MPI_ERRORS_RETURN), "ompi_mpi_errors_return"));
#else
    calls c;

    assert_null(constants_bind(NULL, &c));
    assert_true(c.world == MPI_COMM_WORLD);
    assert_true(c.int64 == MPI_INT64_T);
    assert_true(c.max == MPI_MAX);
    assert_true(c.sum == MPI_SUM);
    assert_true(c.info_null == MPI_INFO_NULL);
    assert_true(c.errors_return == MPI_ERRORS_RETURN);
#endif
}

/* A wrong number or type of arguments is a compile error. */
TEST(functions)
{
    calls c;

    memset(&c, 0, sizeof c);
    assert_int_equal(sizeof c.world, sizeof(MPI_Comm));
    _Static_assert(
        _Generic(&MPI_Init_thread, int (*)(int *, char ***, int, int *) : 1, default : 0),
        "MPI_Init_thread");
    _Static_assert(_Generic(&MPI_Iallreduce,
                            int (*)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm,
                                    MPI_Request *) : 1,
                            default : 0),
                   "MPI_Iallreduce");
    _Static_assert(_Generic(&MPI_Comm_split_type,
                            int (*)(MPI_Comm, int, int, MPI_Info, MPI_Comm *) : 1, default : 0),
                   "MPI_Comm_split_type");
    _Static_assert(
        _Generic(&MPI_Test, int (*)(MPI_Request *, int *, MPI_Status *) : 1, default : 0),
        "MPI_Test");
    _Static_assert(_Generic(&MPI_Error_string, int (*)(int, char *, int *) : 1, default : 0),
                   "MPI_Error_string");
}

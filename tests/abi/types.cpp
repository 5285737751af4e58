/* SPDX-License-Identifier: Apache-2.0 */
/* Constants have the type of the fields that hold them. (In C11 every enumerator is an int.) */
#include <type_traits>

#include <collet/collet.h>
#include <collet/plugin.h>
#include <collet/scatter.h>
#include <collet/ternary.h>

#define TYPED(constant, its)                                                                       \
    static_assert(std::is_same<std::underlying_type<decltype(constant)>::type, its>::value,        \
                  #constant " does not have the type " #its);
#define SAME(constant, field) TYPED(constant, decltype(field))

SAME(COLLET_OK, collet_error::status)
SAME(COLLET_F32, collet_operand::dtype)
SAME(COLLET_OP_ADD, collet_kernel_row::op)
SAME(COLLET_PARAMS_SIZE_ADD, collet_kernel_row::params_size)
SAME(COLLET_MEMORY_HOST, collet_device_properties::memory)
SAME(COLLET_MEMORY_HOST, collet_device_info::memory)
SAME(COLLET_MEMORY_UNKNOWN, collet_device_info::memory)
SAME(COLLET_ORDER_QUEUES, collet_device_properties::order)
SAME(COLLET_THREADS_ANY, collet_device_properties::threads)
SAME(COLLET_DEVICE_CPU, collet_device_info::kind)
SAME(COLLET_EXECUTION_SYNCHRONOUS, collet_device_info::execution)
SAME(COLLET_BACKEND_USABLE, collet_backend_info::state)
SAME(COLLET_FIELD_NUMBER, collet_ops_field::kind)
SAME(COLLET_INFER, collet_array_spec::ndim)
SAME(COLLET_TERNARY_ABSMEAN, collet_ternary_quantize_params::mode)
SAME(COLLET_TERNARY_T2, collet_ternary_format_params::format)
SAME(COLLET_TERNARY_INT8, collet_ternary_linear_params::activations)
SAME(COLLET_SCATTER_EULER, collet_scatter_material::kind)
SAME(COLLET_SCATTER_FAST, collet_scatter_options::method)
SAME(COLLET_SCATTER_FFT, collet_scatter_options::grid)
TYPED(COLLET_SCATTER_PSI, uint32_t)
SAME(COLLET_TERNARY_FILE_T2, collet_ternary_file_info::kind)
SAME(COLLET_TERNARY_PACKED, collet_ternary_matrix::content)
TYPED(COLLET_TERNARY_WRITE_BYTES, uint32_t)
static_assert(std::is_same<decltype(COLLET_MEMORY_UNKNOWN), decltype(COLLET_MEMORY_HOST)>::value,
              "values of one field are in different enumerations");
static_assert(std::is_same<decltype(COLLET_ABI), decltype(collet_host::abi)>::value,
              "COLLET_ABI does not have the type of abi");

# SPDX-License-Identifier: Apache-2.0
# Tests of kernels in small work-groups, and (Oclgrind) with every memory access checked.

# collet_add_rows(PREFIX CONF OPTION row...): one test per row "op signature [COMPILER OPTION]".
function(collet_add_rows prefix conf option)
  foreach(row ${ARGN})
    separate_arguments(row)
    list(GET row 0 op)
    list(GET row 1 sig)
    set(name ${prefix}_${op})
    add_test(NAME ${name}
      COMMAND backend-check ${option} --op ${op} --sig ${sig} $<TARGET_FILE:plugin_opencl>)
    collet_test_environment(${name})
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT COLLET_CONFIG=${conf})
    list(LENGTH row words)
    if(words GREATER 2)
      list(GET row 2 words)
      set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT OCLGRIND_BUILD_OPTIONS=${words})
    endif()
    # A row may refuse cases for lack of memory; these devices have enough for all.
    set_tests_properties(${name} PROPERTIES LABELS opencl TIMEOUT 1800
      FAIL_REGULAR_EXPRESSION "refused|SKIP")
  endforeach()
endfunction()

# With work-groups of 16 items, even a few frames and atoms are more than a group processes at once.
set(conf ${CMAKE_CURRENT_BINARY_DIR}/kernels.conf)
file(WRITE ${conf} "")
collet_add_rows(check_opencl_small_groups ${conf} --sample "observables ddddd:ffffl")
collet_add_rows(check_opencl_small_groups ${conf} --quick "time_derivative di:fd")
foreach(op observables time_derivative)
  set_property(TEST check_opencl_small_groups_${op} APPEND PROPERTY ENVIRONMENT
    POCL_MAX_WORK_GROUP_SIZE=16)
endforeach()

# Another row of `evaluate`: check_opencl runs only one.
collet_add_rows(check_opencl ${conf} --sample "evaluate fB:dlf")

# Matrix products by the stand-in for CLBlast.
set(clblast ${CMAKE_CURRENT_BINARY_DIR}/clblast.conf)
file(WRITE ${clblast} "opencl.clblast = ${CMAKE_BINARY_DIR}/tests/libraries/libfake_clblast_plain.so\n")
collet_add_rows(check_opencl_clblast ${clblast} --quick "matmul f:ff")

# Rows on a device without f64.
find_library(OPENCL_LOADER NAMES OpenCL libOpenCL.so.1)
if(OPENCL_LOADER)
  add_library(cl_without_f64 SHARED libraries/without_f64.c)
  target_link_libraries(cl_without_f64 PRIVATE
    collet_options -Wl,--no-as-needed ${OPENCL_LOADER} ${CMAKE_DL_LIBS})
  set_target_properties(cl_without_f64 PROPERTIES C_VISIBILITY_PRESET default
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/libraries)
  set(conf ${CMAKE_CURRENT_BINARY_DIR}/without_f64.conf)
  file(WRITE ${conf}
    "opencl.library = ${CMAKE_BINARY_DIR}/tests/libraries/libcl_without_f64.so\n")
  collet_add_rows(check_opencl_without_f64 ${conf} --quick
    "inertia f:fff" "gyration fff:ffl")
  collet_add_rows(check_opencl_without_f64 ${conf} --sample
    "observables fffff:ffffl" "matmul c:cc" "dot c:cc" "lu icci:c" "cholesky ci:c" "qr cc:c" "eig cci:f")
  # These are long tests because observables and matmul use the same code.
  foreach(op inertia gyration dot lu cholesky qr eig)
    collet_long_tests(check_opencl_without_f64_${op})
  endforeach()
endif()

# Oclgrind replaces the loader. It prints findings, and backend-check fails a kernel that prints.
# Optimised sines need an instruction that Oclgrind 21.10 lacks.
find_library(OCLGRIND_LIBRARY oclgrind-rt PATH_SUFFIXES oclgrind)
if(OCLGRIND_LIBRARY)
  set(conf ${CMAKE_CURRENT_BINARY_DIR}/oclgrind.conf)
  file(WRITE ${conf} "opencl.library = ${OCLGRIND_LIBRARY}\n")
  collet_add_rows(oclgrind ${conf} --sample
    "copy h:d" "add f:ff" "div c:cc" "axpy d:dd" "tanh h:h" "sin f:f -cl-opt-disable" "exp d:d"
    "sum f:f" "transpose z:z" "normal f:" "uniform d:" "integers l:lL" "variate d:ddd" "fft c:c" "fftshift f:f"
    "matmul f:ff" "matvec f:ff" "observables ddddd:ffffl" "principal_axes dd:dd" "euler_zyz d:d" "tilt d:dd"
    "angular_velocity di:dd" "decompose dd:dd" "time_derivative di:fd" "magnitude d:f"
    "ternary_quantize afi:f" "ternary_pack Ai:af" "ternary_unpack afi:A" "ternary_dot i:AA"
    "ternary_matmul i:AA" "ternary_linear f:Afff"
    "scatter_vector f:ff" "scatter_polarisation c:fcdd"
    "scatter_slices c:cic -cl-opt-disable" "scatter_images f:cicddddd -cl-opt-disable"
    "scatter_average f:fdd -cl-opt-disable"
    "scatter_amplitudes c:cddc -cl-opt-disable" "scatter_intensities f:cddcdddd -cl-opt-disable" "scatter_add cl:clc"
    "place fl:fBf" "cumulative_sum l:i" "histogram d:fd" "sort d:d")
  # Also check for data races between work-items, unless that takes too long.
  foreach(op sum normal fft matmul observables principal_axes time_derivative magnitude
             ternary_quantize ternary_dot ternary_matmul ternary_linear scatter_images scatter_average scatter_intensities scatter_add place cumulative_sum sort)
    set_property(TEST oclgrind_${op} APPEND PROPERTY ENVIRONMENT OCLGRIND_DATA_RACES=1)
  endforeach()
  # Every row, for memory errors and races.
  add_test(NAME oclgrind_every_row
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/oclgrind.sh check=$<TARGET_FILE:backend-check>
            plugin=$<TARGET_FILE:plugin_opencl> library=${OCLGRIND_LIBRARY}
            table=${CMAKE_CURRENT_BINARY_DIR}/oclgrind.table watch=races seconds=36000 resume=no)
  collet_test_environment(oclgrind_every_row)
  set_tests_properties(oclgrind_every_row PROPERTIES LABELS opencl)
  collet_long_tests(oclgrind_every_row)
  collet_test_cost(2000 oclgrind_every_row)
endif()

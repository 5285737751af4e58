# SPDX-License-Identifier: Apache-2.0
# Compiles the kernels of cpu_openmp with COMPILER for vectorised.py, which reads them.
file(GLOB_RECURSE sources ${SOURCE}/plugins/cpu_openmp/kernel_*.c)
set(directory ${GENERATED}/aarch64)
file(REMOVE_RECURSE ${directory})
file(MAKE_DIRECTORY ${directory})
set(objects "")
foreach(source ${sources})
  string(MAKE_C_IDENTIFIER ${source} name)
  execute_process(
    COMMAND ${COMPILER} -std=gnu11 -O3 -DNDEBUG -fPIC -ffp-contract=off -fno-math-errno -fno-trapping-math -D_GNU_SOURCE
      -DCOLLET_LEVEL=baseline -I${SOURCE}/include -I${SOURCE}/plugins -I${GENERATED} -c ${source} -o ${directory}/${name}.o
    COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND objects ${directory}/${name}.o)
endforeach()
execute_process(COMMAND ${PYTHON} ${VECTORISED} ${OBJDUMP} aarch64 ${LISTED} ${objects} RESULT_VARIABLE failed)
file(REMOVE_RECURSE ${directory})
if(failed)
  message(FATAL_ERROR "a loop is not vectorised")
endif()

# SPDX-License-Identifier: Apache-2.0
# Compiles every source of the CPU backends with COMPILER, warnings as errors; fails with the
# compiler's messages.
file(GLOB_RECURSE sources ${SOURCE}/plugins/shared/host/*.c ${SOURCE}/plugins/cpu_scalar/*.c
     ${SOURCE}/plugins/cpu_openmp/*.c)
set(failed 0)
set(count 0)
foreach(source ${sources})
  execute_process(
    COMMAND ${COMPILER} -std=gnu11 -fsyntax-only -fopenmp -fPIC -Wall -Wextra -Wconversion -Wshadow
      -Wstrict-prototypes -Werror -ffp-contract=off -fno-math-errno -D_GNU_SOURCE
      -DCOLLET_LEVEL=baseline -I${SOURCE}/include -I${SOURCE}/plugins -I${GENERATED} ${source}
    RESULT_VARIABLE status ERROR_VARIABLE messages)
  math(EXPR count "${count} + 1")
  if(NOT status EQUAL 0)
    message("${source}\n${messages}")
    math(EXPR failed "${failed} + 1")
  endif()
endforeach()
if(failed OR count EQUAL 0)
  message(FATAL_ERROR "${failed} of ${count} sources do not compile")
endif()
message("${count} sources compile")

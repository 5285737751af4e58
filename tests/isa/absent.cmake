# SPDX-License-Identifier: Apache-2.0
# A test of this folder whose program is not installed counts as skipped, not as passed.
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/absent -B ${DIRECTORY}
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CTEST} --test-dir ${DIRECTORY} OUTPUT_VARIABLE output)
if(NOT output MATCHES "absent \\(Skipped\\)")
  message(FATAL_ERROR "The test was not skipped:\n${output}")
endif()

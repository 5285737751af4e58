# SPDX-License-Identifier: Apache-2.0
# collet_add_isa_test(NAME program-or-NOTFOUND missing command...): a test that runs the command,
# or prints `missing` and is skipped if the program was not found.
function(collet_add_isa_test name program missing)
  if(NOT program)
    # No semicolon: CMake would split the list there.
    set(ARGN sh -c "echo 'SKIP: ${missing}' && exit 77")
  endif()
  add_test(NAME ${name} COMMAND ${ARGN} COMMAND_EXPAND_LISTS)
  collet_test_environment(${name})
  set_tests_properties(${name} PROPERTIES LABELS isa SKIP_RETURN_CODE 77)
  # A probe is a separate program and would run outside the emulator.
  get_test_property(${name} ENVIRONMENT environment)
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${environment};COLLET_PROBE=off")
  # The user's settings for this CPU may be wrong for the emulated CPU.
  set_property(TEST ${name} PROPERTY ENVIRONMENT_MODIFICATION
    "OPENBLAS_CORETYPE=unset:;DNNL_MAX_CPU_ISA=unset:;ONEDNN_MAX_CPU_ISA=unset:")
endfunction()

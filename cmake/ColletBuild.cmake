# SPDX-License-Identifier: Apache-2.0
# The compiler's options for the whole project, and the functions that add plugins, engines, programs and tests.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(CJSON REQUIRED IMPORTED_TARGET libcjson)

add_library(collet_options INTERFACE)
string(REGEX REPLACE "[^A-Za-z0-9/_-]" "." COLLET_TESTS_PATTERN "${PROJECT_SOURCE_DIR}/tests")
target_compile_options(collet_options INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
  -ffp-contract=off -fno-math-errno
  # Test functions, and the slots of stand-ins (plugins in tests/fakes), have parameters that they do not use.
  $<$<BOOL:$<FILTER:$<TARGET_PROPERTY:SOURCE_DIR>,INCLUDE,^${COLLET_TESTS_PATTERN}>>:-Wno-unused-parameter>
  # clang warns about loops that it does not vectorise. For gcc, tests/isa finds such loops.
  $<$<C_COMPILER_ID:Clang>:-Wno-pass-failed>
  $<$<BOOL:${COLLET_WERROR}>:-Werror>)
# By default gcc sets and copies structs of some 100 bytes by `rep stos` and `rep movs`, which take some 30 cycles to
# begin: up to a quarter of a call with few elements (fft of 10: 555 ns; 423 ns with the vector loops below).
include(CheckCCompilerFlag)
set(COLLET_COPIES -mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign
  -mmemcpy-strategy=vector_loop:512:noalign,libcall:-1:noalign)
check_c_compiler_flag("${COLLET_COPIES}" COLLET_COPY_STRATEGIES)
if(COLLET_COPY_STRATEGIES)
  target_compile_options(collet_options INTERFACE ${COLLET_COPIES})
endif()
if(COLLET_CORE STREQUAL "built")
  target_include_directories(collet_options INTERFACE ${PROJECT_SOURCE_DIR}/include)
endif()
target_compile_definitions(collet_options INTERFACE _GNU_SOURCE)
# The limit of a function's stack frame, for code that runs on a program's own threads: their stacks may be small
# (tests/core/test_stack.c). Debug builds and sanitizers need larger frames.
add_library(collet_frames INTERFACE)
if(COLLET_SANITIZER STREQUAL "none")
  target_compile_options(collet_frames INTERFACE
    $<$<AND:$<C_COMPILER_ID:GNU>,$<NOT:$<CONFIG:Debug>>>:-Wframe-larger-than=20480>)
endif()
# COLLET_SANITIZER_FLAGS: the flags that all code in one process with libcore needs.
set(COLLET_SANITIZER_FLAGS "")
if(COLLET_SANITIZER STREQUAL "address")
  set(COLLET_SANITIZER_FLAGS "-fsanitize=address,undefined")
  # Uninitialised variables hold a byte pattern that is no valid pointer or status (from gcc 12, clang 8).
  check_c_compiler_flag(-ftrivial-auto-var-init=pattern COLLET_AUTO_VAR_INIT)
  # Without the checks null and pointer-overflow: a use of a null pointer ends a test anyway, and these two checks take
  # a tenth of all compilation.
  target_compile_options(collet_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize=null,pointer-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer
    $<$<BOOL:${COLLET_AUTO_VAR_INIT}>:-ftrivial-auto-var-init=pattern>)
  target_link_options(collet_options INTERFACE -fsanitize=address,undefined)
  # There are 340 programs with debug information. gold links a program in 0.1 s, bfd in 0.35 s.
  include(CheckLinkerFlag)
  foreach(linker gold lld)
    check_linker_flag(C -fuse-ld=${linker} COLLET_LINKER_${linker})
    if(COLLET_LINKER_${linker})
      target_link_options(collet_options INTERFACE -fuse-ld=${linker})
      break()
    endif()
  endforeach()
elseif(COLLET_SANITIZER STREQUAL "thread")
  set(COLLET_SANITIZER_FLAGS "-fsanitize=thread")
  target_compile_options(collet_options INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(collet_options INTERFACE -fsanitize=thread)
elseif(NOT COLLET_SANITIZER STREQUAL "none")
  message(FATAL_ERROR "COLLET_SANITIZER is none, address or thread, not '${COLLET_SANITIZER}'")
endif()

# collet_add_manifest(NAME LAYER): the assembler embeds manifest.json in the plugin NAME. If a backend's manifest has no
# list "kernels", manifest.cmake adds the list from the table in plugin.c. LAYER: true for a layer.
function(collet_add_manifest name layer)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/manifest.json)
  if(layer)
    target_compile_definitions(plugin_${name} PRIVATE COLLET_MANIFEST_DIRECTORY="${CMAKE_CURRENT_SOURCE_DIR}")
    set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/layer.c APPEND PROPERTY OBJECT_DEPENDS ${source})
    return()
  endif()
  set(out ${PROJECT_BINARY_DIR}/generated/manifests/${name})
  file(MAKE_DIRECTORY ${out})
  set(script ${PROJECT_SOURCE_DIR}/cmake/manifest.cmake)
  set(includes $<TARGET_PROPERTY:plugin_${name},INCLUDE_DIRECTORIES>)
  add_custom_command(
    OUTPUT ${out}/manifest.json
    COMMAND ${CMAKE_C_COMPILER} -E -P -MD -MF ${out}/rows.d -MT ${out}/manifest.json
            "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>" -o ${out}/rows.i
            ${CMAKE_CURRENT_SOURCE_DIR}/plugin.c
    COMMAND ${CMAKE_COMMAND} -DMANIFEST=${source} -DROWS=${out}/rows.i -DOUT=${out}/manifest.json
            -P ${script}
    DEPENDS ${source} ${CMAKE_CURRENT_SOURCE_DIR}/plugin.c ${script} ${ARGN}
    DEPFILE ${out}/rows.d COMMAND_EXPAND_LISTS VERBATIM)
  target_sources(plugin_${name} PRIVATE ${out}/manifest.json)
  set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/plugin.c APPEND PROPERTY
    COMPILE_DEFINITIONS COLLET_MANIFEST_DIRECTORY="${out}")
  set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/plugin.c APPEND PROPERTY
    OBJECT_DEPENDS ${out}/manifest.json)
endfunction()

# collet_add_plugin(NAME source... [LIBRARIES library...] [KERNELS list...] [TABLE target] [NO_INSTALL] [OUTPUT directory] [LAYER])
# Adds a backend: one module NAME.so with its manifest.json, which exports only collet_plugin_entry. LAYER: adds a layer
# instead; its source is layer.c, and it exports only collet_layer_entry. KERNELS: the lists from which rows.cmake makes
# the table of kernels, "rows/NAME.inc". TABLE: a target that makes a header which plugin.c includes.
# The global property COLLET_BACKENDS lists the backends that are installed; COLLET_RUNTIME_TARGETS lists the targets of
# these backends, of libcore and of the engines.
function(collet_add_plugin name)
  cmake_parse_arguments(PLUGIN "NO_INSTALL;LAYER" "OUTPUT;TABLE" "LIBRARIES;KERNELS" ${ARGN})
  if(NOT PLUGIN_OUTPUT)
    set(PLUGIN_OUTPUT ${COLLET_PLUGIN_OUTPUT_DIRECTORY})
  endif()
  add_library(plugin_${name} MODULE ${PLUGIN_UNPARSED_ARGUMENTS})
  set_target_properties(plugin_${name} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY ${PLUGIN_OUTPUT}
    LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/plugin.map")
  target_link_libraries(plugin_${name} PRIVATE collet_options ${PLUGIN_LIBRARIES})
  target_include_directories(plugin_${name} PRIVATE ${PROJECT_SOURCE_DIR}/plugins)
  target_link_options(plugin_${name} PRIVATE
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/plugin.map)
  if(PLUGIN_KERNELS)
    collet_make_rows(${PROJECT_BINARY_DIR}/generated/rows/${name}.inc ${PLUGIN_KERNELS})
    target_include_directories(plugin_${name} PRIVATE ${PROJECT_BINARY_DIR}/generated)
  endif()
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/manifest.json)
    collet_add_manifest(${name} ${PLUGIN_LAYER} ${PLUGIN_TABLE})
  endif()
  if(NOT PLUGIN_NO_INSTALL)
    install(TARGETS plugin_${name} LIBRARY DESTINATION ${COLLET_PLUGIN_INSTALL_DIRECTORY} COMPONENT backends)
    set_property(GLOBAL APPEND PROPERTY COLLET_RUNTIME_TARGETS plugin_${name})
    if(NOT PLUGIN_LAYER)
      set_property(GLOBAL APPEND PROPERTY COLLET_BACKENDS ${name})
    endif()
  endif()
endfunction()

# collet_install_pkg_config(INPUT MODULE): configures INPUT as MODULE.pc, which finds its prefix from
# where it is installed, unless CMAKE_INSTALL_LIBDIR is absolute.
function(collet_install_pkg_config input module)
  set(directory ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    set(COLLET_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  else()
    file(RELATIVE_PATH COLLET_PC_PREFIX
      ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
    string(REGEX REPLACE "/$" "" COLLET_PC_PREFIX "\${pcfiledir}/${COLLET_PC_PREFIX}")
  endif()
  foreach(name LIBDIR INCLUDEDIR)
    set(COLLET_PC_${name} "\${prefix}")
    cmake_path(APPEND COLLET_PC_${name} ${CMAKE_INSTALL_${name}}) # an absolute path replaces it
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${input} ${PROJECT_BINARY_DIR}/${module}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${module}.pc DESTINATION ${directory})
endfunction()

# collet_search_beside(TARGET DIRECTORIES): at run time TARGET finds libcore in DIRECTORIES, both in the build tree and
# installed, and other libraries where they were linked. (CMake pads a separate rpath of the build tree with ":", so that
# installation can replace it; the dynamic linker takes the empty entry for the current directory.)
function(collet_search_beside target directories)
  list(REMOVE_DUPLICATES directories)
  set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "${directories}" INSTALL_RPATH_USE_LINK_PATH ON)
endfunction()

# collet_version_symbols(TARGET): the public functions of TARGET get the symbol version COLLET_1, so that a program
# linked with TARGET does not call another library's functions of the same names.
function(collet_version_symbols target)
  set(map ${PROJECT_SOURCE_DIR}/cmake/libraries.map)
  target_link_options(${target} PRIVATE LINKER:--version-script=${map})
  # A symbol that no library defines fails the build instead of the first program that needs it. Not with sanitizers,
  # whose symbols only programs define.
  if(COLLET_SANITIZER STREQUAL "none" AND NOT COLLET_FUZZ)
    target_link_options(${target} PRIVATE LINKER:-z,defs)
  endif()
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map})
endfunction()

# collet_add_engine(NAME DESCRIPTION [LIBRARIES library...]): makes libcollet-NAME from the objects of the static library
# engine_NAME, which tests of private functions link. Installs the library, the CMake target collet::NAME, the
# pkg-config module collet-NAME, and the header include/collet/NAME.h of the current directory.
function(collet_add_engine ENGINE_NAME ENGINE_DESCRIPTION)
  cmake_parse_arguments(ENGINE "" "" "LIBRARIES" ${ARGN})
  set(library collet_${ENGINE_NAME})
  target_include_directories(engine_${ENGINE_NAME} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/include)
  add_library(${library} SHARED $<TARGET_OBJECTS:engine_${ENGINE_NAME}>)
  add_library(collet::${ENGINE_NAME} ALIAS ${library})
  target_include_directories(${library} INTERFACE
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${library} PRIVATE collet_options ${ENGINE_LIBRARIES} PUBLIC collet::core)
  set_target_properties(${library} PROPERTIES
    OUTPUT_NAME collet-${ENGINE_NAME} EXPORT_NAME ${ENGINE_NAME}
    ${COLLET_LIBRARY_VERSION})
  collet_version_symbols(${library})
  collet_search_beside(${library} "$ORIGIN")
  set_property(GLOBAL APPEND PROPERTY COLLET_RUNTIME_TARGETS ${library})
  install(TARGETS ${library} EXPORT ${library}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT engines NAMELINK_COMPONENT engines-development)
  install(EXPORT ${library} NAMESPACE collet:: FILE collet-${ENGINE_NAME}-targets.cmake
    DESTINATION ${COLLET_PACKAGE_DIRECTORY})
  install(FILES include/collet/${ENGINE_NAME}.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/collet)
  collet_install_pkg_config(collet-engine.pc.in collet-${ENGINE_NAME})
endfunction()

# collet_add_tool(NAME source... [LIBRARIES library...]): a program that uses only collet.h of libcore.
function(collet_add_tool name)
  cmake_parse_arguments(TOOL "" "" "LIBRARIES" ${ARGN})
  add_executable(${name} ${TOOL_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE collet_options collet::core ${TOOL_LIBRARIES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tools)
  set(libraries $ORIGIN/../${CMAKE_INSTALL_LIBDIR})
  if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_BINDIR})
    set(libraries ${CMAKE_INSTALL_FULL_LIBDIR})
  endif()
  collet_search_beside(${name} "${libraries};$ORIGIN/../lib")
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(SKBUILD) # a wheel has no manual pages and no completion
    return()
  endif()
  # The manual page and the completion are made from the output of --help, so the program must run here.
  if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    message(WARNING "no manual page and no completion of ${name}: set CMAKE_CROSSCOMPILING_EMULATOR to a program that runs it")
    return()
  endif()
  set(page ${PROJECT_SOURCE_DIR}/man/${name}.1)
  set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${page})
  foreach(file help.sh page.sh complete.sh complete.bash complete.zsh)
    set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/man/${file})
  endforeach()
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/man)
  add_custom_command(TARGET ${name} POST_BUILD VERBATIM COMMAND ${PROJECT_SOURCE_DIR}/man/page.sh
    ${page} ${CMAKE_BINARY_DIR}/man/${name}.1 ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${name}>)
  install(FILES ${CMAKE_BINARY_DIR}/man/${name}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  collet_completion_command(command ${name} ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${name}>)
  add_custom_command(TARGET ${name} POST_BUILD VERBATIM COMMAND ${command})
endfunction()

# collet_completion_command(VARIABLE NAME program...): the command that makes completion of NAME for bash and zsh, and rules that
# install it. (OPTIONAL: the file of collet-analyse exists only once the Python package is built.)
function(collet_completion_command variable name)
  set(directory ${CMAKE_BINARY_DIR}/completion)
  set(${variable} ${PROJECT_SOURCE_DIR}/man/complete.sh ${PROJECT_SOURCE_DIR}/include/collet/types.h ${directory} ${name} ${ARGN}
    PARENT_SCOPE)
  install(FILES ${directory}/bash/${name} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tools OPTIONAL)
  install(FILES ${directory}/zsh/_${name} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT tools OPTIONAL)
endfunction()

# collet_add_test(NAME [source...] [INTERNAL] [LABEL label] [LIBRARIES library...] [DEFINES macro...]
# [WRAP function...] [NEEDS target...]): NAME.c, if there is one, and the sources as a CMocka program that
# ctest runs with the built plugins and without the user's settings. INTERNAL: linked with the core's
# objects instead of libcore, for tests of what libcore does not export. WRAP: the program's calls of these functions
# go to its own __wrap_ functions. NEEDS: targets that are built first. The default label is the directory's name.
# No test is added if something that it links or needs is not built.
function(collet_add_test name)
  cmake_parse_arguments(TEST "INTERNAL" "LABEL" "LIBRARIES;DEFINES;WRAP;NEEDS" ${ARGN})
  collet_built(built ${TEST_UNPARSED_ARGUMENTS} ${TEST_LIBRARIES} ${TEST_DEFINES} ${TEST_NEEDS})
  if(NOT built)
    return()
  endif()
  set(own ${name}.c)
  if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${own})
    set(own "")
  endif()
  if(TEST_INTERNAL)
    set(core collet_core_objects)
  else()
    set(core collet::core)
  endif()
  pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
  add_executable(${name} ${own} ${TEST_UNPARSED_ARGUMENTS})
  set_source_files_properties(${own} PROPERTIES COMPILE_OPTIONS -O0) # compiles three times as fast
  target_link_libraries(${name} PRIVATE collet_options ${core} ${TEST_LIBRARIES} test_main PkgConfig::CMOCKA)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_compile_definitions(${name} PRIVATE
    COLLET_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data"
    COLLET_TEST_CORPUS="${CMAKE_BINARY_DIR}/tests/corpus"
    COLLET_TEST_BIN="${CMAKE_BINARY_DIR}/bin"
    COLLET_TEST_NOTHING="${CMAKE_BINARY_DIR}/tests/absent"
    COLLET_TEST_PLUGINS="${COLLET_PLUGIN_OUTPUT_DIRECTORY}"
    COLLET_TEST_ZOO="${CMAKE_BINARY_DIR}/tests/plugins" ${TEST_DEFINES})
  list(TRANSFORM TEST_WRAP PREPEND LINKER:--wrap=)
  target_link_options(${name} PRIVATE ${TEST_WRAP})
  if(TEST_NEEDS)
    add_dependencies(${name} ${TEST_NEEDS})
  endif()
  add_test(NAME ${name} COMMAND ${name})
  collet_test_environment(${name})
  if(NOT TEST_LABEL)
    get_filename_component(TEST_LABEL ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS ${TEST_LABEL})
endfunction()

# collet_find_python(OUT module...): OUT is the first of CMake's Python, the PATH's python3 and /usr/bin/python3 that is
# 3.11 or later and has the modules; then OUT_FOUND is true. If there is none, OUT is the first of the three, and tests
# are skipped.
function(collet_find_python out)
  find_program(COLLET_INTERPRETER python3)
  set(candidates ${Python3_EXECUTABLE} ${COLLET_INTERPRETER} /usr/bin/python3)
  list(GET candidates 0 found)
  list(JOIN ARGN "," modules)
  foreach(candidate ${candidates})
    execute_process(COMMAND ${candidate} -c "import sys,${modules}; assert sys.version_info >= (3, 11)"
                    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed EQUAL 0)
      set(found ${candidate})
      set(${out}_FOUND ON PARENT_SCOPE)
      break()
    endif()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# collet_choose_sets(): call it at the end of each directory with tests. It labels the tests that tests/quick.txt names
# `quick` (`./bootstrap.sh test`), and other tests that are not `long` as `full` (`./bootstrap.sh test --full`). With
# COLLET_TESTS=QUICK only the programs of quick tests are built (tests/CMakeLists.txt), the others cannot run.
if(COLLET_TESTS)
  file(STRINGS ${PROJECT_SOURCE_DIR}/tests/quick.txt COLLET_QUICK REGEX "^[^#]")
  string(REPLACE " " ";" COLLET_QUICK "${COLLET_QUICK}")
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS tests/quick.txt)
endif()
# Tests that fail under the thread sanitizer. The sanitizer ends processes that share memory with their parent (`worker`)
# or that fork while other threads wait (probes of plugins that crash). The sanitizer's own memory exceeds the memory
# limits of some tests, and a file that it writes at the start of a process exceeds the limit of test_file_limit.
set(COLLET_NOT_WITH_THREAD_SANITIZER check_worker verbs_worker test_worker late_failures_worker test_omp_places test_info
  test_loader test_loader_cache test_storage traced_test_storage test_file_limit traced_test_file_limit)
function(collet_choose_sets)
  get_property(tests DIRECTORY PROPERTY TESTS)
  foreach(test ${tests})
    if(COLLET_SANITIZER STREQUAL "thread" AND test IN_LIST COLLET_NOT_WITH_THREAD_SANITIZER)
      set_property(TEST ${test} PROPERTY DISABLED ON)
    endif()
    get_property(labels TEST ${test} PROPERTY LABELS)
    if(test IN_LIST COLLET_QUICK)
      set_property(TEST ${test} APPEND PROPERTY LABELS quick)
      set_property(GLOBAL APPEND PROPERTY COLLET_QUICK_FOUND ${test})
      if(TARGET ${test})
        collet_quick_needs(${test})
      endif()
      continue()
    endif()
    if(NOT long IN_LIST labels)
      set_property(TEST ${test} APPEND PROPERTY LABELS full)
    endif()
    if(COLLET_TESTS STREQUAL "QUICK")
      set_property(TEST ${test} PROPERTY DISABLED ON)
    endif()
  endforeach()
endfunction()

# collet_quick_needs(TARGET...): targets that quick tests of this directory use although no program of these tests
# depends on them.
function(collet_quick_needs)
  set_property(GLOBAL APPEND PROPERTY COLLET_QUICK_TARGETS ${ARGN})
endfunction()

# collet_tests_that_exist(OUT NAME...): OUT is the list of the names without the tests of parts that are not built.
function(collet_tests_that_exist out)
  set(tests)
  foreach(test ${ARGN})
    if(TEST ${test})
      list(APPEND tests ${test})
    endif()
  endforeach()
  set(${out} ${tests} PARENT_SCOPE)
endfunction()

# collet_tests_optimised(NAME...): PoCL optimises the kernels of these tests, which doubles its compile time. The tests have
# a cache of their own, because PoCL looks up cached kernels by source alone, without the options.
function(collet_tests_optimised)
  collet_tests_that_exist(tests ${ARGN})
  set_property(TEST ${tests} APPEND PROPERTY ENVIRONMENT
    POCL_EXTRA_BUILD_FLAGS= XDG_CACHE_HOME=${COLLET_TEST_CACHE}/optimised)
endfunction()

# collet_long_tests(NAME...): tests that only ./bootstrap.sh test --all runs (`ctest -L long`).
function(collet_long_tests)
  collet_tests_that_exist(tests ${ARGN})
  set_property(TEST ${tests} APPEND PROPERTY LABELS long)
  set_property(TEST ${tests} PROPERTY TIMEOUT 36000)
  set_property(TEST ${tests} PROPERTY COST 200) # they start first
endfunction()

# collet_tests_measure(NAME...): in these tests probes measure which implementations are fastest, as in users' programs.
function(collet_tests_measure)
  collet_tests_that_exist(tests ${ARGN})
  set_property(TEST ${tests} APPEND PROPERTY ENVIRONMENT COLLET_MEASURE=on)
endfunction()

# collet_test_cost(SECONDS NAME...): how long the tests take; a parallel run starts with the longest tests.
function(collet_test_cost seconds)
  collet_tests_that_exist(tests ${ARGN})
  set_property(TEST ${tests} PROPERTY COST ${seconds})
endfunction()

# Tests do not see the user's configuration, cache or plugins. With a sanitizer an allocation that fails returns NULL
# instead of ending the test. Compiled kernels are kept in COLLET_TEST_CACHE. Probes measure nothing, which saves 0.2 s in
# each of some hundred tests: see collet_tests_measure.
function(collet_test_environment name)
  set(directory ${CMAKE_BINARY_DIR}/tests/xdg)
  set(environment NO_COLOR=1 COLLET_BACKEND= COLLET_PLUGIN_PATH= COLLET_CALIBRATION=off COLLET_MEASURE=off XDG_CONFIG_HOME=${directory}/config
    XDG_DATA_HOME=${directory}/data XDG_CACHE_HOME=${COLLET_TEST_CACHE}
    # PoCL compiles each kernel once, for any work-group size, instead of again for each size that is launched.
    POCL_WORK_GROUP_SPECIALIZATION=0 POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable
    # At every start Open MPI waits two seconds for munge, even if munge does not run.
    PMIX_MCA_psec=native
    # (Without intercept_tls_get_addr=0 leak detection crashes on thread-local memory of libraries opened at run time.)
    ASAN_OPTIONS=allocator_may_return_null=1:intercept_tls_get_addr=0
    # The suppressions are for memory that drivers and their compilers never free.
    LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/opencl/drivers.supp:print_suppressions=0)
  # (Without ignore_noninstrumented_modules: on Linux this option regards every module as not instrumented, and then
  # nothing is reported.)
  set(tsan allocator_may_return_null=1:die_after_fork=0:history_size=7:suppressions=${PROJECT_SOURCE_DIR}/tests/tsan/suppressions.txt)
  if(COLLET_SANITIZER STREQUAL "thread" AND OpenMP_omp_LIBRARY)
    # Archer, part of clang's OpenMP, informs the sanitizer about barriers.
    get_filename_component(openmp ${OpenMP_omp_LIBRARY} DIRECTORY)
    list(APPEND environment OMP_TOOL_LIBRARIES=${openmp}/libarcher.so)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77
    ENVIRONMENT "${environment};TSAN_OPTIONS=${tsan}")
endfunction()

# SPDX-License-Identifier: Apache-2.0
# cmake -DFILES=a.dev;b/c.dev -DROOT=directory -DPREFIX=name -DOUT=directory -P embed.cmake: writes
# OUT/texts.h and OUT/texts.c with the text of each file. The texts are part of the key of compiled kernels, so the
# line that names tests is left out. The text of ROOT/b/c.dev or of ROOT/../b/c.dev is called PREFIX_b_c.
# #include "d.inc" becomes the text of d.inc in the file's directory.
set(header "/* Made by embed.cmake. */\n")
set(code "/* Made by embed.cmake. */\n#include \"texts.h\"\n")
foreach(file ${FILES})
  file(RELATIVE_PATH name ${ROOT} ${file})
  string(REGEX REPLACE "\\.[^.]*$" "" name ${name})
  string(REPLACE "../" "" name ${name})
  string(REPLACE "/" "_" name ${name})
  file(READ ${file} text)
  get_filename_component(directory ${file} DIRECTORY)
  string(REGEX MATCHALL "#include \"[a-z0-9_]+\\.inc\"" includes "${text}")
  foreach(include ${includes})
    string(REGEX REPLACE "#include \"(.*)\"" "\\1" included ${include})
    file(READ ${directory}/${included} included)
    string(REPLACE "${include}" "${included}" text "${text}")
  endforeach()
  string(REGEX REPLACE "/\\* Tests: [^\n]*\n" "" text "${text}")
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
  string(APPEND header "extern const char ${PREFIX}_${name}[];\n")
  string(APPEND code "const char ${PREFIX}_${name}[] =\n    \"${text}\";\n")
endforeach()
file(WRITE ${OUT}/texts.h "${header}")
file(WRITE ${OUT}/texts.c "${code}")

# SPDX-License-Identifier: Apache-2.0
# cmake -DOUT=directory -DFILES=a.dev;b.dev -P embed.cmake: writes OUT/texts.c and OUT/texts.h, where
# file name.dev is the text device_text_name. Nothing of any path is in them.
set(header "/* Made by embed.cmake. */\n")
set(code "/* Made by embed.cmake. */\n#include \"texts.h\"\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
  string(APPEND header "extern const char device_text_${name}[];\n")
  string(APPEND code "const char device_text_${name}[] =\n    \"${text}\";\n")
endforeach()
file(WRITE ${OUT}/texts.h "${header}")
file(WRITE ${OUT}/texts.c "${code}")

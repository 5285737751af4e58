# SPDX-License-Identifier: Apache-2.0
# cmake -DMANIFEST=manifest.json -DROWS=plugin.i -DOUT=file -P manifest.cmake
#
# Writes the manifest with the list "kernels", taken from the rows of COLLET_ROW in the preprocessed
# plugin.c. A manifest that has the list itself is copied. libcore refuses a plugin whose manifest and
# table differ.
file(READ ${MANIFEST} manifest)
if(NOT manifest MATCHES "\"kernels\"[ \t\n]*:")
  file(READ ${ROWS} text)
  string(REGEX MATCHALL "{[ \n]*COLLET_OP_[A-Z0-9_]+, 0," rows "${text}")
  list(TRANSFORM rows REPLACE "{[ \n]*COLLET_OP_([A-Z0-9_]+), 0," "\"\\1\"")
  list(REMOVE_DUPLICATES rows)
  if(NOT rows)
    message(FATAL_ERROR "${ROWS}: no row of COLLET_ROW, and ${MANIFEST} has no \"kernels\"")
  endif()
  list(JOIN rows ", " kernels)
  string(TOLOWER "${kernels}" kernels)
  string(REGEX REPLACE "[ \t\n]*}[ \t\n]*$" ",\n    \"kernels\": [${kernels}]\n}\n" manifest "${manifest}")
endif()
file(WRITE ${OUT} "${manifest}")

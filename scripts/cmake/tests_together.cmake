# Writes a C++ source that includes several test files, each in a namespace of its own, so that their helpers may have the same names. All
# headers that they include come first, outside of these namespaces.
# usage: cmake "-DFILES=FILE;FILE;..." -DOUT=FILE -P tests_together.cmake
set(headers "")
set(files "")
set(count 0)
foreach(file IN LISTS FILES)
  file(STRINGS ${file} opens REGEX "^namespace speclab" LIMIT_COUNT 1)
  if(opens)
    message(FATAL_ERROR "${file} opens namespace speclab now: run cmake again, which has it compiled alone")
  endif()
  file(STRINGS ${file} includes REGEX "^#include ")
  list(APPEND headers ${includes})
  math(EXPR count "${count} + 1")
  string(APPEND files "namespace file_${count} {\n#include \"${file}\"\n}\n")
endforeach()
list(REMOVE_DUPLICATES headers)
list(JOIN headers "\n" headers)
file(WRITE ${OUT} "${headers}\n${files}")

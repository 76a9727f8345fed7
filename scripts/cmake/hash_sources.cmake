# Writes a source file with the SHA-256 of the sources that decide numbers, by which a program recognises its own journals
# (experiments/results/journal_file.hpp). It needs no git, so that a source archive has the number, too. If the file would not change, it
# is left alone, and nothing is compiled or linked again.
# usage: cmake -DSOURCE_DIR=DIR -DOUT=FILE "-DFOLDERS=core;sim;..." -P hash_sources.cmake
set(text "")
foreach(folder IN LISTS FOLDERS)
  file(GLOB_RECURSE files RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/${folder}/*.cpp ${SOURCE_DIR}/${folder}/*.hpp ${SOURCE_DIR}/${folder}/*.cu
    ${SOURCE_DIR}/${folder}/*.cuh)
  list(SORT files)
  foreach(file IN LISTS files)
    file(SHA256 ${SOURCE_DIR}/${file} digest)
    string(APPEND text "${digest}  ${file}\n")
  endforeach()
endforeach()
string(SHA256 digest "${text}")
file(CONFIGURE OUTPUT ${OUT} CONTENT "#include \"experiments/base/support/version.hpp\"

std::string speclab::program_sources() { return \"${digest}\"; }
")

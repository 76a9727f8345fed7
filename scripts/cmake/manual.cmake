# Writes speclab.1, the manual page, from what `speclab help` and `speclab VERB --help` print, and compresses it.
# usage: cmake -DPROGRAM=FILE -DOUT=FOLDER -P manual.cmake
function(printed out)
  execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  # A backslash and a dot or quote at the beginning of a line are commands of the formatter, and "-" would be typeset as a hyphen.
  string(REPLACE "\\" "\\e" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()
printed(overview help)
printed(version version)
string(REGEX MATCH "^speclab [0-9.]+" version "${version}")
set(page ".TH SPECLAB 1 \"\" \"${version}\"\n.SH NAME\nspeclab \\- laboratory for speculative decoding\n.SH DESCRIPTION\n.nf\n${overview}.fi\n")
string(REGEX MATCHALL "\n  [a-z]+  +[a-z]" verbs "${overview}")
foreach(verb IN LISTS verbs)
  string(REGEX REPLACE "\n  ([a-z]+) .*" "\\1" verb "${verb}")
  printed(text ${verb} --help)
  string(TOUPPER ${verb} name)
  string(APPEND page ".SH ${name}\n.nf\n${text}.fi\n")
endforeach()
file(WRITE ${OUT}/speclab.1 "${page}")
# -n stores no time.
execute_process(COMMAND gzip -9nf ${OUT}/speclab.1 COMMAND_ERROR_IS_FATAL ANY)

# Writes a C++ source that holds the text of a file as the constant speclab::NAME, the file's name with "_" for ".".
# usage: cmake -DIN=FILE -DOUT=FILE -P embed.cmake
cmake_path(GET IN FILENAME name)
string(MAKE_C_IDENTIFIER ${name} name)
file(READ ${IN} text)
file(WRITE ${OUT} "#include <string_view>

namespace speclab {

extern const std::string_view ${name};
const std::string_view ${name} = R\"text(${text})text\";

}  // namespace speclab
")

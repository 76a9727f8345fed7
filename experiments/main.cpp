// The program `speclab`.
#include "experiments/cli/program.hpp"

int main(int argc, char** argv) { return speclab::run_program({argv + 1, argv + argc}); }

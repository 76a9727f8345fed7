#!/usr/bin/env bash
# Tests the format as JSON Schema and as the reference page.
# usage: schema.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

expect 0 schema
python "assert data['\$schema'].startswith('https://json-schema.org/')" out

# docs/reference.md equals the program's output, except for ends of lines.
expect 0 list --markdown
checks=$((checks + 1))
cmp -s out "$source_dir/docs/reference.md" ||
  fail "docs/reference.md is missing or old; make it with: speclab list --markdown > docs/reference.md"

report

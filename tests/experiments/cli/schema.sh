#!/usr/bin/env bash
# Tests the format as JSON Schema and as a page.
# usage: schema.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

expect 0 schema
python "assert data['\$schema'].startswith('https://json-schema.org/')" out

# The reference of the site has the headings to which other pages link.
expect 0 list --markdown
for heading in '# Reference of the config format' '### Object `corpus`' '### rule `token`'; do
  checks=$((checks + 1))
  grep -qxF -- "$heading" out || grep -qxF -- "#$heading" out || fail "the reference has no heading $heading"
done

report

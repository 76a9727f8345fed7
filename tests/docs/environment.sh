#!/bin/sh
# Prints the Python of build/docs-environment, which it makes if it is missing or has other packages.
# usage: environment.sh     in the project's folder
set -eu
environment=build/docs-environment
if ! cmp -s tests/docs/requirements.txt "$environment/installed"; then
  rm -rf "$environment"
  python3 -m venv "$environment"
  "$environment/bin/pip" install -q --disable-pip-version-check -r tests/docs/requirements.txt >&2
  cp tests/docs/requirements.txt "$environment/installed"
fi
echo "$PWD/$environment/bin/python"

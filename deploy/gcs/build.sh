#!/usr/bin/env bash
# Installs what the tests of object stores need: the extras gcp and gcs-test into a Python environment, and
# fake-gcs-server, built from the Go module proxy. Does nothing that is done already.
# usage: deploy/gcs/build.sh [PYTHON]
set -euo pipefail
python=${1:-python3}
project=$(cd "$(dirname "$0")/../.." && pwd)
"$python" -c 'import fsspec, gcp_storage_emulator, google.cloud.storage' 2>/dev/null ||
  "$python" -m pip install --quiet --disable-pip-version-check -c "$project/constraints.txt" -e "$project[gcp,gcs-test]"
folder=${NEWSBEAM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/newsbeam}/gcs
if [ ! -x "$folder/fake-gcs-server" ]; then
  command -v go >/dev/null || { echo "build.sh: go is not installed; see https://go.dev/doc/install" >&2; exit 1; }
  mkdir -p "$folder/build"
  GOBIN=$folder/build GOFLAGS=-mod=mod go install github.com/fsouza/fake-gcs-server@v1.56.1 >&2
  mv "$folder/build/fake-gcs-server" "$folder/fake-gcs-server"
  rmdir "$folder/build"
fi
echo "$folder"

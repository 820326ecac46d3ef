#!/usr/bin/env bash
# Builds Prism (Beam's portable runner in Go) and the boot program of Python workers, at the version of the
# installed Beam, from the Go module proxy. Prints the folder with both; does nothing if they are there already.
# usage: deploy/prism/build.sh [PYTHON]
#   Without an installed Beam the version is that of constraints.txt, so that this can be built while pip still works.
set -euo pipefail
python=${1:-python3}
here=$(cd "$(dirname "$0")" && pwd)
version=$("$python" -c 'from importlib.metadata import version; print(version("apache-beam"))' 2>/dev/null) ||
  version=$(sed -n 's/^apache-beam==//p' "$here/../../constraints.txt")
folder=${NEWSBEAM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/newsbeam}/beam-$version
if [ ! -x "$folder/prism" ] || [ ! -x "$folder/boot" ]; then
  command -v go >/dev/null || { echo "build.sh: go is not installed; see https://go.dev/doc/install" >&2; exit 1; }
  mkdir -p "$folder/build"
  export GOBIN=$folder/build GOFLAGS=-mod=mod
  go install "github.com/apache/beam/sdks/v2/go/cmd/prism@v$version" >&2
  go install "github.com/apache/beam/sdks/v2/python/container@v$version" >&2
  mv "$folder/build/prism" "$folder/prism"
  mv "$folder/build/container" "$folder/boot"
  rmdir "$folder/build"
fi
echo "$folder"

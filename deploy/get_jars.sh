#!/usr/bin/env bash
# Fetches the jars of a job server (deploy/flink or deploy/spark) from Maven Central, and for Flink those of a
# cluster from PyPI's apache-flink-libraries. Prints the folder; does nothing if it is there already.
# usage: deploy/get_jars.sh flink|spark|flink-cluster [PYTHON]
set -euo pipefail
kind=$1
python=${2:-python3}
here=$(cd "$(dirname "$0")" && pwd)
cache=${NEWSBEAM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/newsbeam}
case $kind in
  flink) folder=$cache/flink-1.19-beam-2.62.0 ;;
  spark) folder=$cache/spark-3.5-beam-2.62.0 ;;
  flink-cluster) folder=$cache/flink-1.19.3 ;;
  *) echo "get_jars.sh: flink, spark or flink-cluster, not $kind" >&2; exit 2 ;;
esac
if [ ! -e "$folder/complete" ]; then
  mkdir -p "$folder"
  if [ "$kind" = flink-cluster ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    # The jars of Flink 1.19.3; no start scripts are among them, deploy/flink/cluster.sh has its own.
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps -d "$work" apache-flink-libraries==1.19.3 >&2
    tar -xzf "$work"/apache*flink*libraries-1.19.3.tar.gz -C "$work"
    find "$work" -path '*/deps/lib/*.jar' -exec mv {} "$folder" \;
  else
    mvn -B -q -f "$here/$kind/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
      -DoutputDirectory="$folder" -DincludeScope=runtime >&2
  fi
  ls "$folder"/*.jar >/dev/null
  touch "$folder/complete"
fi
echo "$folder"

#!/usr/bin/env bash
# Beam's job server for Flink, in the foreground. It listens on PORT (jobs), PORT+1 (artifacts), PORT+2 (expansion).
# usage: deploy/flink/job_server.sh PORT [MASTER] [FOLDER]
#   MASTER: [local], the default: Flink inside this process; or the REST address of a cluster, 127.0.0.1:8081
#   FOLDER: for staged artifacts (default: a new one below /tmp)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../java_opens.sh"
jars=$("$here/../get_jars.sh" flink)
port=$1
folder=${3:-$(mktemp -d)}
exec java -Xmx1g $OPENS -Dorg.slf4j.simpleLogger.defaultLogLevel="${LOG_LEVEL:-warn}" \
  -Dorg.slf4j.simpleLogger.showDateTime=true -cp "$jars/*" org.apache.beam.runners.flink.FlinkJobServerDriver \
  --flink-master="${2:-[local]}" --job-host=127.0.0.1 --job-port="$port" --artifact-port=$((port + 1)) \
  --expansion-port=$((port + 2)) --artifacts-dir="$folder"

#!/usr/bin/env bash
# Beam's job server for Spark, in the foreground. It listens on PORT (jobs), PORT+1 (artifacts), PORT+2 (expansion).
# usage: deploy/spark/job_server.sh PORT [MASTER] [FOLDER]
#   MASTER: local[2], the default: Spark inside this process; or spark://host:7077
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../java_opens.sh"
jars=$("$here/../get_jars.sh" spark)
port=$1
folder=${3:-$(mktemp -d)}
export SPARK_LOCAL_IP=127.0.0.1 SPARK_LOCAL_DIRS=$folder
exec java -Xmx1g $OPENS -Dspark.ui.enabled=false -Dspark.driver.host=127.0.0.1 -Dspark.driver.bindAddress=127.0.0.1 \
  -cp "$jars/*" org.apache.beam.runners.spark.SparkJobServerDriver --spark-master-url="${2:-local[2]}" \
  --job-host=127.0.0.1 --job-port="$port" --artifact-port=$((port + 1)) --expansion-port=$((port + 2)) \
  --artifacts-dir="$folder"

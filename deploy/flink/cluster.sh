#!/usr/bin/env bash
# One process of a small standalone Flink 1.19 cluster on loopback, in the foreground.
# usage: deploy/flink/cluster.sh jobmanager|taskmanager FOLDER [REST_PORT]
#   FOLDER: configuration, checkpoints and temporary files; both processes name the same
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../java_opens.sh"
jars=$("$here/../get_jars.sh" flink-cluster)
folder=$2
rest_port=${3:-8081}
mkdir -p "$folder/conf" "$folder/checkpoints" "$folder/tmp"
cat >"$folder/conf/flink-conf.yaml.$$" <<YAML
jobmanager.rpc.address: 127.0.0.1
jobmanager.bind-host: 127.0.0.1
jobmanager.rpc.port: $((rest_port + 1))
rest.address: 127.0.0.1
rest.bind-address: 127.0.0.1
rest.port: $rest_port
blob.server.port: $((rest_port + 2))
taskmanager.host: 127.0.0.1
taskmanager.bind-host: 127.0.0.1
taskmanager.numberOfTaskSlots: 2
taskmanager.cpu.cores: 1
jobmanager.memory.process.size: 1200m
taskmanager.memory.task.heap.size: 768m
taskmanager.memory.task.off-heap.size: 0m
taskmanager.memory.framework.heap.size: 128m
taskmanager.memory.framework.off-heap.size: 128m
taskmanager.memory.network.min: 128m
taskmanager.memory.network.max: 128m
taskmanager.memory.managed.size: 256m
taskmanager.memory.jvm-metaspace.size: 256m
taskmanager.memory.jvm-overhead.min: 192m
taskmanager.memory.jvm-overhead.max: 192m
heartbeat.timeout: 8000
heartbeat.interval: 2000
restart-strategy.type: fixed-delay
restart-strategy.fixed-delay.attempts: 1000
restart-strategy.fixed-delay.delay: 2 s
state.backend.type: hashmap
state.checkpoints.dir: file://$folder/checkpoints
state.savepoints.dir: file://$folder/savepoints
io.tmp.dirs: $folder/tmp
YAML
mv "$folder/conf/flink-conf.yaml.$$" "$folder/conf/flink-conf.yaml"
cat >"$folder/conf/log4j2.properties" <<PROPERTIES
rootLogger.level = ${LOG_LEVEL:-WARN}
rootLogger.appenderRef.console.ref = console
appender.console.name = console
appender.console.type = CONSOLE
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss,SSS} %-5p %c{1} - %m%n
logger.checkpoints.name = org.apache.flink.runtime.checkpoint
logger.checkpoints.level = INFO
PROPERTIES
case $1 in
  jobmanager) memory="-Xmx700m" main=entrypoint.StandaloneSessionClusterEntrypoint ;;
  taskmanager) memory="-Xmx1000m -XX:MaxDirectMemorySize=512m" main=taskexecutor.TaskManagerRunner ;;
  *) echo "cluster.sh: jobmanager or taskmanager, not $1" >&2; exit 2 ;;
esac
exec java $memory $OPENS -Dlog4j.configurationFile="file:$folder/conf/log4j2.properties" -cp "$jars/*" \
  "org.apache.flink.runtime.$main" --configDir "$folder/conf"

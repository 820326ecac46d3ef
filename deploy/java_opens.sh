# Sourced: OPENS, the flags by which Java 17 lets Flink's and Spark's serializers in.
OPENS="--add-exports=java.base/sun.net.util=ALL-UNNAMED --add-exports=java.rmi/sun.rmi.registry=ALL-UNNAMED"
OPENS="$OPENS --add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED"
for package in lang lang.invoke lang.reflect io net nio text time util util.concurrent util.concurrent.atomic \
  util.concurrent.locks; do
  OPENS="$OPENS --add-opens=java.base/java.$package=ALL-UNNAMED"
done
for package in sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar; do
  OPENS="$OPENS --add-opens=java.base/$package=ALL-UNNAMED"
done

"""Object stores: what newsbeam asks of a bucket, and files that are named by an address such as ``gs://bucket/x``."""

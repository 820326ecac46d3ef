"""The dataset: rows, Parquet files, staging, commit and recovery."""

"""Tables of Spark, DuckDB, lazy Polars and others that Narwhals supports: counted where their rows lie."""

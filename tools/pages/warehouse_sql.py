"""The SQL that counting a table becomes in warehouses, made by Ibis."""

import ibis

from stakes.engines.lazy.queries import QuerySource

TABLE = ibis.table({"outcome": "string", "said": "string", "risk": "float64", "site": "string"}, name="predictions")
WAREHOUSES = {"bigquery": "BigQuery", "snowflake": "Snowflake", "trino": "Trino"}

_INTRODUCTION = """\
# What a warehouse is asked

`stakes.count(table, truth="outcome", prediction="said", by="site")`, where `table` is an Ibis table, asks for nothing
but how many rows there are of each kind; the same goes for `evaluate()`. Columns get plain names (`c0` is the first
column of the table), so that names with quotes or dots in them are quoted once, by Ibis. Scores are asked for in the
same way as long as there are at most a million different ones; more are rounded down to the fixed grid of bins first,
by comparisons, sums and products alone, so that every engine rounds alike.

This page is written by `make pages`, and a test compares the two.
"""


def pages() -> dict[str, str]:
    """Return the page about warehouses."""
    decisions = QuerySource.of(TABLE, {"truth": "outcome", "prediction": "said", "by": "site"})
    query = decisions.query(["truth", "prediction", "by"]).to_native()
    parts = [_INTRODUCTION]
    for dialect, name in WAREHOUSES.items():
        parts.append(f"## Decisions by segment, in {name}\n\n```sql\n{ibis.to_sql(query, dialect=dialect)}\n```\n")
    scores = QuerySource.of(TABLE, {"truth": "outcome", "score": "risk"}).on_grid("probability")
    binned = ibis.to_sql(scores.query(["truth", "score"]).to_native(), dialect="bigquery")
    parts.append(f"## Probabilities in bins, in BigQuery\n\n```sql\n{binned}\n```\n")
    return {"warehouse_sql.md": "\n".join(parts)}

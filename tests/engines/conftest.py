"""What tests of several engines share."""

import pytest


@pytest.fixture
def pulled(monkeypatch):
    """The (rows, columns) of everything that leaves its engine."""
    import narwhals as nw  # takes long to load

    seen: list[tuple[int, int]] = []
    collect = nw.LazyFrame.collect

    def watched(frame, *arguments, **options):
        table = collect(frame, *arguments, **options)
        seen.append(table.shape)
        return table

    monkeypatch.setattr(nw.LazyFrame, "collect", watched)
    return seen

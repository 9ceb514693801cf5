"""The generated page of the HTTP benchmark, for any choice of servers."""

from __future__ import annotations

import pytest
from benchmarks import over_http


@pytest.mark.parametrize("names", [[over_http.OURS], [over_http.OURS, over_http.UNSYNCED]])
def test_the_benchmark_page_compares_the_given_servers(names: list[str]) -> None:
    servers = [server for make in (over_http.ours, over_http.ours_unsynced) if (server := make(None)).name in names]
    contest = over_http.Contest("GetItem", over_http.get, 1)
    for name in names:
        for connections in over_http.CONNECTIONS:
            contest.rates[name, connections] = [100.0, 300.0, 200.0]
    page = over_http.page(servers, [contest], dict.fromkeys(names, (0.1, 40.0)), 3)
    assert "| GetItem | 200 |" in page
    assert page.count(" is slower than no other server in this run.") == len(names)

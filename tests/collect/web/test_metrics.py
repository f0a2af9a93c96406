from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from adjudge.collect.web._health import Metrics


def test_requests_are_counted_and_timed() -> None:
    metrics = Metrics()
    for seconds in (0.003, 0.02, 0.02, 30.0):
        metrics.request("GET", "/j/{project}", 200, seconds)
    metrics.request("POST", "/login", 401, 0.1)
    metrics.count("judgments", 25)
    families = text_string_to_metric_families(metrics.render({"judgments": 4}).decode())
    found = {
        (one.name, *sorted(one.labels.values())): one.value for f in families for one in f.samples
    }
    assert found["adjudge_requests_total", "/j/{project}", "200", "GET"] == 4
    assert found["adjudge_requests_total", "/login", "401", "POST"] == 1
    for bound, number in {"0.005": 1, "0.025": 3, "10.0": 3, "+Inf": 4}.items():
        place = sorted(("/j/{project}", bound))
        assert found["adjudge_request_seconds_bucket", *place] == number
    assert found["adjudge_request_seconds_sum", "/j/{project}"] == 30.043
    assert found["adjudge_events_total", "judgments"] == 25
    assert found["adjudge_stored_judgments",] == 4
    assert found["adjudge_database_up",] == 1

from __future__ import annotations

from adjudge.collect.web._middleware import Metrics


def test_requests_are_counted_and_timed_as_prometheus_reads_them() -> None:
    metrics = Metrics()
    for seconds in (0.003, 0.02, 0.02, 30.0):
        metrics.request("GET", "/j/{project}", 200, seconds)
    metrics.request("POST", "/login", 401, 0.1)
    metrics.count("judgments", 25)
    text = metrics.text({"resident_bytes": 1.0})
    assert 'adjudge_requests_total{method="GET",route="/j/{project}",status="200"} 4' in text
    assert 'adjudge_requests_total{method="POST",route="/login",status="401"} 1' in text
    assert 'adjudge_request_seconds_bucket{route="/j/{project}",le="0.005"} 1' in text
    assert 'adjudge_request_seconds_bucket{route="/j/{project}",le="0.025"} 3' in text
    assert 'adjudge_request_seconds_bucket{route="/j/{project}",le="10.0"} 3' in text
    assert 'adjudge_request_seconds_bucket{route="/j/{project}",le="+Inf"} 4' in text
    assert 'adjudge_request_seconds_sum{route="/j/{project}"} 30.043000' in text
    assert 'adjudge_request_seconds_count{route="/j/{project}"} 4' in text
    assert 'adjudge_request_seconds_bucket{route="/login",le="0.1"} 1' in text
    assert 'adjudge_events_total{event="judgments"} 25' in text
    assert "adjudge_resident_bytes 1\n" in text

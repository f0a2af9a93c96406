"""What the server counts about itself, as Prometheus reads it."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import defaultdict

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds


class Metrics:
    """Counts and times of requests in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: dict[tuple[str, str, int], int] = defaultdict(int)
        self._times: dict[str, list[float]] = {}  # route: a count for each bucket, then the sum
        self._events: dict[str, int] = defaultdict(int)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        with self._lock:
            self._requests[method, route, status] += 1
            row = self._times.setdefault(route, [0.0] * (len(_BUCKETS) + 2))
            row[bisect_left(_BUCKETS, seconds)] += 1
            row[-1] += seconds

    def count(self, event: str, more: int = 1) -> None:
        """Count something else that happened."""
        with self._lock:
            self._events[event] += more

    def text(self, gauges: dict[str, float]) -> str:
        """All of it in the text format of Prometheus, with gauges read just now."""
        with self._lock:
            requests, events = dict(self._requests), dict(self._events)
            times = {route: list(row) for route, row in self._times.items()}
        lines = ["# TYPE adjudge_requests_total counter"]
        for (method, route, status), number in sorted(requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            lines.append(f"adjudge_requests_total{{{labels}}} {number}")
        lines.append("# TYPE adjudge_request_seconds histogram")
        for route, row in sorted(times.items()):
            below = 0.0
            for bound, count in zip((*_BUCKETS, "+Inf"), row, strict=False):
                below += count
                labels = f'route="{route}",le="{bound}"'
                lines.append(f"adjudge_request_seconds_bucket{{{labels}}} {below:.0f}")
            lines.append(f'adjudge_request_seconds_sum{{route="{route}"}} {row[-1]:.6f}')
            lines.append(f'adjudge_request_seconds_count{{route="{route}"}} {below:.0f}')
        lines.append("# TYPE adjudge_events_total counter")
        lines += [
            f'adjudge_events_total{{event="{name}"}} {number}'
            for name, number in sorted(events.items())
        ]
        for name, value in gauges.items():
            lines += [f"# TYPE adjudge_{name} gauge", f"adjudge_{name} {value:g}"]
        return "\n".join(lines) + "\n"

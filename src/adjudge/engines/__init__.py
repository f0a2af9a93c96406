"""Where a sweep over the judgments runs: threads of this process, or a cluster."""

"""What judges and requesters can do, one transaction a call."""

"""Collecting judgments: the live system, from policy and routing to the web pages."""

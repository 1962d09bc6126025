"""Races against peers; run from a clone with the extra `.[bench]` installed."""

"""Schedules: sessions that go by several paths at once."""

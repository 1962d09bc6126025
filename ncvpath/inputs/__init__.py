"""The door's own room: what users pass becomes clean, or is refused by name."""

"""The planner: what sessions hold as they step, and how many of them a device has room for."""

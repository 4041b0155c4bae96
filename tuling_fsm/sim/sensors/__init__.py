"""What the planner is told of the simulated world, and how it is spoilt."""

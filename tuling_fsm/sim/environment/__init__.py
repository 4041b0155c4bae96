"""What surrounds the agents: weather, traffic lights, the route server."""

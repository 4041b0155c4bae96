"""What one tick sees: the frozen World, and the builder that makes it from the inputs."""

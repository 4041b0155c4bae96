"""What is around, as kernels read it: static and moving obstacles, and when they occupy a path."""

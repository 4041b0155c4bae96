"""Scripted actors, and all agents of a frame as tables."""

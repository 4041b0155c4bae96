"""Motions off the lanes, driven section by section: free-space maneuvers and pulling over."""

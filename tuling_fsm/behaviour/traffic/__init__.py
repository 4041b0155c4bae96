"""The rules of the road: lights and lines, right of way, pedestrians, safe starts."""
